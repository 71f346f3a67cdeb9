#include "analysis/engine/metrics/stream_comparison.h"

#include "analysis/engine/intervals/intervals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>
#include <vector>

namespace sonde::engine::metrics {
namespace {

struct Move {
  std::int64_t offset;
  std::int64_t bytes;
  bool sent;
};

StreamComparison::Result compare(std::vector<Move> moves, bool cut) {
  std::sort(
      moves.begin(), moves.end(), [](const Move& a, const Move& b) { return a.offset < b.offset; });
  StreamComparison comparison(cut);
  for (const Move& move : moves)
    comparison.add(move.sent, move.offset, move.bytes);
  return comparison.finish();
}

// The bytes of one side, and the number of duplicates.
struct Had {
  Intervals once;
  std::int64_t bytes = 0;
};

Had hadBy(const std::vector<Move>& moves, bool sent) {
  Had had;
  for (const Move& move : moves)
    if (move.sent == sent) {
      had.once.push_back({move.offset, move.offset + move.bytes});
      had.bytes += move.bytes;
    }
  had.once = normalise(had.once);
  return had;
}

// The part of `all` between the first and the last of `bounds`.
Intervals within(const Intervals& all, const Intervals& bounds) {
  if (bounds.empty())
    return {};
  return intersect(all, {{bounds.front().begin, bounds.back().end}});
}

TEST(StreamComparison, AgreesWithAnOracleThatHoldsAllIntervals) {
  std::mt19937 random(7);
  const auto number = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  for (int round = 0; round < 20000; ++round) {
    std::vector<Move> moves(static_cast<std::size_t>(number(0, 8)));
    for (Move& move : moves)
      move = {number(0, 30), number(0, 12), number(0, 1) == 1};
    const Had sent = hadBy(moves, true);
    const Had received = hadBy(moves, false);
    const bool twice =
        totalLength(sent.once) != sent.bytes || totalLength(received.once) != received.bytes;
    for (const bool cut : {false, true}) {
      const Intervals missing =
          subtract(cut ? within(sent.once, received.once) : sent.once, received.once);
      const Intervals unsent =
          subtract(cut ? within(received.once, sent.once) : received.once, sent.once);
      const StreamComparison::Result result = compare(moves, cut);
      ASSERT_EQ(result.sentBytes, sent.bytes) << "round " << round;
      ASSERT_EQ(result.missingBytes, totalLength(missing)) << "round " << round << cut;
      ASSERT_EQ(result.unsentBytes, totalLength(unsent)) << "round " << round << cut;
      ASSERT_EQ(result.agrees, !twice && missing.empty() && unsent.empty()) << "round " << round;
    }
  }
}

TEST(StreamComparison, AgreesOnOneWriteThatIsReadInPieces) {
  EXPECT_TRUE(compare({{0, 100, true}, {0, 30, false}, {30, 70, false}}, false).agrees);
  EXPECT_FALSE(compare({{0, 100, true}, {0, 30, false}, {30, 69, false}}, false).agrees);
  EXPECT_FALSE(compare({{0, 100, true}, {0, 31, false}, {30, 70, false}}, false).agrees);
  EXPECT_TRUE(compare({{0, 100, true}, {0, 30, false}, {30, 69, false}}, true).agrees);
  EXPECT_FALSE(compare({{0, 100, true}, {0, 30, false}, {31, 69, false}}, true).agrees);
}

}  // namespace
}  // namespace sonde::engine::metrics
