#include "gui/models/tracks/track_layout.h"

#include <gtest/gtest.h>

namespace sonde::gui {
namespace {

using Type = LayoutEntry::Type;

TrackInfo track(Owner owner, int process, int rows) {
  TrackInfo info;
  info.owner = owner;
  info.process = process;
  info.rows = rows;
  return info;
}

Skeleton twoProcesses(int channels) {
  Skeleton skeleton;
  skeleton.processes.resize(2);
  skeleton.processes[0].slices = 3;
  skeleton.processes[0].id = 1;
  skeleton.processes[1].id = 2;
  skeleton.tracks = {track(Owner::Thread, 0, 3), track(Owner::Thread, 0, 0)};
  for (int channel = 0; channel < channels; ++channel)
    skeleton.tracks.push_back(track(Owner::Channel, 0, 2));
  skeleton.tracks.push_back(track(Owner::Thread, 1, 0));
  return skeleton;
}

std::vector<Type> typesOf(const TrackLayout& layout) {
  std::vector<Type> types;
  for (const LayoutEntry& entry : layout.entries())
    types.push_back(entry.type);
  return types;
}

TEST(TrackLayout, HidesThreadsWithoutEventsAndCountsThem) {
  TrackLayout layout;
  layout.reset(twoProcesses(0));
  EXPECT_EQ(typesOf(layout), (std::vector{Type::Process, Type::Track, Type::Process}));
  EXPECT_EQ(layout.entries()[0].hidden, 1);
  EXPECT_FALSE(layout.quiet(0));
  EXPECT_TRUE(layout.quiet(1));
}

TEST(TrackLayout, ShowsThemWhenAsked) {
  TrackLayout layout;
  const Skeleton skeleton = twoProcesses(0);
  layout.reset(skeleton);
  layout.showEmpty(skeleton, true);
  EXPECT_EQ(typesOf(layout),
            (std::vector{Type::Process, Type::Track, Type::Track, Type::Process, Type::Track}));
}

TEST(TrackLayout, FoldsManyChannelsAndRevealsOne) {
  TrackLayout layout;
  const Skeleton skeleton = twoProcesses(20);
  layout.reset(skeleton);
  EXPECT_EQ(typesOf(layout),
            (std::vector{Type::Process, Type::Track, Type::Channels, Type::Process}));
  EXPECT_EQ(layout.entries()[2].count, 20);
  EXPECT_EQ(layout.find(5), nullptr);
  layout.reveal(skeleton, 5);
  ASSERT_NE(layout.find(5), nullptr);
  EXPECT_EQ(layout.find(5)->track, 5);
}

TEST(TrackLayout, NetworkChannelsStandBesideTheThreads) {
  Skeleton skeleton = twoProcesses(20);
  skeleton.tracks[2].network = true;
  TrackLayout layout;
  layout.reset(skeleton);
  EXPECT_EQ(typesOf(layout),
            (std::vector{Type::Process, Type::Track, Type::Track, Type::Channels, Type::Process}));
  EXPECT_EQ(layout.entries()[2].track, 2);
  EXPECT_EQ(layout.entries()[3].count, 19);
}

TEST(TrackLayout, ProcessesThatOnlyPassBytesOnBeginFolded) {
  Skeleton skeleton = twoProcesses(0);
  skeleton.tracks.push_back(track(Owner::Channel, 1, 1));
  TrackLayout layout;
  layout.reset(skeleton);
  EXPECT_TRUE(layout.entries().back().folded);
  EXPECT_FALSE(layout.quiet(1));
  layout.reveal(skeleton, 3);
  EXPECT_NE(layout.find(3), nullptr);
}

TEST(TrackLayout, ProcessesThatOnlyForkedAndRanProgramsBeginFolded) {
  Skeleton skeleton = twoProcesses(0);
  skeleton.tracks.back().rows = 1;
  TrackLayout layout;
  layout.reset(skeleton);
  EXPECT_FALSE(layout.entries().front().folded);
  EXPECT_TRUE(layout.entries().back().folded);
  // Bytes are more than marks, and marks more than nothing.
  skeleton.processes[0].slices = 0;
  layout.reset(skeleton);
  EXPECT_FALSE(layout.entries().front().folded);
  EXPECT_FALSE(layout.entries().back().folded);
  skeleton.tracks.insert(skeleton.tracks.begin() + 2, track(Owner::Channel, 0, 1));
  layout.reset(skeleton);
  EXPECT_FALSE(layout.entries().front().folded);
  EXPECT_TRUE(layout.entries().back().folded);
}

TEST(TrackLayout, CountersAreOneFoldedLine) {
  Skeleton skeleton = twoProcesses(0);
  TrackInfo counter = track(Owner::Counter, 0, 2);
  counter.counter = CounterInfo{"W", false, false};
  skeleton.tracks.insert(skeleton.tracks.begin() + 2, 3, counter);
  counter.counter->isOfHost = true;
  skeleton.tracks.insert(skeleton.tracks.begin() + 5, 2, counter);
  counter.process = 1;
  counter.counter->isOfHost = false;
  skeleton.tracks.push_back(counter);
  skeleton.processes[0].rank = 0;
  skeleton.processes[1].rank = 1;
  TrackLayout layout;
  layout.reset(skeleton);
  // A machine stands above its processes; counters alone make no process worth showing.
  EXPECT_EQ(
      typesOf(layout),
      (std::vector{Type::Counters, Type::Process, Type::Track, Type::Counters, Type::Process}));
  EXPECT_EQ(layout.entries()[0].count, 2);
  EXPECT_TRUE(layout.entries()[0].isOfHost);
  EXPECT_EQ(layout.entries()[1].hidden, 1);
  EXPECT_EQ(layout.entries()[3].count, 3);
  EXPECT_TRUE(layout.quiet(1));
  layout.toggle(skeleton, LayoutEntry(layout.entries()[3]));
  EXPECT_EQ(layout.entries().size(), 8U);
  EXPECT_TRUE(layout.entries()[0].folded);
  layout.toggle(skeleton, LayoutEntry(layout.entries()[3]));
  layout.reveal(skeleton, 5);
  ASSERT_NE(layout.find(5), nullptr);
  EXPECT_EQ(layout.entries().size(), 7U);
  // Another rank is shown: the machine stays.
  layout.showRank(skeleton, 1);
  EXPECT_EQ(layout.entries().front().type, Type::Counters);
  EXPECT_NE(layout.find(5), nullptr);
}

TEST(TrackLayout, EntriesFollowEachOtherWithoutGaps) {
  TrackLayout layout;
  layout.reset(twoProcesses(3));
  int y = 0;
  for (const LayoutEntry& entry : layout.entries()) {
    EXPECT_EQ(entry.y, y);
    y += entry.height;
  }
  EXPECT_EQ(layout.height(), y);
}

TEST(TrackLayout, FindsTheEntryUnderEveryPixel) {
  TrackLayout layout;
  layout.reset(twoProcesses(3));
  for (int y = 0; y < layout.height(); ++y) {
    const LayoutEntry* entry = layout.at(y);
    ASSERT_NE(entry, nullptr);
    EXPECT_TRUE(entry->y <= y && y < entry->y + entry->height);
  }
  EXPECT_EQ(layout.at(-1), nullptr);
  EXPECT_EQ(layout.at(layout.height()), nullptr);
}

TEST(TrackLayout, TogglesAProcess) {
  TrackLayout layout;
  const Skeleton skeleton = twoProcesses(0);
  layout.reset(skeleton);
  layout.toggle(skeleton, LayoutEntry(layout.entries()[0]));
  EXPECT_EQ(typesOf(layout), (std::vector{Type::Process, Type::Process}));
  EXPECT_TRUE(layout.entries()[0].folded);
  layout.toggle(skeleton, LayoutEntry(layout.entries()[0]));
  EXPECT_EQ(layout.entries().size(), 3U);
}

// Recordings that go on get processes, which may come first.
TEST(TrackLayout, ALaterStateKeepsFoldsAndTheRank) {
  TrackLayout layout;
  Skeleton skeleton = twoProcesses(20);
  skeleton.processes[0].rank = 0;
  skeleton.processes[1].rank = 1;
  layout.reset(skeleton);
  layout.toggle(skeleton, LayoutEntry(layout.entries()[2]));  // unfolds the channels
  layout.showRank(skeleton, 0);
  const auto before = typesOf(layout);
  ASSERT_GT(before.size(), 20U);
  for (TrackInfo& each : skeleton.tracks)
    ++each.process;
  const auto added = skeleton.processes.insert(skeleton.processes.begin(), ProcessInfo());
  added->id = 3;
  added->rank = 2;
  layout.extend(skeleton, {});
  EXPECT_EQ(typesOf(layout), before);
  layout.showRank(skeleton, std::nullopt);
  EXPECT_EQ(typesOf(layout).size(), before.size() + 2);
  layout.reset(skeleton);
  EXPECT_LT(typesOf(layout).size(), 20U);
}

// A recording begins with processes that do little, until one of them trains.
TEST(TrackLayout, ALaterStateFoldsProcessesWithFewerEvents) {
  TrackLayout layout;
  Skeleton skeleton = twoProcesses(0);
  skeleton.processes[0].slices = 0;
  skeleton.tracks.back().rows = 1;
  layout.reset(skeleton);
  EXPECT_EQ(typesOf(layout), (std::vector{Type::Process, Type::Track, Type::Process, Type::Track}));
  skeleton.processes[1].slices = 9;
  layout.extend(skeleton, {});
  EXPECT_EQ(typesOf(layout), (std::vector{Type::Process, Type::Process, Type::Track}));
}

TEST(TrackLayout, TenThousandThreadsAreVisitedOnlyWhereVisible) {
  Skeleton skeleton;
  skeleton.processes.resize(1);
  for (int thread = 0; thread < 10'000; ++thread)
    skeleton.tracks.push_back(track(Owner::Thread, 0, 1));
  TrackLayout layout;
  layout.reset(skeleton);
  ASSERT_EQ(layout.entries().size(), 10'001U);
  const auto visible = layout.between(100'000, 101'000);
  EXPECT_LE(visible.size(), 50U);
  EXPECT_GE(visible.size(), 40U);
}

}  // namespace
}  // namespace sonde::gui
