#include "collector/core/emit.h"

#include "collector/core/attach.h"
#include "tests/core/spool_dump.h"
#include "tests/support/in_child.h"
#include "tests/support/spool_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace sonde::core {
namespace {

using testing::ElementsAre;
using wire::Probe;
using wire::SliceKind;

std::uint32_t begin(const char* name) {
  return beginScope(SliceKind::Operation, intern(name), Probe::Annotation);
}

TEST(Emit, DoesNothingWithoutASession) {
  EXPECT_EQ(intern("name"), 0U);
  EXPECT_EQ(begin("name"), 0U);
  EXPECT_FALSE(enabled(Probe::Annotation));
  endScope(1);
  emitScalar(1, 1.0);
}

TEST(Emit, WritesScopesInOrder) {
  const auto dumps = record([] {
    const std::uint32_t outer = begin("outer");
    const std::uint32_t inner = begin("inner");
    emitScalar(intern("loss"), 0.5);
    endScope(inner);
    endScope(outer);
  });
  ASSERT_EQ(dumps.size(), 1U);
  EXPECT_THAT(dumps[0].story(),
              ElementsAre("begin outer", "begin inner", "scalar loss", "end inner", "end outer"));
}

TEST(Emit, EndsByTokenWhateverIsInnermost) {
  const auto dumps = record([] {
    const std::uint32_t outer = begin("outer");
    const std::uint32_t inner = begin("inner");
    endScope(outer);
    endScope(inner);
    endScope(inner);
  });
  EXPECT_THAT(dumps.at(0).story(),
              ElementsAre("begin outer", "begin inner", "end outer", "end inner"));
  EXPECT_EQ(dumps[0].lost(wire::LossReason::Unbalanced), 1U);
}

TEST(Emit, PopsWithinItsProbeAndGroup) {
  const auto dumps = record([] {
    beginScope(SliceKind::Operation, intern("nvtx 1"), Probe::Nvtx, 1);
    beginScope(SliceKind::Operation, intern("nvtx 2"), Probe::Nvtx, 2);
    const std::uint32_t annotation = begin("annotation");
    EXPECT_EQ(openScopes(Probe::Nvtx, 1), 1U);
    EXPECT_TRUE(endInnermost(Probe::Nvtx, 1));
    EXPECT_FALSE(endInnermost(Probe::Nvtx, 1));
    endScope(annotation);
  });
  EXPECT_THAT(
      dumps.at(0).story(),
      ElementsAre(
          "begin nvtx 1", "begin nvtx 2", "begin annotation", "end nvtx 1", "end annotation"));
}

TEST(Emit, CountsScopesThatAreTooDeep) {
  const auto dumps = record([] {
    for (std::uint32_t depth = 0; depth < wire::kMaxOpenScopes + 3; ++depth)
      beginScope(SliceKind::Operation, intern("deep"), Probe::Nvtx);
    for (int depth = 0; depth < 3; ++depth)
      EXPECT_TRUE(endInnermost(Probe::Nvtx));
    EXPECT_EQ(openScopes(Probe::Nvtx), wire::kMaxOpenScopes)
        << "pops of lost pushes must not end others";
  });
  EXPECT_EQ(dumps.at(0).lost(wire::LossReason::Depth), 3U);
}

TEST(Emit, BeginsASlotWithTheScopesThatAreOpen) {
  const test::SpoolFolder folder(kRoom);
  EXPECT_TRUE(test::inChild([&] {
    EXPECT_TRUE(attach(folder.path().c_str(), nullptr));
    begin("phase");
    const std::uint32_t name = intern("value");
    for (std::uint32_t value = 0; value < wire::kSlotBytes / sizeof(wire::Scalar) + 10; ++value)
      emitScalar(name, value);
  }));
  auto reader =
      recorder::SpoolReader::open(folder.files().at(0), recorder::SpoolReader::Access::ReadOnly);
  ASSERT_TRUE(reader);
  const auto slots = reader->snapshot();
  ASSERT_EQ(slots.size(), 2U);
  EXPECT_EQ(slots[0].scopeCount, 0U);
  ASSERT_EQ(slots[1].scopeCount, 1U);
  const wire::OpenScope scope = reader->readScopes(slots[1])[0];
  EXPECT_EQ(dumpSpool(folder.files()[0]).strings[scope.name], "phase");
}

TEST(Emit, RecordsAgainWhenThereIsRoomAgain) {
  const test::SpoolFolder folder(kRoom);
  EXPECT_TRUE(test::inChild([&] {
    EXPECT_TRUE(attach(folder.path().c_str(), nullptr));
    folder.setLimit(1 << 20);  // as if other processes of the run had the rest
    const std::uint32_t name = intern("value");
    std::vector<std::thread> threads;
    const auto starve = [&] {
      const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
      while (std::chrono::steady_clock::now() < until)
        emitScalar(name, 1);
    };
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back(starve);
    for (std::thread& thread : threads)
      thread.join();
    folder.setLimit(kRoom);
    ::usleep(20'000);
    for (std::uint32_t mark = 0; mark < 2 * wire::kSlotBytes / sizeof(wire::Mark); ++mark)
      emitMark(intern("room again"), Probe::Annotation);
  }));
  const auto reader =
      recorder::SpoolReader::open(folder.files().at(0), recorder::SpoolReader::Access::ReadOnly);
  EXPECT_EQ(reader->allocatedBytes(), 2U << 20);
  EXPECT_EQ(dumpSpool(folder.files()[0]).story().back(), "mark room again");
}

TEST(Emit, APopOfALostPushEndsNothingElse) {
  const auto dumps = record([] {
    beginScope(SliceKind::Operation, intern("kept"), Probe::Nvtx, 1);
    skipScope(Probe::Nvtx, 1);
    beginScope(SliceKind::Operation, intern("inner"), Probe::Nvtx, 1);
    beginScope(SliceKind::Operation, intern("other domain"), Probe::Nvtx, 2);
    EXPECT_TRUE(endInnermost(Probe::Nvtx, 2));
    EXPECT_TRUE(endInnermost(Probe::Nvtx, 1));
    EXPECT_TRUE(endInnermost(Probe::Nvtx, 1));
    EXPECT_TRUE(endInnermost(Probe::Nvtx, 1));
    EXPECT_FALSE(endInnermost(Probe::Nvtx, 1));
  });
  EXPECT_THAT(dumps.at(0).story(),
              ElementsAre("begin kept",
                          "begin inner",
                          "begin other domain",
                          "end other domain",
                          "end inner",
                          "end kept"));
}

TEST(Emit, SaysHowAThreadEndedAndWasCalled) {
  const auto dumps = record([] {
    std::thread([] {
      ::pthread_setname_np(::pthread_self(), "loader");
      begin("work");
    }).join();
  });
  ASSERT_EQ(dumps.size(), 1U);
  EXPECT_THAT(dumps[0].story(), ElementsAre("begin work", "kind 13 loader"));
  EXPECT_EQ(dumps[0].threadNames.at(dumps[0].records.back().thread), "loader");
}

TEST(Emit, KeepsErrno) {
  record([] {
    errno = 42;
    const std::uint32_t scope = begin("first use registers the thread");
    emitScalar(intern("value"), 1);
    endScope(scope);
    for (std::uint32_t value = 0; value < (3 << 20) / sizeof(wire::Scalar); ++value)
      emitScalar(1, value);
    EXPECT_EQ(errno, 42);
  });
}

TEST(Emit, StopsAtTheHostsOwnFileSizeLimit) {
  const auto dumps = record([] {
    const rlimit limit{3 << 20, 3 << 20};  // growing past it would raise SIGXFSZ
    ::setrlimit(RLIMIT_FSIZE, &limit);
    for (std::uint32_t value = 0; value < (6 << 20) / sizeof(wire::Scalar); ++value)
      emitScalar(intern("value"), value);
  });
  EXPECT_GT(dumps.at(0).lost(wire::LossReason::SpoolFull), 0U);
}

TEST(Emit, AnExchangeThatFindsNoRoomLosesTwoMessages) {
  constexpr std::uint64_t kExchanges = 2 * (2 << 20) / sizeof(wire::Message);
  const auto dumps = record(
      [] {
        for (std::uint64_t at = 0; at < kExchanges; ++at)
          emitMessages({}, {});
      },
      2 << 20);
  const auto written = static_cast<std::uint64_t>(
      std::count_if(dumps.at(0).records.begin(), dumps[0].records.end(), [](const auto& entry) {
        return entry.header.kind == wire::RecordKind::Message;
      }));
  EXPECT_GT(written, 0U);
  EXPECT_EQ(written + dumps[0].lost(wire::LossReason::SpoolFull), 2 * kExchanges);
}

TEST(Emit, ATensorHasNoMoreBucketsThanARecordHolds) {
  const auto dumps = record([] {
    std::vector<std::uint64_t> buckets(wire::kMaxTensorBuckets + 10);
    std::iota(buckets.begin(), buckets.end(), 1);
    for (const std::uint32_t count : {2U, wire::kMaxTensorBuckets, wire::kMaxTensorBuckets + 10})
      EXPECT_TRUE(emitTensor({}, buckets.data(), count));
  });
  std::vector<std::uint32_t> counts;
  for (const DumpedRecord& entry : dumps.at(0).records) {
    if (entry.header.kind != wire::RecordKind::TensorStatistics)
      continue;
    counts.push_back(entry.as<wire::TensorStatistics>().bucketCount);
    EXPECT_EQ(entry.bytes.size(), sizeof(wire::TensorStatistics) + counts.back() * 8);
  }
  EXPECT_THAT(counts, ElementsAre(2, wire::kMaxTensorBuckets, wire::kMaxTensorBuckets));
}

TEST(Emit, GivesTheSameTextTheSameIdOnEveryThread) {
  const auto dumps = record([] {
    std::vector<std::vector<std::uint32_t>> ids(4);
    std::vector<std::thread> threads;
    for (auto& mine : ids) {
      threads.emplace_back([&mine] {
        for (int name = 0; name < 5000; ++name)
          mine.push_back(intern(std::to_string(name).c_str()));
      });
    }
    for (std::thread& thread : threads)
      thread.join();
    for (const auto& other : ids)
      EXPECT_EQ(other, ids[0]);
    EXPECT_EQ(intern(""), 0U);
  });
  EXPECT_GE(dumps.at(0).strings.size(), 5000U);
}

TEST(Emit, CountsNamesPastTheTable) {
  constexpr int kNames = 60'000;
  const auto dumps = record([] {
    for (int name = 0; name < 2 * kNames; ++name)
      intern(std::to_string(name % kNames).c_str());
    for (int times = 0; times < 3; ++times) {
      begin(std::to_string(kNames - 1).c_str());
      begin("1");  // known names stay known
    }
  });
  const SpoolDump& dump = dumps.at(0);
  EXPECT_THAT(dump.story(),
              ElementsAre("begin (name lost)",
                          "begin 1",
                          "begin (name lost)",
                          "begin 1",
                          "begin (name lost)",
                          "begin 1"));
  std::uint64_t kept = 0;
  for (const auto& [id, text] : dump.strings)
    kept += text.find_first_not_of("0123456789") == std::string::npos ? 1U : 0U;
  const auto lost = static_cast<double>(dump.lost(wire::LossReason::Names));
  EXPECT_NEAR(lost, static_cast<double>(kNames - kept), 0.01 * kNames) << "names, not records";
}

TEST(Emit, CountsTextsPastTheirBytes) {
  constexpr std::size_t kLength = 16'000;
  const auto dumps = record([] {
    const auto text = [](int number) {
      return std::string(kLength - 8, 'x') + std::to_string(10'000'000 + number);
    };
    for (int number = 0; number < 1000; ++number)
      intern(text(number).c_str());
    EXPECT_EQ(intern(text(999).c_str()), intern("(name lost)"));
    EXPECT_NE(intern(text(0).c_str()), 0U) << "texts that are in stay in";
    EXPECT_NE(intern("short"), 0U) << "there is room for a short one";
  });
  std::size_t bytes = 0;
  for (const auto& [id, text] : dumps.at(0).strings)
    bytes += text.size();
  EXPECT_LE(bytes, 8U << 20);
  EXPECT_GT(bytes, (8U << 20) - 2 * kLength);
  EXPECT_EQ(dumps[0].lost(wire::LossReason::Names), 1000 - bytes / kLength);
}

TEST(Emit, RecordsNothingWhenTurnedOff) {
  const test::SpoolFolder folder(kRoom);
  EXPECT_TRUE(test::inChild([&] {
    EXPECT_TRUE(attach(folder.path().c_str(), nullptr));
    auto recorder =
        recorder::SpoolReader::open(folder.files().at(0), recorder::SpoolReader::Access::ReadWrite);
    begin("before");
    recorder->setRecording(wire::RecordingState::Off);
    EXPECT_FALSE(enabled(Probe::Annotation));
    EXPECT_EQ(begin("while off"), 0U);
  }));
  EXPECT_THAT(dumpSpool(folder.files().at(0)).story(), ElementsAre("begin before"));
}

}  // namespace
}  // namespace sonde::core
