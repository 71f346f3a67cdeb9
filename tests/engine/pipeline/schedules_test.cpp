#include "analysis/engine/pipeline/schedules.h"

#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace sonde::engine::pipeline {
namespace {

using test::must;

// Runs the orders with forwards of one unit and backwards of two, for each part of the model.
// Returns when the last stage has ended; -1 if the stages wait for each other for ever.
std::int64_t lengthOf(const std::vector<Order>& orders, const Shape& shape) {
  using Key = std::tuple<bool, std::int64_t, std::int64_t, std::int64_t>;  // part, then microbatch
  std::map<Key, std::int64_t> ends;
  std::vector<std::size_t> next(orders.size(), 0);
  std::vector<std::int64_t> free(orders.size(), 0);
  const std::int64_t parts = shape.stages * shape.chunks;
  for (bool goesOn = true; goesOn;) {
    goesOn = false;
    for (std::size_t stage = 0; stage < orders.size(); ++stage)
      while (next[stage] < orders[stage].size()) {
        const Turn& turn = orders[stage][next[stage]];
        const std::int64_t part = turn.chunk * shape.stages + static_cast<std::int64_t>(stage);
        std::int64_t ready = free[stage];
        const bool isFirst = turn.isForward && part == 0;
        const bool isTurn = !turn.isForward && part == parts - 1;  // from forward to backward
        if (!isFirst) {
          const auto needed = ends.find({turn.isForward || isTurn,
                                         turn.iteration,
                                         isTurn ? part : part + (turn.isForward ? -1 : 1),
                                         turn.microbatch});
          if (needed == ends.end())
            break;
          ready = std::max(ready, needed->second);
        }
        free[stage] = ready + (turn.isForward ? 1 : 2);
        ends[{turn.isForward, turn.iteration, part, turn.microbatch}] = free[stage];
        ++next[stage];
        goesOn = true;
      }
  }
  for (std::size_t stage = 0; stage < orders.size(); ++stage)
    if (next[stage] < orders[stage].size())
      return -1;
  return *std::max_element(free.begin(), free.end());
}

// The stages stand still for (P − 1) / (V · M + P − 1) of the time, where all take the same.
TEST(Schedules, HaveTheBubbleOfTheClosedForm) {
  for (const std::int64_t stages : {2, 3, 4, 8})
    for (const std::int64_t factor : {1, 2, 4})
      for (const auto& [schedule, chunks] : {std::pair(Schedule::GPipe, 1),
                                             {Schedule::OneF1B, 1},
                                             {Schedule::Interleaved, 2},
                                             {Schedule::Interleaved, 3}}) {
        const Shape shape{stages, chunks, stages * factor};
        const std::int64_t units = chunks * shape.microbatches + stages - 1;
        EXPECT_EQ(lengthOf(must(ordersOf(schedule, shape)), shape), 3 * units)
            << nameOf(schedule) << ": " << stages << " stages, " << chunks << " chunks, "
            << shape.microbatches << " microbatches";
      }
}

TEST(Schedules, HaveFewerMicrobatchesThanStagesToo) {
  const Shape shape{4, 1, 2};
  for (const Schedule schedule : {Schedule::GPipe, Schedule::OneF1B})
    EXPECT_EQ(lengthOf(must(ordersOf(schedule, shape)), shape), 3 * (2 + 3));
}

// Without a flush there is one bubble for all iterations.
TEST(Schedules, FillThePipelineOnceWithoutAFlush) {
  const Shape shape{4, 1, 6};
  EXPECT_EQ(lengthOf(must(ordersOf(Schedule::Async, shape, 5)), shape), 3 * (5 * 6 + 3));
}

TEST(Schedules, HoldAsManyActivationsAsTheirPapersSay) {
  const Shape shape{4, 1, 8};
  const auto gpipe = must(ordersOf(Schedule::GPipe, shape));
  const auto oneF1B = must(ordersOf(Schedule::OneF1B, shape));
  for (std::int64_t stage = 0; stage < 4; ++stage) {
    EXPECT_EQ(mostInFlight(gpipe[static_cast<std::size_t>(stage)]), 8);
    EXPECT_EQ(mostInFlight(oneF1B[static_cast<std::size_t>(stage)]), 4 - stage);
  }
  EXPECT_EQ(mostInFlight(must(ordersOf(Schedule::OneF1B, {4, 1, 2}))[0]), 2);
  const auto interleaved = must(ordersOf(Schedule::Interleaved, {4, 3, 8}));
  for (std::int64_t stage = 0; stage < 4; ++stage)
    EXPECT_EQ(mostInFlight(interleaved[static_cast<std::size_t>(stage)]),
              2 * (3 - stage) + 2 * 4 + 1);
}

// Megatron-LM with two stages, two chunks and four microbatches.
TEST(Schedules, InterleaveChunksInGroupsOfMicrobatches) {
  const auto orders = must(ordersOf(Schedule::Interleaved, {2, 2, 4}));
  std::vector<std::int64_t> forwards;
  std::vector<std::int64_t> backwards;
  for (const Turn& turn : orders[1])
    (turn.isForward ? forwards : backwards).push_back(10 * turn.chunk + turn.microbatch);
  EXPECT_EQ(forwards, (std::vector<std::int64_t>{0, 1, 10, 11, 2, 3, 12, 13}));
  EXPECT_EQ(backwards, (std::vector<std::int64_t>{10, 11, 0, 1, 12, 13, 2, 3}));
}

TEST(Schedules, AreRefusedWhereTheyAreImpossible) {
  EXPECT_FALSE(ordersOf(Schedule::Interleaved, {4, 2, 6}));
  EXPECT_FALSE(ordersOf(Schedule::Interleaved, {4, 1, 8}));
  EXPECT_FALSE(ordersOf(Schedule::GPipe, {4, 2, 8}));
  EXPECT_FALSE(ordersOf(Schedule::OneF1B, {4, 1, 0}));
  EXPECT_EQ(scheduleNamed("1f1b"), Schedule::OneF1B);
  EXPECT_FALSE(scheduleNamed("2f2b"));
}

}  // namespace
}  // namespace sonde::engine::pipeline
