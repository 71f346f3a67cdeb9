#include "analysis/engine/align/align.h"

#include "analysis/engine/align/job_clock.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::align {
namespace {

using test::must;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Known = FittedClock::Known;

constexpr std::int64_t kUs = 1000;
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kBegin = 1'700'000'000'000'000'000;

// Hosts with a process each, and their clocks ahead of the first one's.
class AlignHosts : public ::testing::Test {
 protected:
  std::size_t host(std::int64_t aheadNs, std::int64_t driftPpm = 0) {
    const std::string name = "host-" + std::to_string(ahead_.size());
    const auto id = trace_->add(model::Host{.name = name, .bootId = name});
    ahead_.push_back(aheadNs);
    driftPpm_.push_back(driftPpm);
    processes_.push_back(trace_->add(model::Process{.hostId = id,
                                                    .pid = 10,
                                                    .startNs = kBegin + aheadNs,
                                                    .endNs = kBegin + aheadNs + 5000 * kSecond}));
    threads_.push_back(trace_->add(model::Thread{.processId = processes_.back(), .tid = 10}));
    return ahead_.size() - 1;
  }
  std::int64_t clock(std::size_t host, std::int64_t us) const {
    return kBegin + us * kUs + ahead_[host] + us * driftPpm_[host] / 1000;
  }
  // The two ends of a connection. Only their own bytes match.
  std::pair<model::ChannelId, model::ChannelId> connect(std::size_t one,
                                                        std::size_t other,
                                                        model::ChannelKind kind,
                                                        bool isInherited = false) {
    const auto first = trace_->add(model::Channel{.processId = processes_[one], .kind = kind});
    const auto second = trace_->add(model::Channel{.processId = processes_[other],
                                                   .kind = kind,
                                                   .peerChannelId = first,
                                                   .inherited = isInherited});
    pairs_.emplace_back(first, second);
    return pairs_.back();
  }
  void move(std::size_t host, model::Transfer transfer, std::int64_t us, std::int64_t lastsUs) {
    transfer.threadId = threads_[host];
    transfer.startNs = clock(host, us);
    transfer.durNs = lastsUs * kUs;
    trace_->add(transfer);
  }
  Alignment align() {
    trace_->finish();
    database_.emplace(must(store::Database::open(path_, store::Access::ReadWrite)));
    for (const auto& [first, second] : pairs_)
      must(database_->exec(fmt::format(
          "UPDATE channel SET peer_channel_id = {} WHERE id = {}", second.value, first.value)));
    return must(alignHosts(*database_));
  }

  static constexpr auto kSend = model::Direction::Send;
  static constexpr auto kReceive = model::Direction::Receive;

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "t.sonde";
  std::optional<test::TraceBuilder> trace_{std::in_place, path_};
  std::vector<std::int64_t> ahead_;
  std::vector<std::int64_t> driftPpm_;
  std::vector<model::ProcessId> processes_;
  std::vector<model::ThreadId> threads_;
  std::vector<std::pair<model::ChannelId, model::ChannelId>> pairs_;
  std::optional<store::Database> database_;
};

// A receive of 300 bytes gets bytes of three sends; the last byte is what counts.
TEST_F(AlignHosts, BytesHaveArrivedAfterTheirSendBegan) {
  const std::size_t a = host(0);
  const std::size_t b = host(5'000'000);
  const auto [ours, theirs] = connect(a, b, model::ChannelKind::Tcp);
  for (const auto& [offset, us] : {std::pair(0, 10), {100, 20}, {200, 90}})
    move(a, {.channelId = ours, .direction = kSend, .offset = offset, .bytes = 100}, us, 5);
  move(b, {.channelId = theirs, .direction = kReceive, .offset = 0, .bytes = 300}, 0, 100);
  move(b, {.channelId = theirs, .direction = kSend, .offset = 0, .bytes = 10}, 200, 1);
  move(a, {.channelId = ours, .direction = kReceive, .offset = 0, .bytes = 10}, 150, 60);
  const Alignment found = align();
  ASSERT_THAT(found.hosts, SizeIs(2));
  const HostAlignment& host = found.hosts[1];
  ASSERT_EQ(host.known, Known::BothSides);
  EXPECT_EQ(host.messages, 2);
  EXPECT_EQ(host.errorNs, 10 * kUs);
  EXPECT_EQ(host.pieces[0].offsetNs, -5'000'000);
  EXPECT_EQ(host.pieces[0].fromNs, kBegin + 5'000'000);
  EXPECT_EQ(host.residualNs, 0);
  EXPECT_TRUE(found.isUseful());
  EXPECT_EQ(found.obstacle(), "");
}

TEST_F(AlignHosts, MpiMessagesMatchByTagAndNumber) {
  const std::size_t a = host(0);
  const std::size_t b = host(-700'000);
  const auto [ours, theirs] = connect(a, b, model::ChannelKind::Mpi);
  // Number 1 of tag 4 leaves late. Numbers 3 and 7 of it have no send.
  for (const auto& [tag, number, us] :
       {std::tuple(4, 0, 100), {4, 1, 900}, {4, 5, 100}, {5, 3, 100}})
    move(a,
         {.channelId = ours, .direction = kSend, .offset = number, .bytes = 8, .tag = tag},
         us,
         1);
  move(b, {.channelId = theirs, .direction = kReceive, .offset = 1, .bytes = 8, .tag = 4}, 0, 920);
  for (const std::int64_t number : {3, 7})
    move(b,
         {.channelId = theirs, .direction = kReceive, .offset = number, .bytes = 8, .tag = 4},
         0,
         500);
  move(b, {.channelId = theirs, .direction = kSend, .offset = 0, .bytes = 8, .tag = 4}, 50, 1);
  move(a, {.channelId = ours, .direction = kReceive, .offset = 0, .bytes = 8, .tag = 4}, 0, 70);
  const Alignment found = align();
  ASSERT_EQ(found.hosts[1].known, Known::BothSides);
  EXPECT_EQ(found.hosts[1].messages, 2);
  EXPECT_EQ(found.hosts[1].pieces[0].offsetNs, 700'000);
  EXPECT_EQ(found.hosts[1].errorNs, 20 * kUs);
}

TEST_F(AlignHosts, InexactAndInheritedBytesAreIgnored) {
  const std::size_t a = host(0);
  const std::size_t b = host(0);
  const auto [ours, theirs] = connect(a, b, model::ChannelKind::Tcp);
  move(a, {.channelId = ours, .direction = kSend, .bytes = 9, .exact = false}, 0, 1);
  move(b, {.channelId = theirs, .direction = kReceive, .bytes = 9}, 0, 1);
  move(a, {.channelId = ours, .direction = kSend, .offset = 9, .bytes = 9}, 2, 1);
  move(b,
       {.channelId = theirs, .direction = kReceive, .offset = 9, .bytes = 9, .exact = false},
       2,
       1);
  const auto [parent, child] = connect(a, b, model::ChannelKind::Tcp, true);
  move(a, {.channelId = parent, .direction = kSend, .bytes = 9}, 0, 1);
  move(b, {.channelId = child, .direction = kReceive, .bytes = 9}, 0, 1);
  const Alignment found = align();
  EXPECT_EQ(found.hosts[1].messages, 0);
  EXPECT_EQ(found.hosts[1].known, Known::Nothing);
  EXPECT_THAT(found.unconnected(), ElementsAre("host-1"));
  EXPECT_FALSE(found.isUseful());
  EXPECT_THAT(found.obstacle(), HasSubstr("'host-0' shares no message or collective with host-1"));
}

// Only the root's begin bounds a broadcast, and only the root's end a reduction.
TEST_F(AlignHosts, CollectivesBoundTheRanksThatNeedEachOther) {
  const std::size_t a = host(0);
  const std::size_t b = host(2'000'000);
  const std::size_t c = host(0);
  std::vector<model::CommunicatorId> groups;
  for (const std::size_t each : {a, b, c})
    groups.push_back(trace_->add(model::Communicator{.processId = processes_[each],
                                                     .jobKey = "world",
                                                     .size = 3,
                                                     .position = static_cast<std::int64_t>(each)}));
  const auto part =
      [&](std::size_t host, model::CollectiveOp op, std::int64_t begin, std::int64_t end) {
        trace_->add(model::Collective{.processId = processes_[host],
                                      .communicatorId = groups[host],
                                      .seq = 0,
                                      .op = op,
                                      .root = 0,
                                      .startNs = clock(host, begin),
                                      .durNs = (end - begin) * kUs});
      };
  part(a, model::CollectiveOp::Broadcast, 100, 110);  // b ends after a began,
  part(b, model::CollectiveOp::Broadcast, 130, 140);
  part(c, model::CollectiveOp::Broadcast, 0, 120);  // as does c, which does not need b
  part(a, model::CollectiveOp::Reduce, 310, 340);   // and a after b began
  part(b, model::CollectiveOp::Reduce, 300, 301);
  const Alignment found = align();
  ASSERT_EQ(found.hosts[1].known, Known::BothSides);
  EXPECT_EQ(found.hosts[1].collectives, 2);
  EXPECT_EQ(found.hosts[1].messages, 0);
  EXPECT_EQ(found.hosts[1].pieces[0].offsetNs, -2'000'000);
  EXPECT_EQ(found.hosts[1].errorNs, 40 * kUs);
  EXPECT_EQ(found.hosts[2].known, Known::OneSide);
}

// Rows begin with the host's first time. A drift is rounded to ppb, so rows are at most 2,000 s
// long.
TEST_F(AlignHosts, ADriftIsStoredFromTheFirstTimeOn) {
  const std::size_t a = host(0);
  const std::size_t b = host(1'000'000, 80);
  const auto [ours, theirs] = connect(a, b, model::ChannelKind::Tcp);
  for (std::int64_t each = 0; each < 400; ++each) {
    const std::int64_t us = each * 10'000'000;
    move(a, {.channelId = ours, .direction = kSend, .offset = each, .bytes = 1}, us, 1);
    move(b, {.channelId = theirs, .direction = kReceive, .offset = each, .bytes = 1}, us, 40);
    move(b, {.channelId = theirs, .direction = kSend, .offset = each, .bytes = 1}, us, 1);
    move(a, {.channelId = ours, .direction = kReceive, .offset = each, .bytes = 1}, us, 40);
  }
  const HostAlignment found = align().hosts[1];
  ASSERT_THAT(found.pieces, SizeIs(3));
  for (std::int64_t row = 0; row < 3; ++row) {
    const model::ClockMap& piece = found.pieces[static_cast<std::size_t>(row)];
    EXPECT_EQ(piece.fromNs, kBegin + 1'000'000 + row * 2000 * kSecond);
    EXPECT_NEAR(
        static_cast<double>(piece.offsetNs), -1e6 - 80e-6 * 2e12 * static_cast<double>(row), 20e3);
    EXPECT_NEAR(static_cast<double>(piece.driftPpb), -80'000, 100);
  }
}

TEST_F(AlignHosts, OneHostNeedsNoMessages) {
  host(0);
  const Alignment found = align();
  ASSERT_THAT(found.hosts, SizeIs(1));
  EXPECT_EQ(found.hosts[0].pieces[0].offsetNs, 0);
  EXPECT_EQ(found.obstacle(), "");
  EXPECT_FALSE(found.isUseful());
  must(storeClockMap(*database_, found));
  EXPECT_EQ(must(database_->queryInteger("SELECT count(*) FROM clock_map")), 0);
}

// The table, the views and JobClock agree, also where a drift needs many rows.
TEST_F(AlignHosts, TheStoredMapConvertsTimesAsTheViewsDo) {
  host(0);
  host(4'000'000);
  Alignment alignment = align();
  alignment.hosts[1].known = Known::BothSides;
  const model::HostId other{alignment.hosts[1].hostId};
  alignment.hosts[0].pieces = {{model::HostId{1}, kBegin, 0, 0, 0}};
  alignment.hosts[1].pieces = {{other, kBegin + 4'000'000, -4'000'000, 50'000, 7},
                               {other, kBegin + 600'000'000, -3'970'000, -20'001, 7}};
  must(storeClockMap(*database_, alignment));
  must(storeClockMap(*database_, alignment));  // replaces
  EXPECT_EQ(must(database_->queryInteger("SELECT count(*) FROM clock_map")), 3);
  const JobClock clock = must(JobClock::read(*database_));
  for (const char* column : {"start_ns", "end_ns"}) {
    const auto raw =
        must(database_->queryInteger(fmt::format("SELECT {} FROM process WHERE id = 2", column)));
    EXPECT_EQ(clock.toJob(other.value, raw),
              must(database_->queryInteger(
                  fmt::format("SELECT {} FROM v_process WHERE id = 2", column))));
  }
  EXPECT_EQ(clock.toJob(other.value, kBegin), kBegin);  // before the first row
  EXPECT_EQ(clock.toJob(1, kBegin), kBegin);
  EXPECT_TRUE(clock.areComparable(1, 2));
  EXPECT_FALSE(clock.areComparable(1, 3));
  EXPECT_FALSE(JobClock().areComparable(1, 2));
  EXPECT_TRUE(JobClock().areComparable(2, 2));
}

TEST(HostClock, ConvertsBack) {
  HostClock clock;
  clock.addPiece(kBegin, -5'000'000, 50'000);
  for (const std::int64_t seconds : {0, 1, 1000}) {
    const std::int64_t host = kBegin + 10'000'000 + seconds * 1'000'000'000;
    EXPECT_NEAR(static_cast<double>(clock.toHost(clock.toJob(host)) - host), 0, 1);
  }
}

}  // namespace
}  // namespace sonde::engine::align
