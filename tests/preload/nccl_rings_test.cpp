// Four ranks that reduce over a ring and over a double binary tree, through each version of NCCL's
// profiler plugin.
#include "collector/wire/nccl_records.h"
#include "tests/support/spool_recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>

namespace sonde::test {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::SizeIs;

constexpr std::uint64_t kRanks = 4;
constexpr std::uint64_t kChannels = 2;
constexpr std::uint64_t kChunks = 3;
constexpr std::uint64_t kChunkBytes = 8192;

using Steps = std::map<std::uint32_t, RecordedStep>;
struct End {
  RecordedChannel channel;
  Steps steps;  // by number
};
using Ends = std::map<std::string, End>;  // by local address

class NcclRanks : public ::testing::TestWithParam<int> {
 protected:
  void record(const std::string& shape) {
    const Finished finished =
        recording_.run({SONDE_TARGETS "/nccl_ranks", std::to_string(GetParam()), shape});
    ASSERT_EQ(finished.status, 0) << finished.err;
    const std::vector<RecordedProcess> processes = recording_.read();
    ASSERT_THAT(processes, SizeIs(1));
    process_ = processes[0];
    ASSERT_THAT(process_.collectives, SizeIs(kRanks));
    EXPECT_EQ(process_.lost(wire::Probe::Nccl), 0u);
    for (const RecordedStep& step : process_.steps) {
      End& end = ends_[step.channel.local];
      end.channel = step.channel;
      EXPECT_TRUE(end.steps.emplace(step.step, step).second) << step.channel.local << step.step;
    }
  }

  bool exactVersion() const { return GetParam() >= 4; }

  // Each end has a counterpart, and each step there has a counterpart with the same number of
  // bytes.
  void expectEachSendHasItsReceive() const {
    for (const auto& [local, end] : ends_) {
      SCOPED_TRACE(local);
      ASSERT_TRUE(ends_.contains(end.channel.remote));
      const End& other = ends_.at(end.channel.remote);
      EXPECT_EQ(other.channel.remote, local);
      EXPECT_EQ(end.channel.kind, wire::ChannelKind::Nccl);
      ASSERT_EQ(end.steps.size(), other.steps.size());
      for (const auto& [number, step] : end.steps) {
        const RecordedStep& peer = other.steps.at(number);
        EXPECT_NE(step.receive, peer.receive);
        EXPECT_EQ(step.bytes, peer.bytes);
        EXPECT_EQ(step.offset, peer.offset);
        EXPECT_EQ(step.exact, exactVersion());
        EXPECT_LE(step.begin, step.end);
      }
    }
  }

  // The bytes of one rank, by the number of its collective.
  std::uint64_t sent(std::uint64_t collective) const {
    std::uint64_t bytes = 0;
    for (const RecordedStep& step : process_.steps)
      bytes += step.collective == collective && !step.receive ? step.bytes : 0;
    return bytes;
  }

  void expectTrueEnds() const {
    const auto mark = [&](const std::string& name) {
      for (const RecordedSlice& slice : process_.marks)
        if (slice.name == name)
          return slice.begin;
      return std::uint64_t{0};
    };
    for (const RecordedCollective& row : process_.collectives) {
      EXPECT_LT(row.end, mark("enqueued"));  // the call
      ASSERT_TRUE(process_.ends.contains(row.number));
      EXPECT_GT(process_.ends.at(row.number).ticks, mark("before the last"));
      EXPECT_LT(process_.ends.at(row.number).ticks, mark("after the last"));
      EXPECT_FALSE(process_.ends.at(row.number).unfinished);
    }
  }

  void expectRows(const std::string& algorithm, const std::string& protocol) const {
    std::set<std::int32_t> positions;
    for (const RecordedCollective& row : process_.collectives) {
      EXPECT_EQ(row.op, wire::CollectiveOp::Allreduce);
      EXPECT_EQ(row.name, "ncclAllReduce");
      EXPECT_EQ(row.key, "nccl:0000000000abcdef");
      EXPECT_EQ(row.size, GetParam() >= 4 ? 4 : 0);
      EXPECT_EQ(row.seq, 7u * 32 + 4);
      EXPECT_EQ(row.bytes, 40000u);
      EXPECT_EQ(row.sendBytes, 40000u);
      EXPECT_EQ(row.root, -1);
      EXPECT_EQ(row.algorithm, algorithm);
      EXPECT_EQ(row.protocol, protocol);
      EXPECT_EQ(row.channels, kChannels);
      positions.insert(row.position);
    }
    EXPECT_THAT(positions, ElementsAre(0, 1, 2, 3));
  }

  SpoolRecording recording_;
  RecordedProcess process_;
  Ends ends_;
};

TEST_P(NcclRanks, RingHasTwiceRanksLessOneStepsPerChannelAndChunk) {
  record("ring");
  if (HasFatalFailure())
    return;
  expectRows("RING", "SIMPLE");
  EXPECT_EQ(ends_.size(), 2 * kRanks * kChannels);
  constexpr std::uint64_t kSteps = 2 * (kRanks - 1) * kChunks;
  for (const auto& [local, end] : ends_) {
    SCOPED_TRACE(local);
    EXPECT_EQ(end.steps.size(), kSteps);
  }
  expectEachSendHasItsReceive();
  const std::uint64_t perChannel = kSteps * kChunkBytes - (exactVersion() ? kChunkBytes / 2 : 0);
  for (const RecordedCollective& row : process_.collectives)
    EXPECT_EQ(sent(row.number), kChannels * perChannel);
  expectTrueEnds();
}

TEST_P(NcclRanks, TreeHasTwiceRanksLessOneStepsPerChannelAndChunk) {
  record("tree");
  if (HasFatalFailure())
    return;
  expectRows("TREE", "LL128");
  std::map<std::string, std::uint64_t> sends;  // by channel
  for (const RecordedStep& step : process_.steps) {
    const std::string& local = step.channel.local;
    const std::string channel = local.substr(local.find('/') + 1, 1);
    sends[channel] += step.receive ? 0 : 1;
  }
  constexpr std::uint64_t kSteps = 2 * (kRanks - 1) * kChunks;
  EXPECT_THAT(sends, ElementsAre(std::pair("0", kSteps), std::pair("1", kSteps)));
  expectEachSendHasItsReceive();
  expectTrueEnds();
}

INSTANTIATE_TEST_SUITE_P(Versions, NcclRanks, ::testing::Range(1, 7));

}  // namespace
}  // namespace sonde::test
