#include "analysis/ingest/spool/thread_track.h"

#include <gtest/gtest.h>

namespace sonde::ingest {
namespace {

using model::SliceId;
using model::SliceKind;

// Opens a scope as the builder does.
void open(ThreadTrack& track,
          std::uint32_t token,
          std::int64_t startNs,
          SliceKind kind = SliceKind::Operation) {
  const ThreadTrack::Place place = track.innermost();
  TrackScope scope;
  scope.token = token;
  scope.slice.id = {static_cast<std::int64_t>(token)};
  scope.slice.kind = kind;
  scope.slice.startNs = startNs;
  scope.slice.parentId = place.parent;
  scope.slice.depth = place.depth;
  scope.slice.lane = place.lane;
  scope.slice.scopeId = place.scope;
  track.push(scope);
}

model::Slice call(ThreadTrack& track, std::int64_t id, std::int64_t startNs, std::int64_t endNs) {
  const ThreadTrack::Place place = track.placeCall(startNs, endNs);
  model::Slice slice;
  slice.id = {id};
  slice.kind = SliceKind::Api;
  slice.startNs = startNs;
  slice.durNs = endNs - startNs;
  slice.parentId = place.parent;
  slice.depth = place.depth;
  slice.lane = place.lane;
  slice.scopeId = place.scope;
  return slice;
}

TEST(ThreadTrack, NestsScopes) {
  ThreadTrack track;
  open(track, 1, 10);
  open(track, 2, 20, SliceKind::Python);
  open(track, 3, 30);
  EXPECT_EQ(track.open()[2].slice.parentId, SliceId{2});
  EXPECT_EQ(track.open()[2].slice.depth, 2);
  EXPECT_EQ(track.open()[2].slice.scopeId, SliceId{1});  // python slices are not scopes
  const auto ended = track.close(3, 40);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->slice.durNs, 10);
  EXPECT_FALSE(track.close(3, 50));
}

TEST(ThreadTrack, MovesWhatCrossesToALaneFurtherOut) {
  ThreadTrack track;
  open(track, 1, 10);
  open(track, 2, 20);
  open(track, 3, 30);
  open(track, 4, 40);
  const auto ended = track.close(2, 50);
  EXPECT_EQ(ended->slice.lane, 0);
  EXPECT_EQ(track.open()[1].slice.parentId, SliceId{1});
  EXPECT_EQ(track.open()[1].slice.lane, 1);
  EXPECT_EQ(track.open()[1].slice.depth, 1);
  EXPECT_EQ(track.open()[2].slice.parentId, SliceId{3});
  EXPECT_EQ(track.open()[2].slice.lane, 1);
  EXPECT_EQ(track.open()[2].slice.depth, 2);
  EXPECT_TRUE(track.open()[1].changed);
  open(track, 5, 60);
  EXPECT_EQ(track.open()[3].slice.lane, 1);  // nests in the moved scope
  EXPECT_EQ(track.open()[0].slice.lane, 0);
}

TEST(ThreadTrack, PutsACallUnderTheScopeThatWasOpenWhenItBegan) {
  ThreadTrack track;
  open(track, 1, 10);
  const model::Slice inside = call(track, 100, 20, 30);
  EXPECT_EQ(inside.parentId, SliceId{1});
  EXPECT_EQ(inside.lane, 0);
  open(track, 2, 40);
  const model::Slice across =
      call(track, 101, 35, 50);  // began before scope 2, which is still open
  EXPECT_EQ(across.parentId, SliceId{1});
  EXPECT_EQ(across.lane, 1);
  const model::Slice sameTime = call(track, 102, 36, 60);
  EXPECT_EQ(sameTime.lane, 2);  // the first lane is taken until 50
  EXPECT_EQ(call(track, 103, 38, 70).lane, 3);
}

TEST(ThreadTrack, FindsWhatACallEnclosed) {
  ThreadTrack track;
  open(track, 1, 10);
  const model::Slice first = call(track, 100, 20, 30);
  EXPECT_TRUE(track.adopt(first).empty());
  track.finished(first);
  const model::Slice second = call(track, 101, 40, 50);
  track.finished(second);
  const model::Slice outer = call(track, 102, 35, 60);
  const auto moved = track.adopt(outer);
  ASSERT_EQ(moved.size(), 1U);
  EXPECT_EQ(moved[0].id, SliceId{101});
  EXPECT_EQ(moved[0].parent, SliceId{102});
  EXPECT_EQ(moved[0].depth, 2);
  track.finished(outer);
  const auto again = track.adopt(call(track, 103, 15, 70));
  ASSERT_EQ(again.size(), 3U);
  EXPECT_EQ(again[1].id, SliceId{101});
  EXPECT_EQ(again[1].parent, SliceId{102});  // still the inner one
  EXPECT_EQ(again[1].depth, 3);
}

TEST(ThreadTrack, GivesACallThatOverlapsAnotherALaneOfItsOwn) {
  ThreadTrack track;
  track.finished(call(track, 100, 20, 30));
  const model::Slice overlapping = call(track, 101, 25, 40);
  EXPECT_EQ(overlapping.lane, 1);
  EXPECT_FALSE(overlapping.parentId);
}

TEST(ThreadTrack, NestsACallInALongerOneThatWasReportedFirst) {
  ThreadTrack track;
  track.finished(call(track, 100, 20, 60));
  const model::Slice inner = call(track, 101, 30, 40);
  EXPECT_EQ(inner.parentId, SliceId{100});
  EXPECT_EQ(inner.depth, 1);
}

TEST(ThreadTrack, KeepsRangesApart) {
  ThreadTrack track;
  open(track, 1, 5);
  EXPECT_EQ(track.placeRange(10).lane, 1);
  EXPECT_EQ(track.placeRange(20).lane, 2);
  track.freeLane(1, 30);
  EXPECT_EQ(track.placeRange(25).lane, 3);  // lane 1 is taken until 30
  EXPECT_EQ(track.placeRange(40).lane, 1);
  EXPECT_EQ(track.placeRange(41).scope, SliceId{1});
}

}  // namespace
}  // namespace sonde::ingest
