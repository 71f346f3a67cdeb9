#include "analysis/engine/hta/hta_breakdown.h"
#include "analysis/engine/hta/hta_streams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

namespace sonde::engine::hta {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Span = std::pair<std::int64_t, std::int64_t>;

Event event(std::int64_t stream,
            std::string name,
            Span time,
            std::optional<Span> call = {},
            std::string callName = "cudaLaunchKernel") {
  Event made;
  made.type = typeOf(name);
  made.name = std::move(name);
  made.stream = stream;
  std::tie(made.begin, made.end) = time;
  if (call)
    made.call = Call{std::move(callName), call->first, call->second};
  return made;
}

RankEvents rankOf(std::vector<Event> events, std::int64_t number = 0) {
  RankEvents rank;
  rank.process.rank = number;
  rank.events = std::move(events);
  return rank;
}

TEST(Hta, TemporalBreakdownIsOfTheTimeFromTheFirstEventToTheLast) {
  Event sync = event(7, "Stream Sync", {70, 80});
  sync.isSync = true;
  const RankEvents rank = rankOf({event(7, "gemm", {10, 30}),
                                  event(9, "gemm", {20, 40}),
                                  event(9, "ncclKernel_AllReduce", {35, 50}),
                                  sync});
  const Temporal time = temporalOf(rank);
  EXPECT_EQ(time.kernelTime, 70);
  EXPECT_EQ(time.idle, 20);  // waiting for a stream counts as busy
  EXPECT_EQ(time.compute, 30);
  EXPECT_EQ(time.nonCompute(), 20);
  EXPECT_DOUBLE_EQ(overlapOf(rank).value(), 5.0 / 15);
  EXPECT_FALSE(overlapOf(rankOf({event(7, "gemm", {0, 1})})).has_value());
  EXPECT_EQ(temporalOf(rankOf({})).kernelTime, 0);
}

TEST(Hta, TypesAreSummedByWhatOverlapsOverRanks) {
  const RankEvents rank = rankOf({event(1, "gemm", {0, 10}),
                                  event(2, "ncclKernel_AllReduce", {5, 20}),
                                  event(3, "Memset (Device)", {8, 9})});
  const auto rows = typeTimes({rank, rank});
  std::vector<std::pair<std::string, std::int64_t>> sums;
  for (const TypeTime& row : rows)
    sums.emplace_back(row.types, row.sum);
  EXPECT_THAT(
      sums,
      ElementsAre(std::pair("COMMUNICATION", 20),
                  std::pair("COMPUTATION", 10),
                  std::pair("COMPUTATION overlapping COMMUNICATION", 8),
                  std::pair("COMPUTATION overlapping COMMUNICATION overlapping MEMORY", 2)));
  EXPECT_DOUBLE_EQ(rows[0].share, 0.5);
}

TEST(Hta, OfMoreThanTenKernelsTheRestAreOthers) {
  std::vector<Event> events;
  for (int at = 0; at < 12; ++at)
    events.push_back(
        event(7, "kernel " + std::string(1, static_cast<char>('a' + at)), {0, 100 - at}));
  const auto rows = kernelTimes(rankOf(events));
  // The running sums end at 1,134; 0.8 of that is 841.2, between the ninth and the tenth, so nine
  // stay.
  ASSERT_THAT(rows, SizeIs(10));
  EXPECT_EQ(rows[0].name, "kernel a");
  EXPECT_EQ(rows.back().name, "others");
  EXPECT_EQ(rows.back().sum, 91 + 90 + 89);
  EXPECT_EQ(rows.back().max, 91);
  EXPECT_DOUBLE_EQ(rows.back().mean, 90);
  EXPECT_DOUBLE_EQ(rows.back().deviation, 1);
  events.resize(10);
  EXPECT_THAT(kernelTimes(rankOf(events)), SizeIs(10));
  EXPECT_EQ(kernelTimes(rankOf(events)).back().name, "kernel j");
}

TEST(Hta, AGapIsOneCausesAsAWhole) {
  const RankEvents rank = rankOf({event(7, "a", {0, 10}, Span{0, 1}),
                                  event(7, "b", {100, 110}, Span{50, 51}),  // launched in the gap
                                  event(7, "c", {139, 150}, Span{52, 53}),  // 29 µs later
                                  event(7, "d", {180, 190}, Span{54, 55}),  // 30 µs later
                                  event(7, "e", {195, 200})});              // unknown launch
  const auto rows = idleOf(rank);
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].hostWait, 90);
  EXPECT_EQ(rows[0].kernelWait, 29 + 5);
  EXPECT_EQ(rows[0].other, 30);
}

TEST(Hta, QueueLengthIsDescribedByItsValues) {
  const RankEvents rank = rankOf({event(7, "a", {10, 20}, Span{0, 1}),
                                  event(7, "b", {20, 30}, Span{5, 6}),
                                  event(7, "c", {40, 50}, Span{20, 21}),
                                  event(7, "graph", {60, 70}, Span{25, 26}, "cudaGraphLaunch")});
  const auto rows = queuesOf(rank);
  ASSERT_THAT(rows, SizeIs(1));
  // 1 at 0, 2 at 5, 1 at 10, then at 20 first up to 2, down to 1, and 0 at 40.
  EXPECT_EQ(rows[0].length.count, 6);
  EXPECT_DOUBLE_EQ(rows[0].length.mean, 7.0 / 6);
  EXPECT_DOUBLE_EQ(rows[0].length.max, 2);
  EXPECT_DOUBLE_EQ(rows[0].length.p25, 1);
  EXPECT_EQ(rows[0].fullUs, 0);
}

TEST(Hta, BandwidthIsOfRunningCopiesWithoutZeros) {
  RankEvents rank = rankOf({event(7, "Memcpy HtoD (Pinned -> Device)", {0, 10}),
                            event(9, "Memcpy HtoD (Pageable -> Device)", {5, 20}),
                            event(9, "Memset (Device)", {30, 30})});
  rank.events[0].gigabytesPerSecond = 0.1;
  rank.events[1].gigabytesPerSecond = 0.2;
  rank.events[2].gigabytesPerSecond = 0.5;  // 0 µs long: HTA takes 1
  const auto rows = memoryBandwidthOf(rank);
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].name, "Memcpy HtoD");
  EXPECT_EQ(rows[0].gigabytesPerSecond.count, 3);  // 0.1, 0.3, 0.2; the rest of 0 does not count
  EXPECT_DOUBLE_EQ(rows[0].gigabytesPerSecond.max, 0.1 + 0.2);
  EXPECT_EQ(rows[1].gigabytesPerSecond.count, 1);
  EXPECT_FALSE(rows[1].gigabytesPerSecond.deviation.has_value());
}

TEST(Hta, LaunchesAreCountedByTheirThresholds) {
  const RankEvents rank =
      rankOf({event(7, "a", {60, 65}, Span{0, 51}),
              event(7, "b", {200, 300}, Span{60, 99}),
              event(7, "c", {400, 401}, Span{399, 405}),
              event(7, "triton", {500, 501}, Span{490, 495}, "cuLaunchKernel")});
  const LaunchCounts counts = launchesOf(rank);
  EXPECT_EQ(counts.count, 3);
  EXPECT_EQ(counts.callUs, 51 + 39 + 6);
  EXPECT_EQ(counts.eventUs, 5 + 100 + 1);
  EXPECT_EQ(counts.delayUs, 9 + 101 + 0);
  EXPECT_EQ(counts.shorter, 2);
  EXPECT_EQ(counts.slowCalls, 1);
  EXPECT_EQ(counts.late, 1);
}

TEST(Hta, StragglersAreTheLatestOfTheCollectiveWhoseLengthsDifferMost) {
  for (const char* name : {"ncclKernel_AllReduce_RING_LL", "ncclDevKernel_AllReduce_Sum_f32"}) {
    std::vector<RankEvents> ranks;
    for (const std::int64_t number : {0, 1, 2, 3}) {
      const std::int64_t begin = 500 + 40 * ((number + 2) % 4);  // ranks 1 and 0 come last
      RankEvents& rank =
          ranks.emplace_back(rankOf({event(9, name, {begin, 700}, Span{10, 20}),
                                     event(9, name, {750, 752}, Span{30, 40})},  // too short
                                    number));
      rank.steps = {{5, 0, 1000, 1000}};
    }
    EXPECT_THAT(stragglersOf(ranks), ElementsAre(0, 1)) << name;
  }
  EXPECT_THAT(stragglersOf({rankOf({event(9, "ncclKernel", {0, 10}, Span{0, 1})})}), IsEmpty());
}

}  // namespace
}  // namespace sonde::engine::hta
