#include "collector/core/calibration.h"

#include "collector/core/attach.h"
#include "collector/core/emit.h"
#include "collector/wire/iteration_keys.h"
#include "tests/core/spool_dump.h"
#include "tests/support/in_child.h"
#include "tests/support/spool_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace sonde::core {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;
using wire::CalibrationRule;
using wire::Probe;
using wire::probeBit;
using wire::SliceKind;

// ---- which probes are off ----

constexpr CalibrationRule kRule{5, wire::kMaskableProbes, 42, 0, 0};

TEST(MaskedProbes, FollowFromSeedAndNumberAlone) {
  EXPECT_EQ(wire::splitMix(0, 0), 0xe220'a839'7b1d'cdafU) << "the sequence as it was published";
  for (std::uint64_t number = 0; number < 200; ++number)
    EXPECT_EQ(wire::maskedProbesOf(kRule, static_cast<std::int64_t>(number)),
              wire::maskedProbes(kRule, number / 5));
}

TEST(MaskedProbes, DifferBetweenJobs) {
  const CalibrationRule other{5, wire::kMaskableProbes, 43, 0, 0};
  int different = 0;
  for (std::uint64_t block = 0; block < 100; ++block)
    different += wire::maskedProbes(kRule, block) != wire::maskedProbes(other, block) ? 1 : 0;
  EXPECT_GT(different, 30);
}

TEST(MaskedProbes, OfEachFourBlocksTwoHaveAllOneHasNoneAndOneIsMixed) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const CalibrationRule rule{10, wire::kMaskableProbes, seed, 0, 0};
    for (std::uint64_t turn = 0; turn < 25; ++turn) {
      int all = 0;
      int none = 0;
      for (std::uint64_t block = 1 + 4 * turn; block < 5 + 4 * turn; ++block) {
        const std::uint32_t masked = wire::maskedProbes(rule, block);
        all += masked == 0 ? 1 : 0;
        none += masked == rule.maskable ? 1 : 0;
      }
      // The mixed turn may happen to equal one of the others.
      EXPECT_TRUE(all == 2 || (all == 3 && none == 1)) << seed << " " << turn;
      EXPECT_TRUE(none == 1 || (none == 2 && all == 2)) << seed << " " << turn;
    }
  }
}

TEST(MaskedProbes, AreNoneInTheFirstBlock) {
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    EXPECT_EQ(wire::maskedProbes({10, wire::kMaskableProbes, seed, 0, 0}, 0), 0U);
}

TEST(MaskedProbes, EachIsOffInHalfOfTheMixedBlocks) {
  std::map<int, int> off;
  int mixed = 0;
  for (std::uint64_t block = 1; block <= 4000; ++block) {
    const std::uint32_t masked = wire::maskedProbes(kRule, block);
    if (masked == 0 || masked == kRule.maskable)
      continue;
    ++mixed;
    for (int probe = 0; probe < static_cast<int>(Probe::Count); ++probe)
      off[probe] += static_cast<int>(masked >> probe & 1);
  }
  EXPECT_EQ(mixed, 1000);
  for (const Probe probe : {Probe::Net, Probe::Sync, Probe::Python, Probe::Cuda})
    EXPECT_NEAR(off[static_cast<int>(probe)], 500, 65) << static_cast<int>(probe);
  for (const Probe probe : {Probe::Annotation, Probe::Nvtx, Probe::Process, Probe::System})
    EXPECT_EQ(off[static_cast<int>(probe)], 0) << static_cast<int>(probe);
}

TEST(MaskedProbes, HaveNoTensorsWithoutTorch) {
  for (std::uint64_t block = 0; block < 1000; ++block) {
    const std::uint32_t masked = wire::maskedProbes(kRule, block);
    const bool hasTorch = (masked & probeBit(Probe::Torch)) == 0;
    EXPECT_TRUE(hasTorch || (masked & probeBit(Probe::Tensor)) != 0) << block;
  }
}

TEST(MaskedProbes, AreOfThoseThatTheRunWasAskedFor) {
  const CalibrationRule rule{5, probeBit(Probe::Net), 1, 0, 0};
  for (std::uint64_t block = 0; block < 100; ++block)
    EXPECT_EQ(wire::maskedProbes(rule, block) & ~probeBit(Probe::Net), 0U);
  EXPECT_EQ(wire::maskedProbesOf({0, wire::kMaskableProbes, 1, 0, 0}, 70), 0U) << "not asked for";
  EXPECT_EQ(wire::maskedProbesOf(kRule, -1), 0U);
}

// ---- the effect on a process ----

struct Ended {
  std::uint32_t mask = 0;
  std::map<Probe, std::pair<std::uint32_t, std::uint32_t>> calls;  // recorded, unrecorded
};

class Calibration : public testing::Test {
 protected:
  static constexpr std::uint32_t kBlock = 5;
  static constexpr std::uint32_t kAll = ~0U;

  // The first iteration of the first block with all probes, or without the maskable ones.
  static int first(bool withAll) {
    for (std::uint64_t block = 1;; ++block) {
      const std::uint32_t masked = wire::maskedProbes(rule(), block);
      if (masked == (withAll ? 0 : rule().maskable))
        return static_cast<int>(block * kBlock);
    }
  }
  // The first iteration of the first block with some probes.
  static int mixed() {
    for (std::uint64_t block = 1;; ++block) {
      const std::uint32_t masked = wire::maskedProbes(rule(), block);
      if (masked != 0 && masked != rule().maskable)
        return static_cast<int>(block * kBlock);
    }
  }
  static CalibrationRule rule() { return {kBlock, wire::kMaskableProbes, 7, 0, 0}; }

  SpoolDump recordOne(const std::function<void()>& body) {
    const test::SpoolFolder folder(kRoom);
    folder.setCapture(capture);
    folder.setCalibration(rule());
    EXPECT_TRUE(test::inChild([&] {
      EXPECT_TRUE(attach(folder.path().c_str(), nullptr));
      body();
    }));
    const auto files = folder.files();
    EXPECT_EQ(files.size(), 1U);
    return files.empty() ? SpoolDump{} : dumpSpool(files.front());
  }

  // The iterations that ended in full, in that order.
  static std::vector<Ended> ends(const SpoolDump& dump) {
    std::vector<Ended> found;
    for (const DumpedRecord& record : dump.records) {
      if (record.header.kind != wire::RecordKind::ScopeEnd ||
          (record.header.detail & wire::ScopeEnd::kProbes) == 0)
        continue;
      wire::IterationProbes probes{};
      const std::byte* at = record.bytes.data() + sizeof(wire::ScopeEnd);
      std::memcpy(&probes, at, sizeof probes);
      Ended& ended = found.emplace_back();
      ended.mask = probes.mask;
      EXPECT_EQ(record.header.size,
                sizeof(wire::ScopeEnd) + sizeof probes + probes.count * sizeof(wire::ProbeCalls));
      for (std::uint32_t call = 0; call < probes.count; ++call) {
        wire::ProbeCalls calls{};
        std::memcpy(&calls, at + sizeof probes + call * sizeof calls, sizeof calls);
        ended.calls[calls.probe] = {calls.recorded, calls.unrecorded};
      }
    }
    return found;
  }
  static std::vector<std::uint32_t> masks(const SpoolDump& dump) {
    std::vector<std::uint32_t> found;
    for (const Ended& ended : ends(dump))
      found.push_back(ended.mask);
    return found;
  }
  static std::uint32_t masked() { return kAll & ~wire::kMaskableProbes; }

  wire::CaptureRule capture{};
};

std::uint32_t iteration(int number, Probe probe = Probe::Annotation) {
  const std::uint32_t token = beginScope(SliceKind::Iteration, intern("iteration"), probe);
  emitArgInt({token}, intern(SONDE_ITERATION_NUMBER), number);
  return token;
}

// As a wrapper does.
void callOf(Probe probe, const char* name) {
  if (admits(probe))
    emitCall(SliceKind::Api, intern(name), probe, ticks(), ticks());
}

TEST_F(Calibration, ProbesAreOffInTheirIterationsAndOnBetweenThem) {
  const SpoolDump dump = recordOne([] {
    callOf(Probe::Net, "before");
    std::uint32_t token = iteration(first(false));
    EXPECT_FALSE(enabled(Probe::Net));
    EXPECT_FALSE(enabled(Probe::Torch));
    EXPECT_TRUE(enabled(Probe::Annotation));
    EXPECT_TRUE(enabled(Probe::Nvtx));
    callOf(Probe::Net, "masked");
    endScope(token);
    callOf(Probe::Net, "between");
    token = iteration(first(true));
    callOf(Probe::Net, "in full");
    endScope(token);
  });
  std::vector<std::string> calls;
  for (const DumpedRecord& record : dump.records)
    if (record.header.kind == wire::RecordKind::Call)
      calls.push_back(dump.strings.at(record.header.subject));
  EXPECT_THAT(calls, ElementsAre("before", "between", "in full"));
  EXPECT_THAT(masks(dump), ElementsAre(masked(), kAll));
}

TEST_F(Calibration, CallsOfAllThreadsAreCountedByProbe) {
  const SpoolDump dump = recordOne([] {
    callOf(Probe::Net, "before");
    for (const bool withAll : {true, false}) {
      const std::uint32_t token = iteration(first(withAll));
      endScope(beginScope(SliceKind::Operation, intern("operation"), Probe::Annotation));
      endScope(beginScope(SliceKind::Module, intern("module"), Probe::Torch));
      for (int call = 0; call < 3; ++call)
        callOf(Probe::Net, "read");
      std::thread([] {
        for (int call = 0; call < 4; ++call)
          callOf(Probe::Sync, "wait");
      }).join();
      endScope(token);
      callOf(Probe::Net, "after");
    }
  });
  const auto ended = ends(dump);
  ASSERT_EQ(ended.size(), 2U);
  EXPECT_THAT(ended[0].calls,
              UnorderedElementsAre(Pair(Probe::Annotation, Pair(1, 0)),
                                   Pair(Probe::Torch, Pair(1, 0)),
                                   Pair(Probe::Net, Pair(3, 0)),
                                   Pair(Probe::Sync, Pair(4, 0))));
  EXPECT_THAT(ended[1].calls,
              UnorderedElementsAre(Pair(Probe::Annotation, Pair(1, 0)),
                                   Pair(Probe::Net, Pair(0, 3)),
                                   Pair(Probe::Sync, Pair(0, 4))));
}

TEST_F(Calibration, AScopeThatWasOpenAtASwitchEnds) {
  const SpoolDump dump = recordOne([] {
    const std::uint32_t around = beginScope(SliceKind::Module, intern("around"), Probe::Torch);
    std::uint32_t token = iteration(first(true));
    const std::uint32_t across = beginScope(SliceKind::Module, intern("across"), Probe::Torch);
    endScope(token);
    token = iteration(first(false));
    endScope(across);
    EXPECT_EQ(beginScope(SliceKind::Module, intern("masked"), Probe::Torch), 0U);
    endScope(beginScope(SliceKind::Range, intern("range"), Probe::Nvtx));
    endScope(token);
    endScope(around);
  });
  EXPECT_THAT(dump.story(),
              ElementsAre("begin around",
                          "begin iteration",
                          testing::_,
                          "begin across",
                          "end iteration",
                          "begin iteration",
                          testing::_,
                          "end across",
                          "begin range",
                          "end range",
                          "end iteration",
                          "end around"));
  EXPECT_EQ(dump.lost(wire::LossReason::Unbalanced), 0U);
}

TEST_F(Calibration, IterationsAreThereWhoeverMakesThem) {
  const SpoolDump dump = recordOne([] {
    const std::uint32_t outer = iteration(first(false), Probe::Torch);
    const std::uint32_t inner = iteration(first(true), Probe::Torch);
    EXPECT_NE(inner, 0U) << "inside of one in which torch is off";
    endScope(inner);
    endScope(outer);
  });
  EXPECT_THAT(masks(dump), ElementsAre(masked(), masked()));
  EXPECT_THAT(ends(dump)[0].calls, IsEmpty()) << "the outermost alone says what there was";
}

TEST_F(Calibration, AnotherThreadsIterationSwitchesNothingWhileOneIsOpen) {
  const SpoolDump dump = recordOne([] {
    const std::uint32_t own = iteration(first(true));
    std::thread([] { endScope(iteration(first(false))); }).join();
    EXPECT_TRUE(enabled(Probe::Net));
    endScope(own);
  });
  EXPECT_THAT(masks(dump), ElementsAre(kAll, kAll));
}

TEST_F(Calibration, AnIterationAcrossSwitchesHasNoneOfTheProbesThatWereOff) {
  const SpoolDump dump = recordOne([] {
    const std::uint32_t full = iteration(first(true));
    std::atomic<int> step{0};
    const auto waitFor = [&step](int wanted) {
      while (step.load() != wanted)
        std::this_thread::yield();
    };
    std::thread other([&] {
      const std::uint32_t token = iteration(100);
      step = 1;
      waitFor(2);
      endScope(token);
    });
    waitFor(1);
    endScope(full);
    endScope(iteration(first(false)));
    step = 2;
    other.join();
  });
  EXPECT_THAT(masks(dump), ElementsAre(kAll, masked(), masked()));
}

TEST_F(Calibration, SwitchesThatAreForgottenCountAsOff) {
  const SpoolDump dump = recordOne([] {
    const std::uint64_t before = ticks();
    endScope(iteration(first(false)));
    EXPECT_EQ(probesSince(before), masked());
    EXPECT_EQ(probesSince(ticks()), kAll);
    const std::uint64_t after = ticks();
    for (int round = 0; round < 1000; ++round)
      endScope(iteration(mixed()));
    EXPECT_EQ(probesSince(before), masked());
    EXPECT_EQ(probesSince(after), masked()) << "they were not off, but who knows";
  });
  EXPECT_EQ(masks(dump).size(), 1001U);
}

TEST_F(Calibration, ANumberThatTheProgramGivesDecides) {
  const SpoolDump dump = recordOne([] {
    endScope(iteration(first(true)));
    std::uint32_t token = beginScope(SliceKind::Iteration, intern("iteration"), Probe::Annotation);
    emitArgInt({token}, intern(SONDE_ITERATION_NUMBER), first(false));
    EXPECT_FALSE(enabled(Probe::Net));
    endScope(token);
  });
  EXPECT_THAT(masks(dump), ElementsAre(kAll, masked()));
}

TEST_F(Calibration, OfAnIterationInOutlineNothingIsMasked) {
  capture.kind = wire::CaptureRule::Kind::Iterations;
  capture.first = capture.last = first(true);
  const SpoolDump dump = recordOne([] {
    std::uint32_t token = iteration(first(false));
    EXPECT_TRUE(enabled(Probe::Torch)) << "who finds iterations goes on";
    EXPECT_FALSE(enabled(Probe::Net));
    callOf(Probe::Net, "read");
    endScope(token);
    token = iteration(first(true));
    EXPECT_TRUE(enabled(Probe::Net));
    endScope(token);
  });
  const auto ended = ends(dump);
  ASSERT_EQ(ended.size(), 1U) << "in full";
  EXPECT_EQ(ended[0].mask, kAll);
}

TEST_F(Calibration, AChildBeginsWithAllProbes) {
  const test::SpoolFolder folder(kRoom);
  folder.setCalibration(rule());
  EXPECT_TRUE(test::inChild([&] {
    EXPECT_TRUE(attach(folder.path().c_str(), nullptr));
    iteration(first(false));
    EXPECT_FALSE(enabled(Probe::Net));
    EXPECT_TRUE(test::inChild([] {
      emitMark(intern("here"), Probe::Annotation);
      EXPECT_TRUE(enabled(Probe::Net));
      EXPECT_EQ(probesSince(ticks()), kAll) << "its parent's switches are not its own";
      endScope(iteration(first(false)));
      EXPECT_TRUE(enabled(Probe::Net));
    }));
  }));
}

}  // namespace
}  // namespace sonde::core
