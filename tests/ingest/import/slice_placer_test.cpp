#include "analysis/ingest/import/slice_placer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

namespace sonde::ingest {
namespace {

using Span = SlicePlacer::Span;
using Place = SlicePlacer::Place;

TEST(SlicePlacer, NestsWhatLiesInsideEachOther) {
  SlicePlacer placer;
  placer.place({1, 0, 100, true});
  const Place inner = placer.place({2, 10, 50, false});
  EXPECT_EQ(std::tie(inner.parent, inner.depth, inner.lane, inner.scope),
            std::make_tuple(1, 1, 0, 1));
  const Place innermost = placer.place({3, 10, 50, true});
  EXPECT_EQ(std::tie(innermost.parent, innermost.depth, innermost.scope), std::make_tuple(2, 2, 1));
  const Place next = placer.place({4, 50, 60, false});
  EXPECT_EQ(std::tie(next.parent, next.depth, next.scope), std::make_tuple(1, 1, 1));
  const Place after = placer.place({5, 100, 110, false});
  EXPECT_EQ(std::tie(after.parent, after.depth, after.scope), std::make_tuple(0, 0, 0));
}

TEST(SlicePlacer, GivesWhatOverlapsALaneUnderTheSameParent) {
  SlicePlacer placer;
  placer.place({1, 0, 100, true});
  placer.place({2, 10, 50, false});
  const Place over = placer.place({3, 40, 70, false});
  EXPECT_EQ(std::tie(over.parent, over.depth, over.lane, over.scope), std::make_tuple(1, 1, 1, 1));
  const Place inOver = placer.place({4, 55, 60, false});
  EXPECT_EQ(std::tie(inOver.parent, inOver.depth, inOver.lane), std::make_tuple(3, 2, 1));
  const Place after = placer.place({5, 80, 90, false});
  EXPECT_EQ(std::tie(after.parent, after.depth, after.lane), std::make_tuple(1, 1, 0));
}

TEST(SlicePlacer, ARangeHoldsNothingAndKeepsOffTheFirstLane) {
  SlicePlacer placer;
  const Place range = placer.place({1, 0, 100, false, true});
  EXPECT_EQ(std::tie(range.parent, range.depth, range.lane, range.scope),
            std::make_tuple(0, 0, 1, 0));
  const Place operation = placer.place({2, 50, 150, true});
  EXPECT_EQ(std::tie(operation.parent, operation.depth, operation.lane), std::make_tuple(0, 0, 0));
  const Place call = placer.place({3, 60, 70, false});
  EXPECT_EQ(std::tie(call.parent, call.depth, call.lane, call.scope), std::make_tuple(2, 1, 0, 2));
  const Place second = placer.place({4, 65, 200, false, true});
  EXPECT_EQ(std::tie(second.parent, second.lane, second.scope), std::make_tuple(0, 2, 2));
  EXPECT_EQ(placer.place({5, 100, 120, false, true}).lane, 1);  // the first has ended
}

// Takes a moment; it would take an hour if each span were compared with all open ones.
TEST(SlicePlacer, AStaircaseOfSpansIsNotQuadratic) {
  SlicePlacer placer;
  constexpr std::int64_t kSteps = 300'000;
  for (std::int64_t at = 1; at <= kSteps; ++at) {
    const Place place = placer.place({at, at, at + kSteps, true});
    ASSERT_EQ(std::tie(place.parent, place.lane), std::make_tuple(0, at - 1));
  }
}

TEST(SlicePlacer, KeepsWhatDidNotEndOpen) {
  SlicePlacer placer;
  placer.place({1, 0, SlicePlacer::kOpen, true});
  EXPECT_EQ(placer.place({2, 1'000'000, 2'000'000, false}).parent, 1);
  EXPECT_EQ(placer.place({3, 3'000'000, SlicePlacer::kOpen, false}).parent, 1);
}

TEST(SlicePlacer, FindsTheInnermostSpanOfAnInstant) {
  SlicePlacer placer;
  placer.place({1, 0, 100, true});
  placer.place({2, 10, 20, true});
  EXPECT_EQ(placer.innermostAt(10), 2);
  EXPECT_EQ(placer.innermostAt(20), 2);
  EXPECT_EQ(placer.innermostAt(21), 1);
  placer.reset();
  EXPECT_EQ(placer.innermostAt(10), 0);
}

// For any input: parents contain their children, and slices of one line do not overlap.
TEST(SlicePlacer, MakesLinesWithoutOverlapOfAnything) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<Span> spans;
    for (std::int64_t id = 1; id <= 60; ++id) {
      const auto start = static_cast<std::int64_t>(random() % 100);
      spans.push_back({id, start, start + static_cast<std::int64_t>(random() % 40), true});
    }
    std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
      return std::tie(a.startNs, b.endNs, a.id) < std::tie(b.startNs, a.endNs, b.id);
    });
    SlicePlacer placer;
    std::map<std::int64_t, Span> byId;
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> lineEnds;
    for (const Span& span : spans) {
      const Place place = placer.place(span);
      if (place.parent != 0) {
        EXPECT_LE(byId.at(place.parent).startNs, span.startNs);
        EXPECT_GE(byId.at(place.parent).endNs, span.endNs);
      }
      auto [end, fresh] = lineEnds.try_emplace({place.lane, place.depth}, span.endNs);
      if (!fresh) {
        EXPECT_LE(end->second, span.startNs) << "round " << round << ", span " << span.id;
      }
      end->second = span.endNs;
      byId[span.id] = span;
    }
  }
}

}  // namespace
}  // namespace sonde::ingest
