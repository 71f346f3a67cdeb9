#include "analysis/engine/iterations/iterations.h"

#include "analysis/engine/breakdown/breakdown.h"
#include "analysis/engine/diff/iteration_times.h"
#include "analysis/engine/metrics/ranks.h"
#include "analysis/model/words.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace sonde::engine::iterations {
namespace {

using test::must;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// annotation, torch and io: bits 0, 2 and 9.
constexpr std::int64_t kAll = 0b10'0000'0101;
constexpr std::int64_t kWithoutTorch = 0b10'0000'0001;
constexpr std::int64_t kAnnotation = 1;

// A trace of processes with iterations of 100 ns, one after the other, with these masks.
class Trace {
 public:
  explicit Trace(std::string_view sources) {
    if (!sources.empty())
      trace_.meta("sources", sources);
    host_ = trace_.add(model::Host{.name = "h", .bootId = "b"});
  }

  // On the first host, or on another, new one.
  model::ProcessId process(const std::vector<std::int64_t>& masks, bool isElsewhere = false) {
    const auto host = isElsewhere ? trace_.add(model::Host{.name = "other", .bootId = "c"}) : host_;
    const auto id =
        trace_.add(model::Process{.hostId = host, .pid = ++pid_, .command = "train", .startNs = 0});
    const auto main = trace_.add(model::Thread{.processId = id, .tid = pid_});
    for (std::size_t at = 0; at < masks.size(); ++at) {
      const std::int64_t begin = static_cast<std::int64_t>(at) * 100;
      const auto slice =
          trace_.slice(main, model::SliceKind::Iteration, "it", {begin, begin + 100});
      trace_.add(model::Iteration{.processId = id,
                                  .number = static_cast<std::int64_t>(at),
                                  .startNs = begin,
                                  .durNs = 100,
                                  .probeMask = masks[at],
                                  .sliceId = slice});
    }
    return id;
  }
  void calibrates() { trace_.meta("calibrate", "10"); }
  // The first host's recorder stores from the begin of one iteration to the begin of another, plus
  // `moreNs`.
  void stores(std::int64_t first, std::int64_t last, std::int64_t moreNs = 0) {
    must(trace_.writer().database().exec(
        fmt::format("INSERT INTO storing(host_id, start_ns, dur_ns) VALUES({}, {}, {})",
                    host_.value,
                    100 * first,
                    100 * (last - first) + moreNs)));
  }
  store::Database open() {
    trace_.finish();
    return must(store::openTrace(path_));
  }

 private:
  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "t.sonde";
  test::TraceBuilder trace_{path_};
  model::HostId host_;
  std::int64_t pid_ = 0;
};

// The numbers of the masked ones, in a trace with one process.
// A copy with default values if there is none with this id.
Iteration find(const Iterations& iterations, std::int64_t id) {
  for (const Iteration& each : iterations.all())
    if (each.id == id)
      return each;
  ADD_FAILURE() << "no iteration " << id;
  return {};
}

std::vector<std::int64_t> numbersOf(const store::Database& trace, const Iterations& masked) {
  std::vector<std::int64_t> numbers;
  auto rows = must(trace.prepare("SELECT id, number FROM iteration ORDER BY number"));
  while (must(rows.step()))
    if (find(masked, rows.integer(0)).isMasked)
      numbers.push_back(rows.integer(1));
  return numbers;
}

std::vector<std::int64_t> maskedOf(std::string_view sources,
                                   const std::vector<std::int64_t>& masks) {
  Trace made(sources);
  made.process(masks);
  const auto trace = made.open();
  return numbersOf(trace, must(Iterations::read(trace)));
}

TEST(MaskedIterations, AreThoseWithoutAProbeAndTheFirstAfterThem) {
  const std::vector<std::int64_t> masks = {
      kAll, kWithoutTorch, kWithoutTorch, kAll, kAll, kAnnotation, kWithoutTorch, kAll, kAll};
  for (const char* const sources : {"annotation,torch,io", ""})
    EXPECT_THAT(maskedOf(sources, masks), ElementsAre(1, 2, 3, 5, 6, 7)) << sources;
}

TEST(MaskedIterations, AfterAnOutlineNothingWasSwitched) {
  EXPECT_THAT(maskedOf("annotation,torch,io", {kAll, 0, 0, kAll, kAll}), ElementsAre(1, 2));
}

TEST(MaskedIterations, AreNoneOfATraceThatSaysNothingOfProbes) {
  EXPECT_THAT(maskedOf("", {0, 0, 0}), IsEmpty());
  EXPECT_THAT(maskedOf("", {}), IsEmpty());
}

TEST(MaskedIterations, GoByTheProcessWhereNothingElseSaysWhatItWasAskedFor) {
  for (const char* const sources : {"", "annotation and annotation,io", "net", "no probe"}) {
    Trace made(sources);
    const auto full = made.process({kAll, kAll});
    const auto part = made.process({kWithoutTorch, kWithoutTorch});
    const auto several = made.process({0b1000'0001, 0b111});
    const auto trace = made.open();
    const auto masked = must(Iterations::read(trace));
    EXPECT_EQ(masked.fullMaskOf(full.value), kAll);
    EXPECT_EQ(masked.fullMaskOf(part.value), kWithoutTorch);
    EXPECT_EQ(masked.fullMaskOf(several.value), 0b1000'0111) << "not the largest number";
    EXPECT_EQ(masked.fullMaskOf(99), 0);
    EXPECT_THAT(numbersOf(trace, masked), ElementsAre(0, 1)) << "those of `several`";
  }
}

TEST(MaskedIterations, GoByWhatTheRunWasAskedForAndNotByWhatIsThere) {
  Trace made("annotation,torch,io");
  const std::int64_t plugin = model::probeBit("plugin");
  const auto part = made.process({kWithoutTorch, kWithoutTorch});
  const auto more = made.process({kAll | plugin, kAll});
  const auto trace = made.open();
  const auto masked = must(Iterations::read(trace));
  EXPECT_EQ(masked.fullMaskOf(part.value), kAll);
  EXPECT_EQ(masked.fullMaskOf(more.value), kAll | plugin);
  EXPECT_THAT(numbersOf(trace, masked), ElementsAre(0, 1, 1));
}

// Blocks of ten, alternately with all probes and without some.
std::vector<std::int64_t> blocksOfTen(std::size_t blocks) {
  std::vector<std::int64_t> masks;
  for (std::size_t block = 0; block < blocks; ++block)
    masks.insert(masks.end(), 10, block % 2 == 0 ? kAll : kWithoutTorch);
  return masks;
}

TEST(MaskedIterations, OfACalibratedRunAreThoseDuringWhichTheRecorderStored) {
  Trace made("annotation,torch,io");
  made.calibrates();
  made.process(blocksOfTen(20));
  made.stores(3, 5);        // it ends where 5 begins
  made.stores(44, 45, 1);   // into 45
  made.stores(12, 14);      // probes were off
  made.stores(13, 15);      // overlaps it: by another rank's recorder
  made.stores(1000, 2000);  // the job is over
  made.stores(7, 7);
  const auto trace = made.open();
  const auto masked = must(Iterations::read(trace));
  Trace other("annotation,torch,io");
  other.process(blocksOfTen(20));
  const auto undisturbed = other.open();
  auto expected = numbersOf(undisturbed, must(Iterations::read(undisturbed)));
  expected.insert(expected.end(), {3, 4, 44, 45});
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(numbersOf(trace, masked), expected);
  std::vector<std::int64_t> disturbed;
  for (std::int64_t id = 1; id <= 200; ++id)
    if (find(masked, id).isDisturbed)
      disturbed.push_back(id - 1);
  EXPECT_THAT(disturbed, ElementsAre(3, 4, 12, 13, 14, 44, 45));
  EXPECT_EQ(masked.fullMaskOf(1), kAll);
}

TEST(MaskedIterations, OfACalibratedRunAreThoseThatAnyOfRandomStretchesOverlaps) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    Trace made("annotation,torch,io");
    made.calibrates();
    made.process(blocksOfTen(40));
    std::set<std::int64_t> expected;  // ids
    for (int stretch = 0; stretch < 12; ++stretch) {
      const std::int64_t first = static_cast<std::int64_t>(random() % 400);
      const std::int64_t length = static_cast<std::int64_t>(random() % 8);
      const std::int64_t more = static_cast<std::int64_t>(random() % 3);  // ns
      made.stores(first, first + length, more);
      for (std::int64_t at = first; at < 400 && 100 * at < 100 * (first + length) + more; ++at)
        expected.insert(at + 1);
    }
    const auto trace = made.open();
    const auto masked = must(Iterations::read(trace));
    for (std::int64_t id = 1; id <= 400; ++id)
      EXPECT_EQ(find(masked, id).isDisturbed, expected.contains(id))
          << "round " << round << ", " << id;
  }
}

TEST(MaskedIterations, WhatIsNoTimeOfStoringDisturbsNothing) {
  Trace made("annotation,torch,io");
  made.calibrates();
  made.process(blocksOfTen(20));
  made.stores(INT64_MAX / 100, INT64_MAX / 100 - 1);
  made.stores(5, 3);
  made.stores(6, 6, INT64_MAX);
  made.stores(INT64_MIN / 100, INT64_MIN / 100, INT64_MAX);  // ends after 0
  const auto trace = made.open();
  const auto masked = must(Iterations::read(trace));
  for (const std::int64_t id : {1, 4, 7})
    EXPECT_FALSE(find(masked, id).isDisturbed);
}

TEST(MaskedIterations, ARecorderDisturbsItsOwnHostAlone) {
  Trace made("annotation,torch,io");
  made.calibrates();
  made.process(blocksOfTen(20));
  made.process(blocksOfTen(20), true);
  made.process(blocksOfTen(20));
  made.stores(3, 5);
  const auto trace = made.open();
  const auto masked = must(Iterations::read(trace));
  for (const std::int64_t number : {3, 4}) {
    EXPECT_TRUE(find(masked, number + 1).isMasked);
    EXPECT_FALSE(find(masked, 200 + number + 1).isMasked);
    EXPECT_TRUE(find(masked, 400 + number + 1).isMasked);
  }
}

TEST(MaskedIterations, WhatWasStoredDoesNotCountInARunThatDidNotCalibrate) {
  Trace made("annotation,torch,io");
  made.process(blocksOfTen(20));
  made.stores(3, 5);
  const auto trace = made.open();
  const auto masked = must(Iterations::read(trace));
  EXPECT_FALSE(find(masked, 4).isMasked);
  EXPECT_FALSE(find(masked, 4).isDisturbed);
}

// The number of 200 iterations that do not count if the recorder stored during all from `first` on.
std::size_t disturbedFrom(std::int64_t first, const std::vector<std::int64_t>& masks) {
  Trace made("annotation,torch,io");
  made.calibrates();
  made.process(masks);
  made.stores(first, 200);
  const auto trace = made.open();
  const auto masked = must(Iterations::read(trace));
  std::size_t count = 0;
  for (std::int64_t id = 1; id <= static_cast<std::int64_t>(masks.size()); ++id)
    count += find(masked, id).isDisturbed ? std::size_t{1} : 0;
  return count;
}

TEST(MaskedIterations, WhereTooFewWouldBeLeftWhatWasStoredDoesNotCount) {
  // The first 80 have 30 without torch in 8 blocks; with all probes there are 10 + 3 * 9.
  EXPECT_EQ(disturbedFrom(80, blocksOfTen(20)), 120U);
  EXPECT_EQ(disturbedFrom(74, blocksOfTen(20)), 126U);
  EXPECT_EQ(disturbedFrom(73, blocksOfTen(20)), 0U) << "of the eighth block three are left";
  std::vector<std::int64_t> few(200, kAll);  // blocks of 6 without torch
  for (std::size_t at = 0; at < few.size(); ++at)
    if (at % 20 < 6)
      few[at] = kWithoutTorch;
  EXPECT_EQ(disturbedFrom(86, few), 114U);
  EXPECT_EQ(disturbedFrom(85, few), 0U) << "29 without torch";
  for (std::int64_t& mask : few)  // 6 with all probes, the first of which does not count
    mask = mask == kAll ? kWithoutTorch : kAll;
  EXPECT_EQ(disturbedFrom(106, few), 94U);
  EXPECT_EQ(disturbedFrom(104, few), 0U) << "29 with all";
}

// All results cover the same iterations.
TEST(MaskedIterations, AreLeftOutOfReportDiffAndBreakdownAlike) {
  std::mt19937 random(5);
  const std::vector<std::int64_t> kinds = {0, kAnnotation, kWithoutTorch, 0b100, kAll, kAll, kAll};
  for (std::size_t round = 0; round < 40; ++round) {
    std::vector<std::int64_t> masks(12);
    for (std::int64_t& mask : masks)
      mask = kinds[random() % kinds.size()];
    masks[round % masks.size()] = kAll;  // some count
    if (round % 12 != 0)
      masks[round % masks.size() - 1] = kAll;
    Trace made(round % 2 == 0 ? "annotation,torch,io" : "");
    made.process(masks);
    const auto trace = made.open();
    std::vector<std::int64_t> expected;
    for (std::size_t at = 0; at < masks.size(); ++at) {
      const std::int64_t before = at == 0 ? kAll : masks[at - 1];
      if (masks[at] == kAll && (before == kAll || before == 0))
        expected.push_back(static_cast<std::int64_t>(at));
    }
    std::vector<std::int64_t> ofReport;
    const auto ranks = must(metrics::readRanks(trace));
    for (const metrics::IterationTime& each : ranks.at(0).iterations)
      ofReport.push_back(each.number);
    EXPECT_EQ(ofReport, expected);
    EXPECT_EQ(ranks[0].maskedCount, static_cast<std::int64_t>(masks.size() - expected.size()));
    const auto times = must(diff::readIterationTimes(trace, {}));
    std::vector<std::int64_t> ofDiff;
    for (const diff::IterationName& each : times.at(0).iterations)
      ofDiff.push_back(each.number);
    EXPECT_EQ(ofDiff, expected);
    EXPECT_EQ(times[0].partial, masks.size() - expected.size());
    std::set<std::int64_t> ofBreakdown;
    for (const auto& row : must(breakdown::breakDown(trace, {.by = {.iteration = true}})).rows)
      if (row.group.iteration)
        ofBreakdown.insert(*row.group.iteration);
    EXPECT_EQ(std::vector(ofBreakdown.begin(), ofBreakdown.end()), expected);
  }
}

}  // namespace
}  // namespace sonde::engine::iterations
