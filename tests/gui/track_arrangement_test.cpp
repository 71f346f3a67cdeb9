#include "gui/models/tracks/track_arrangement.h"

#include "gui/models/tracks/track_layout.h"

#include <gtest/gtest.h>

#include <string>

namespace sonde::gui {
namespace {

using Grouping = TrackArrangement::Grouping;
using Order = TrackArrangement::Order;
using Type = LayoutEntry::Type;

// Ranks on a machine, each with a device. By rank: a computing and a communication stream, a main
// thread, a thread "autograd_N", and a counter "power".
Skeleton ranks(int count) {
  Skeleton skeleton;
  std::int64_t id = 0;
  const auto add = [&](Owner owner, int process, const QString& name) -> TrackInfo& {
    TrackInfo track;
    track.owner = owner;
    track.id = ++id;
    track.process = process;
    track.name = name;
    track.rows = 1;
    return skeleton.tracks.emplace_back(std::move(track));
  };
  for (int rank = 0; rank < count; ++rank) {
    ProcessInfo process;
    process.id = 100 + rank;
    process.rank = rank;
    process.host = QStringLiteral("node");
    process.slices = 10 + rank % 3;
    process.startNs = 1'000 - rank;
    skeleton.processes.push_back(process);
    skeleton.devices.push_back({rank, QStringLiteral("gpu %1").arg(rank), {}});
    for (const bool communicates : {false, true}) {
      TrackInfo& stream = add(Owner::Stream, rank, QStringLiteral("stream"));
      stream.device = rank;
      stream.communicates = communicates;
    }
    add(Owner::Thread, rank, QStringLiteral("main thread"));
    add(Owner::Thread, rank, QStringLiteral("autograd_%1").arg(rank));
    TrackInfo& counter = add(Owner::Counter, rank, QStringLiteral("gpu %1 · power").arg(rank));
    counter.device = rank;
    counter.counter = CounterInfo{QStringLiteral("W"), false, false, QStringLiteral("power")};
  }
  return skeleton;
}
constexpr int kTracks = 5;  // of each rank
constexpr int kMainThread = 2;

// "node: 1 2 3", the lines from top to bottom with the tracks below them.
std::vector<std::string> linesOf(const TrackLayout& layout) {
  std::vector<std::string> lines;
  for (const LayoutEntry& entry : layout.entries()) {
    if (entry.track >= 0)
      lines.push_back(std::to_string(entry.track));
    else if (entry.type == Type::Kind)
      lines.push_back(entry.kind.toStdString());
    else
      lines.push_back((entry.type == Type::Process    ? "process "
                       : entry.type == Type::Device   ? "device "
                       : entry.type == Type::Counters ? "counters "
                                                      : "channels ") +
                      std::to_string(entry.type == Type::Device ? entry.device : entry.process));
  }
  return lines;
}

struct Laid {
  explicit Laid(Skeleton of) : skeleton(std::move(of)) { layout.reset(skeleton); }
  template <typename Edit>
  void arrange(Edit edit) {
    TrackArrangement changed = layout.arrangement();
    edit(changed);
    layout.arrange(skeleton, changed);
  }
  [[nodiscard]] TrackId id(int track) const {
    return idOf(skeleton.tracks.at(static_cast<std::size_t>(track)));
  }

  Skeleton skeleton;
  TrackLayout layout;
};

TEST(TrackArrangement, APinnedTrackHasItsPlaceAtTheTopOnly) {
  Laid laid(ranks(2));
  const int height = laid.layout.height();
  const TrackId pinned[] = {laid.id(kTracks + kMainThread), laid.id(kMainThread)};
  laid.arrange([&](TrackArrangement& each) { each.togglePinned(pinned); });
  ASSERT_EQ(laid.layout.pinned().size(), 2U);
  EXPECT_EQ(laid.layout.pinned()[0].track, kTracks + kMainThread);
  EXPECT_EQ(laid.layout.pinned()[1].y, laid.layout.pinned()[0].height);
  EXPECT_EQ(laid.layout.find(kMainThread), &laid.layout.pinned()[1]);
  EXPECT_EQ(laid.layout.pinnedAt(laid.layout.pinnedHeight() - 1), &laid.layout.pinned()[1]);
  EXPECT_EQ(laid.layout.height() + laid.layout.pinnedHeight(), height);
  for (const LayoutEntry& entry : laid.layout.entries())
    EXPECT_NE(entry.track, kMainThread);
  // One of both is not pinned: all become so. All are pinned: none is.
  laid.arrange([&](TrackArrangement& each) { each.togglePinned(std::span(pinned).first(1)); });
  EXPECT_EQ(laid.layout.pinned().size(), 1U);
  laid.arrange([&](TrackArrangement& each) { each.togglePinned(pinned); });
  EXPECT_EQ(laid.layout.pinned().size(), 2U);
  laid.arrange([&](TrackArrangement& each) { each.togglePinned(pinned); });
  EXPECT_TRUE(laid.layout.pinned().empty());
}

TEST(TrackArrangement, AGroupStandsForItsTracksAlsoIfItIsFolded) {
  Laid laid(ranks(2));
  const LayoutEntry process = laid.layout.entries().front();
  ASSERT_EQ(process.type, Type::Process);
  const std::vector<int> all{0, 1, 2, 3, 4};
  EXPECT_EQ(laid.layout.tracksOf(process), all);
  laid.layout.toggle(laid.skeleton, process);
  EXPECT_EQ(laid.layout.tracksOf(laid.layout.entries().front()), all);
  EXPECT_EQ(laid.layout.find(0), nullptr);
  EXPECT_EQ(laid.layout.findFolded(0), &laid.layout.entries().front());
}

TEST(TrackArrangement, ByKindSimilarTracksOfAllRanksAreBeneathEachOther) {
  Laid laid(ranks(3));
  laid.arrange([](TrackArrangement& each) { each.grouping = Grouping::Kind; });
  EXPECT_EQ(laid.layout.find(4), nullptr) << "counters begin folded";
  laid.layout.reveal(laid.skeleton, 4);
  EXPECT_EQ(linesOf(laid.layout),
            (std::vector<std::string>{"computing streams",
                                      "0",
                                      "5",
                                      "10",
                                      "communication streams",
                                      "1",
                                      "6",
                                      "11",
                                      "main thread",
                                      "2",
                                      "7",
                                      "12",
                                      "autograd",
                                      "3",
                                      "8",
                                      "13",
                                      "power",
                                      "4",
                                      "9",
                                      "14"}));
  EXPECT_TRUE(laid.layout.find(6)->isApart);
  laid.layout.showRank(laid.skeleton, 1);
  EXPECT_EQ(linesOf(laid.layout)[1], "5");
  EXPECT_EQ(laid.layout.entries().size(), 10U);
}

TEST(TrackArrangement, ByKindTheBusiestStreamsOfAllRanksComeFirst) {
  Skeleton skeleton = ranks(2);
  for (TrackInfo& track : skeleton.tracks)
    track.communicates = false;
  Laid laid(std::move(skeleton));
  laid.arrange([](TrackArrangement& each) { each.grouping = Grouping::Kind; });
  EXPECT_EQ(laid.layout.tracksOf(laid.layout.entries().front()), (std::vector{0, 5, 1, 6}));
}

TEST(TrackArrangement, ByDeviceStreamsAreBelowTheirDeviceAndThreadsBelowTheirProcess) {
  Laid laid(ranks(2));
  laid.arrange([](TrackArrangement& each) { each.grouping = Grouping::Device; });
  EXPECT_EQ(linesOf(laid.layout),
            (std::vector<std::string>{"device 0",
                                      "0",
                                      "1",
                                      "4",
                                      "device 1",
                                      "5",
                                      "6",
                                      "9",
                                      "process 0",
                                      "2",
                                      "3",
                                      "process 1",
                                      "7",
                                      "8"}));
}

TEST(TrackArrangement, ProcessesHaveTheChosenOrder) {
  Laid laid(ranks(4));
  laid.arrange([](TrackArrangement& each) { each.order = Order::Start; });
  EXPECT_EQ(laid.layout.processes(), (std::vector{3, 2, 1, 0}));
  laid.arrange([](TrackArrangement& each) { each.order = Order::Events; });
  EXPECT_EQ(laid.layout.processes(), (std::vector{2, 1, 0, 3}));
  EXPECT_EQ(laid.layout.entries().front().process, 2);
  // By hand, from the present order on.
  laid.arrange([&](TrackArrangement& each) { each.moveProcess(laid.skeleton, 3, 1); });
  EXPECT_EQ(laid.layout.processes(), (std::vector{2, 3, 1, 0}));
  laid.arrange([&](TrackArrangement& each) { each.moveProcess(laid.skeleton, 2, -1); });
  EXPECT_EQ(laid.layout.processes(), (std::vector{3, 1, 0, 2}));
}

TEST(TrackArrangement, AHiddenTrackComesBackWhenItIsRevealed) {
  Laid laid(ranks(2));
  const TrackId hidden[] = {laid.id(kMainThread)};
  laid.arrange([&](TrackArrangement& each) { each.togglePinned(hidden); });
  laid.arrange([&](TrackArrangement& each) { each.hide(hidden); });
  EXPECT_TRUE(laid.layout.pinned().empty());
  EXPECT_EQ(laid.layout.find(kMainThread), nullptr);
  EXPECT_EQ(laid.layout.hiddenTracks(), 1);
  EXPECT_EQ(laid.layout.entries().front().hidden, 0) << "it has events";
  laid.layout.reveal(laid.skeleton, kMainThread);
  EXPECT_NE(laid.layout.find(kMainThread), nullptr);
  EXPECT_EQ(laid.layout.hiddenTracks(), 0);
}

TEST(TrackArrangement, AProcessWithoutAnyTrackLeftIsLeftOut) {
  Laid laid(ranks(2));
  std::vector<TrackId> all;
  for (const int track : laid.layout.tracksOf(laid.layout.entries().front()))
    all.push_back(laid.id(track));
  laid.arrange([&](TrackArrangement& each) { each.hide(all); });
  EXPECT_EQ(laid.layout.processes(), (std::vector{1}));
  EXPECT_EQ(laid.layout.entries().front().process, 1);
  EXPECT_FALSE(laid.layout.quiet(0));
}

TEST(TrackArrangement, EveryTrackOfAThousandRanksIsFoundWhereItIs) {
  Laid laid(ranks(1'024));
  for (const Grouping grouping : {Grouping::Process, Grouping::Device, Grouping::Kind}) {
    laid.arrange([&](TrackArrangement& each) { each.grouping = grouping; });
    std::size_t found = 0;
    for (int track = 0; track < static_cast<int>(laid.skeleton.tracks.size()); ++track)
      if (const LayoutEntry* entry = laid.layout.find(track)) {
        EXPECT_EQ(laid.layout.at(entry->y), entry);
        EXPECT_EQ(entry->track, track);
        ++found;
      } else {
        EXPECT_NE(laid.layout.findFolded(track), nullptr) << track;
      }
    EXPECT_GE(found, 4 * laid.skeleton.processes.size());
  }
}

TEST(TrackArrangement, IsKeptAsText) {
  Laid laid(ranks(3));
  TrackArrangement arrangement;
  arrangement.grouping = Grouping::Kind;
  arrangement.togglePinned(std::vector{laid.id(7), laid.id(1)});
  arrangement.hide(std::vector{laid.id(12), laid.id(3)});
  arrangement.moveProcess(laid.skeleton, 2, 0);
  EXPECT_EQ(arrangementOf(textOf(arrangement)), arrangement);
  EXPECT_EQ(arrangementOf("no arrangement"), TrackArrangement());
  EXPECT_EQ(arrangementOf(R"({"grouping": 77, "order": -1, "pinned": [[9, 1], 3]})"),
            TrackArrangement());
  // Ids of another trace change nothing.
  const auto before = linesOf(Laid(ranks(1)).layout);
  Laid other(ranks(1));
  other.arrange([](TrackArrangement& each) {
    each.pinned = {{Owner::Thread, 4'711}};
    each.hidden = {{Owner::Stream, 4'711}};
    each.byHand = {4'711};
    each.order = Order::ByHand;
  });
  EXPECT_EQ(linesOf(other.layout), before);
}

}  // namespace
}  // namespace sonde::gui
