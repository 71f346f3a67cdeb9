// The arrows between transfers, waits and ranks, as the reader answers them.
#include "gui/trace/time_format.h"
#include "tests/gui/reader_rig.h"
#include "tests/gui/sample_trace.h"

#include <string>

namespace sonde::gui {
namespace {

using model::Direction;
using model::SliceKind;
using testing::SampleTrace;

constexpr std::int64_t kBegin = 1'000'000'000;

class ArrowsTest : public testing::TraceReaderTest {
 protected:
  EventDetails details(Table table, std::int64_t id) {
    auto read = reader_.details({table, id});
    EXPECT_TRUE(read) << (read ? "" : read.error().message);
    return read ? *std::move(read) : EventDetails();
  }
  static std::vector<std::int64_t> idsOf(const std::vector<FoundEvent>& events) {
    std::vector<std::int64_t> ids;
    for (const FoundEvent& event : events)
      ids.push_back(event.ref.id);
    return ids;
  }
  static QString rowOf(const EventDetails& details, const QString& title, const QString& name) {
    for (const DetailsSection& section : details.sections)
      if (section.title == title)
        for (const auto& [key, value] : section.rows)
          if (key == name)
            return value;
    return {};
  }
};

TEST_F(ArrowsTest, LeadFromASendToEveryReceiveOfItsBytes) {
  SampleTrace trace(file("a.sonde"));
  const auto left = trace.addProcess(10, 0, "python3");
  const auto right = trace.addProcess(11, 1, "python3");
  const auto there = trace.addChannel(left, "10.0.0.1:1", "10.0.0.2:2");
  const auto here = trace.addChannel(right, "10.0.0.2:2", "10.0.0.1:1", there);
  auto& writer = trace.writer();
  const auto move = [&](model::ChannelId channel,
                        Direction direction,
                        std::int64_t offset,
                        std::int64_t bytes,
                        std::int64_t at) {
    model::Transfer row;
    row.channelId = channel;
    row.direction = direction;
    row.offset = offset;
    row.bytes = bytes;
    row.exact = true;
    row.startNs = kBegin + at;
    row.durNs = 10;
    return test::must(writer.add(row)).value;
  };
  const auto early = move(there, Direction::Send, 0, 100, 0);
  const auto send = move(there, Direction::Send, 100, 200, 20);
  move(there, Direction::Send, 300, 100, 40);
  const auto first = move(here, Direction::Receive, 0, 150, 100);
  const auto second = move(here, Direction::Receive, 150, 150, 120);
  move(here, Direction::Receive, 300, 100, 140);
  trace.finish();
  auto linked = store::Database::open(file("a.sonde"), store::Access::ReadWrite);
  ASSERT_TRUE(linked);
  ASSERT_TRUE(linked->exec("UPDATE channel SET peer_channel_id = " + std::to_string(here.value) +
                           " WHERE id = " + std::to_string(there.value)));
  open(file("a.sonde"));
  const Arrows sent = details(Table::Transfer, send).arrows;
  EXPECT_EQ(idsOf(sent.to), (std::vector{first, second}));
  EXPECT_EQ(sent.toCount, 2);
  EXPECT_TRUE(sent.from.empty());
  const Arrows received = details(Table::Transfer, first).arrows;
  EXPECT_EQ(idsOf(received.from), (std::vector{early, send}));
  EXPECT_TRUE(received.to.empty());
  EXPECT_EQ(idsOf(details(Table::Transfer, second).arrows.from), (std::vector{send}));
}

TEST_F(ArrowsTest, LeadFromTheSliceThatEndedAWait) {
  SampleTrace trace(file("a.sonde"));
  const auto process = trace.addProcess(10, 0, "python3");
  const auto waker = trace.addThread(process, 10, "main");
  const auto wakee = trace.addThread(process, 11, "worker");
  const auto outer = trace.addSlice({waker, SliceKind::Operation, "outer", kBegin, 1'000});
  const auto inner = trace.addSlice({waker, SliceKind::Api, "notify", kBegin + 400, 100, 1, outer});
  const auto wait = trace.addSlice({wakee, SliceKind::Wait, "wait", kBegin + 100, 500});
  const auto other = trace.addSlice({wakee, SliceKind::Wait, "wait", kBegin + 700, 50});
  model::Handoff row;
  row.sliceId = wait;
  row.kind = model::SyncObject::Condition;
  row.wakerThreadId = waker;
  row.wakerNs = kBegin + 450;
  row.wakeeThreadId = wakee;
  row.blockNs = kBegin + 100;
  row.wakeNs = kBegin + 600;
  row.certain = true;
  test::must(trace.writer().add(row));
  trace.finish();
  open(file("a.sonde"));
  const EventDetails waited = details(Table::Slice, wait.value);
  EXPECT_EQ(idsOf(waited.arrows.from), (std::vector{inner.value}));
  EXPECT_EQ(rowOf(waited, "Hand-off", "Ended by"), "main 10");
  EXPECT_EQ(rowOf(waited, "Hand-off", "Woke up after"), formatDuration(150));
  EXPECT_EQ(idsOf(details(Table::Slice, inner.value).arrows.to), (std::vector{wait.value}));
  EXPECT_TRUE(details(Table::Slice, outer.value).arrows.to.empty()) << "the inner slice has it";
  EXPECT_TRUE(details(Table::Slice, other.value).arrows.from.empty());
}

// `ranks` ranks that call one collective; rank 2 comes last.
class RanksTest : public ArrowsTest {
 protected:
  std::vector<std::int64_t> write(int ranks) {
    SampleTrace trace(file("a.sonde"));
    std::vector<std::int64_t> calls;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto process = trace.addProcess(10 + rank, rank, "python3");
      const auto thread = trace.addThread(process, 10 + rank, "main");
      auto& writer = trace.writer();
      const auto group =
          test::must(writer.add(model::Communicator{{}, process, "world", ranks, rank, "gloo"}));
      for (int seq = 0; seq < 3; ++seq) {
        const std::int64_t start = kBegin + seq * 10'000 + rank + (rank == 2 ? 5'000 : 0);
        const auto slice =
            trace.addSlice({thread, SliceKind::Collective, "allreduce", start, 6'000 - rank});
        model::Collective row;
        row.processId = process;
        row.communicatorId = group;
        row.seq = seq;
        row.sliceId = slice;
        row.startNs = start;
        row.durNs = 6'000 - rank;
        test::must(writer.add(row));
        if (seq == 1)
          calls.push_back(slice.value);
      }
    }
    trace.finish();
    open(file("a.sonde"));
    return calls;
  }
};

TEST_F(RanksTest, LeadToTheOtherRanksPartsOfACollective) {
  const auto calls = write(4);
  const EventDetails one = details(Table::Slice, calls[1]);
  EXPECT_EQ(idsOf(one.arrows.ranks), (std::vector{calls[2], calls[3], calls[0]}));
  EXPECT_EQ(one.arrows.last, (EventRef{Table::Slice, calls[2]}));
  EXPECT_EQ(one.arrows.rankCount, 3);
  EXPECT_TRUE(rowOf(one, "Rendezvous", "Came last").startsWith("rank 2, "));
  EXPECT_EQ(rowOf(one, "Rendezvous", "Came first"), "rank 0");
  EXPECT_EQ(rowOf(one, "Rendezvous", "This rank"), formatDuration(5'001) + " before the last");
  EXPECT_EQ(rowOf(one, "Rendezvous", "Ranks here"), "4 of 4");
  const EventDetails last = details(Table::Slice, calls[2]);
  EXPECT_EQ(last.arrows.last, last.event.ref);
  EXPECT_EQ(rowOf(last, "Rendezvous", "This rank"), QString());
}

TEST_F(RanksTest, AreAtMostAHundredAndKeepTheLastRank) {
  const auto calls = write(130);
  const Arrows arrows = details(Table::Slice, calls[3]).arrows;
  EXPECT_EQ(arrows.ranks.size(), Arrows::kMax);
  EXPECT_EQ(arrows.rankCount, 129);
  EXPECT_EQ(arrows.ranks.front().ref.id, calls[4]);
  EXPECT_EQ(arrows.ranks.back().ref.id, calls[2]);
}

}  // namespace
}  // namespace sonde::gui
