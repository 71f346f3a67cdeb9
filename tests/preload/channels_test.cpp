// The net probe's records of real programs: transfers that pair by offset, or are marked as
// inexact.
#include "tests/support/spool_recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <tuple>

namespace sonde::test {
namespace {

using ::testing::AnyOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using wire::ChannelKind;

std::string target(const std::string& name) {
  return SONDE_TARGETS "/" + name;
}

// One direction of a stream at one of its ends, as recorded by all processes together, in the order
// of offsets.
struct Side {
  std::string local;
  std::string remote;
  bool receive = false;
  friend auto operator<=>(const Side&, const Side&) = default;
};
using Sides = std::map<Side, std::vector<RecordedTransfer>>;

class Channels : public ::testing::Test {
 protected:
  Finished run(const std::vector<std::string>& words) {
    const Finished plain = runProgram(words);
    EXPECT_THAT(plain.status, AnyOf(0, 77)) << "the program itself says that it failed";
    const Finished recorded = recording_.run(words);
    EXPECT_EQ(recorded.status, plain.status);
    EXPECT_EQ(recorded.out, plain.out);
    EXPECT_EQ(recorded.err, plain.err);
    return recorded;
  }

  Sides sides() const {
    Sides sides;
    for (const RecordedProcess& process : recording_.read()) {
      for (const RecordedTransfer& transfer : process.transfers)
        sides[{transfer.channel.local, transfer.channel.remote, transfer.receive}].push_back(
            transfer);
    }
    for (auto& [side, transfers] : sides)
      std::stable_sort(transfers.begin(), transfers.end(), [](const auto& a, const auto& b) {
        return a.offset < b.offset;
      });
    return sides;
  }

  std::vector<RecordedTransfer> all() const {
    std::vector<RecordedTransfer> all;
    for (const RecordedProcess& process : recording_.read())
      all.insert(all.end(), process.transfers.begin(), process.transfers.end());
    return all;
  }

  SpoolRecording recording_;
};

std::vector<std::uint64_t> sizesOf(const std::vector<RecordedTransfer>& transfers) {
  std::vector<std::uint64_t> sizes;
  for (const RecordedTransfer& transfer : transfers)
    sizes.push_back(transfer.bytes);
  return sizes;
}

// The bytes up to which transfers follow each other without gap or overlap.
std::uint64_t contiguous(const std::vector<RecordedTransfer>& transfers) {
  std::uint64_t end = 0;
  for (const RecordedTransfer& transfer : transfers) {
    if (transfer.offset != end)
      return end;
    end += transfer.bytes;
  }
  return end;
}

auto exact(bool yes) {
  return Field(&RecordedTransfer::exact, yes);
}

class RandomTraffic : public Channels, public ::testing::WithParamInterface<int> {};

TEST_P(RandomTraffic, EveryByteSentIsReceivedAtItsOffset) {
  run({target("socket_random"), std::to_string(GetParam())});
  std::map<ChannelKind, int> seen;
  for (const auto& [side, transfers] : sides()) {
    EXPECT_EQ(contiguous(transfers), 300'000U) << side.local << " to " << side.remote;
    EXPECT_THAT(transfers, Each(exact(true))) << side.local << " to " << side.remote;
    EXPECT_NE(side.remote, "");
    ++seen[transfers.front().channel.kind];
  }
  EXPECT_EQ(seen,
            (std::map<ChannelKind, int>{
                {ChannelKind::Tcp, 2}, {ChannelKind::Unix, 4}, {ChannelKind::Pipe, 2}}));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTraffic, ::testing::Values(1, 2, 3));

// libc closes descriptors, and replaces them with other files, by internal calls. The program moves
// 6 bytes at a time through its streams, and other sizes through the replacements.
TEST_F(Channels, WhatComesInThePlaceOfAStreamIsNotTakenForIt) {
  run({target("replaced_streams")});
  EXPECT_THAT(sizesOf(all()), Each(6U));
  EXPECT_GE(all().size(), 7U);
}

TEST_F(Channels, EndsKnowEachOtherByTheSameNames) {
  run({target("socket_random"), "4"});
  const Sides found = sides();
  EXPECT_THAT(found, SizeIs(8));
  for (const auto& [side, transfers] : found)
    EXPECT_TRUE(found.contains({side.remote, side.local, !side.receive})) << side.local;
}

TEST_F(Channels, ACallBeforeTheConnectionIsThereDoesNotNameItsEnds) {
  EXPECT_EQ(run({target("early_send")}).out, "-1 -1\n4 4\n");
  const Sides found = sides();
  EXPECT_THAT(found, SizeIs(2));
  for (const auto& [side, transfers] : found) {
    EXPECT_NE(side.remote, "");
    EXPECT_TRUE(found.contains({side.remote, side.local, !side.receive})) << side.local;
  }
}

TEST_F(Channels, ChildrenOfRawCloneShareTheStream) {
  run({target("raw_clone_write")});
  int shared = 0;
  for (const auto& [side, transfers] : sides()) {
    EXPECT_THAT(transfers, Each(exact(true)));
    const std::uint64_t bytes = contiguous(transfers);
    shared += bytes == 25 ? 1 : 0;
    EXPECT_TRUE(bytes == 25 || bytes == 3) << side.local << ": " << bytes;
  }
  EXPECT_EQ(shared, 2);
}

TEST_F(Channels, AVforkChildLeavesItsParentsTableAlone) {
  run({target("vfork_exec")});
  std::vector<std::uint64_t> received;
  std::vector<std::uint64_t> sent;
  for (const RecordedTransfer& transfer : all())
    (transfer.receive ? received : sent).push_back(transfer.bytes);
  EXPECT_THAT(received, ElementsAre(4, 16));
  EXPECT_THAT(sent, ElementsAre(6, 4));  // echo's bytes went through libc's own buffers
}

// Includes children that no wrapper has seen, whatever they do to their own descriptors.
TEST_F(Channels, AChildOnItsParentsMemoryLeavesItsTableAlone) {
  using Seen = std::tuple<std::uint64_t, std::uint64_t, bool>;  // place, bytes, exact
  for (const char* kind : {"vfork", "clone"}) {
    const TemporaryFolder folder;
    std::ofstream(folder / "data") << "something";
    SpoolRecording recording;
    const Finished ended =
        recording.run({target("shared_memory_children"), kind, folder / "data", "/bin/sh"});
    EXPECT_EQ(ended.out, "0\n") << ended.err;
    std::vector<Seen> received;
    std::vector<Seen> sent;
    for (const RecordedProcess& process : recording.read())
      for (const RecordedTransfer& transfer : process.transfers)
        (transfer.receive ? received : sent)
            .emplace_back(transfer.offset, transfer.bytes, transfer.exact);
    EXPECT_THAT(received, ElementsAre(Seen{0, 10, true}, Seen{0, 1, false})) << kind;
    EXPECT_THAT(sent, ElementsAre(Seen{0, 6, true}, Seen{6, 4, true}, Seen{0, 1, false})) << kind;
  }
}

TEST_F(Channels, BytesThatWentPastTheWrappersAreNoticedAtTheClose) {
  run({target("tcp_bypass")});
  std::vector<RecordedTransfer> sent;
  std::vector<std::uint64_t> received;
  for (const auto& [side, transfers] : sides()) {
    if (!side.receive) {
      sent.insert(sent.end(), transfers.begin(), transfers.end());
      continue;
    }
    EXPECT_THAT(transfers, Each(exact(true)));
    received.push_back(contiguous(transfers));
  }
  EXPECT_THAT(received, ::testing::UnorderedElementsAre(110, 35));
  ASSERT_THAT(sent, SizeIs(3));
  std::sort(
      sent.begin(), sent.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  EXPECT_TRUE(sent[0].exact && sent[0].bytes == 10);
  EXPECT_TRUE(!sent[1].exact && sent[1].bytes == 0 && sent[1].offset == 10);
  EXPECT_TRUE(!sent[2].exact && sent[2].bytes == 5);  // through a descriptor that a FILE also uses
}

TEST_F(Channels, AnInheritedTcpConnectionGoesOnWhereItStood) {
  EXPECT_EQ(run({target("inherited_stream")}).out, "0 150\n");
  std::vector<RecordedTransfer> sent;
  for (const RecordedTransfer& transfer : all()) {
    if (!transfer.receive)
      sent.push_back(transfer);
  }
  std::sort(
      sent.begin(), sent.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  ASSERT_GE(sent.size(), 2U);
  EXPECT_FALSE(sent[0].channel.inherited);
  EXPECT_TRUE(sent[1].channel.inherited);
  EXPECT_TRUE(sent[1].exact);
  EXPECT_EQ(sent[1].offset, 100U);
  EXPECT_EQ(sent[1].bytes, 50U);
}

TEST_F(Channels, AnInheritedPipeIsInexact) {
  run({"bash", "-c", "printf 'one two' | (read -r -n 3 word; echo $word)"});
  const std::vector<RecordedTransfer> transfers = all();
  ASSERT_FALSE(transfers.empty());
  for (const RecordedTransfer& transfer : transfers)
    EXPECT_TRUE(transfer.channel.kind == ChannelKind::Pipe &&
                (transfer.exact || transfer.channel.inherited));
}

TEST_F(Channels, AStreamThatHadNoRoomIsRecordedWhenThereIs) {
  run({target("stream_when_full")});
  std::vector<std::uint64_t> sent;
  std::vector<std::uint64_t> received;
  for (const RecordedTransfer& transfer : all()) {
    if (transfer.bytes == 3)
      (transfer.receive ? received : sent).push_back(transfer.offset);
    EXPECT_NE(transfer.bytes, 2U) << "the spool was not full";
  }
  EXPECT_THAT(sent, ElementsAre(20, 23, 26, 29, 32, 35, 38, 41, 44, 47));
  EXPECT_EQ(received, sent);
}

TEST_F(Channels, OtherDescriptorsAreNone) {
  run({target("no_channels")});
  EXPECT_THAT(all(), IsEmpty());
}

TEST_F(Channels, NothingIsRecordedOfAProbeThatIsOff) {
  recording_.setProbes(1U << static_cast<int>(wire::Probe::Process));
  run({target("socket_random"), "1"});
  EXPECT_THAT(all(), IsEmpty());
}

TEST_F(Channels, ATransferMakesNoSystemCallOfItsOwn) {
  const Finished recorded = run({target("pipe_under_seccomp")});
  if (recorded.status == 77)
    GTEST_SKIP() << "no system call filters here";
  EXPECT_EQ(recorded.status, 0);
  EXPECT_THAT(all(), SizeIs(4 * 102));
}

TEST_F(Channels, SignalHandlersCostRecordsButNeverTheCount) {
  EXPECT_EQ(run({target("signals_in_emit")}).out, "all arrived 1\n");
  std::uint64_t receivedInAll = 0;
  for (const RecordedProcess& process : recording_.read()) {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    for (const RecordedTransfer& transfer : process.transfers) {
      if (transfer.channel.kind == ChannelKind::Unix)
        (transfer.receive ? received : sent) += transfer.bytes;
    }
    receivedInAll += received;
    // Each lost record is a handler's write of one byte.
    EXPECT_GE(sent + process.lost(wire::Probe::Net), received);
    EXPECT_LE(sent, received);
  }
  EXPECT_GE(receivedInAll, 30'000U) << "a byte each turn, and those of the handler";
}

}  // namespace
}  // namespace sonde::test
