// NCCL's disorderly behaviour towards a profiler plugin, through each version of the interface.
#include "collector/wire/nccl_records.h"
#include "tests/support/spool_recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nccl/err.h>
#include <nccl/profiler.h>

#include <cstdlib>
#include <numeric>
#include <set>
#include <string>

namespace sonde::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint64_t kByGraph = std::uint64_t{1} << 62;

class NcclTraps : public ::testing::TestWithParam<int> {
 protected:
  void spring(const std::string& trap, const std::vector<std::string>& settings = {}) {
    const Finished finished =
        recording_.run({SONDE_TARGETS "/nccl_traps", std::to_string(GetParam()), trap}, settings);
    ASSERT_EQ(finished.status, 0) << finished.err;
    said_ = finished.out;
    const std::vector<RecordedProcess> processes = recording_.read();
    ASSERT_THAT(processes, SizeIs(1));
    process_ = processes[0];
    ASSERT_EQ(process_.lost(wire::Probe::Nccl), 0u);
  }

  std::uint64_t mark(const std::string& name) const {
    for (const RecordedSlice& slice : process_.marks)
      if (slice.name == name)
        return slice.begin;
    ADD_FAILURE() << "no mark " << name;
    return 0;
  }

  void expectEndAtTheLast() const {
    ASSERT_THAT(process_.collectives, SizeIs(1));
    const auto end = process_.ends.find(process_.collectives[0].number);
    ASSERT_NE(end, process_.ends.end());
    EXPECT_GT(end->second.ticks, mark("before the last"));
    EXPECT_LT(end->second.ticks, mark("after the last"));
    EXPECT_FALSE(end->second.unfinished);
  }

  std::vector<std::uint64_t> sequence() const {
    std::vector<std::uint64_t> numbers;
    for (const RecordedCollective& row : process_.collectives)
      numbers.push_back(row.seq);
    return numbers;
  }

  SpoolRecording recording_;
  RecordedProcess process_;
  std::string said_;
};

TEST_P(NcclTraps, ACollectiveEndsWithAChildThatStoppedBeforeIt) {
  spring("before");
  expectEndAtTheLast();
}

TEST_P(NcclTraps, ACollectiveEndsWithTheLastOfTheChildrenThatOutliveIt) {
  spring("after");
  expectEndAtTheLast();
  ASSERT_THAT(process_.steps, SizeIs(1));
  EXPECT_EQ(process_.steps[0].step, 5u);
  EXPECT_EQ(process_.steps[0].collective, process_.collectives[0].number);
}

TEST_P(NcclTraps, ACollectiveWhoseChildNeverStopsHasNoEnd) {
  spring("never");
  ASSERT_THAT(process_.collectives, SizeIs(1));
  EXPECT_TRUE(process_.ends.at(process_.collectives[0].number).unfinished);
  ASSERT_THAT(process_.steps, SizeIs(1));
  EXPECT_EQ(process_.steps[0].end, 0u);
}

TEST_P(NcclTraps, AnAbortedCommunicatorLeavesWhatIsKnown) {
  spring("aborted");
  ASSERT_THAT(process_.collectives, SizeIs(1));
  const RecordedCollective& row = process_.collectives[0];
  EXPECT_EQ(row.end, 0u);  // the call has not returned
  EXPECT_GE(process_.ends.at(row.number).ticks, row.begin);
  EXPECT_FALSE(process_.ends.at(row.number).unfinished);
  ASSERT_THAT(process_.steps, SizeIs(2));
  EXPECT_EQ(process_.steps[0].collective, row.number);
  EXPECT_NE(process_.steps[0].end, 0u);
  EXPECT_EQ(process_.steps[1].collective, 0u);
  EXPECT_EQ(process_.steps[1].end, 0u);
}

TEST_P(NcclTraps, TheParentsOfAnotherProcessAreNotTouched) {
  spring("foreign");
  EXPECT_THAT(process_.ends, IsEmpty());
  ASSERT_THAT(process_.steps, SizeIs(3));
  std::set<std::string> channels;
  for (const RecordedStep& step : process_.steps) {
    EXPECT_EQ(step.collective, 0u);
    EXPECT_EQ(step.channel.local.substr(0, 13), "nccl:process ");
    EXPECT_EQ(step.offset, 0u);
    channels.insert(step.channel.local);
  }
  EXPECT_THAT(channels, SizeIs(3));
}

TEST_P(NcclTraps, SendsHaveChannelsApartFromThoseOfCollectives) {
  spring("lanes");
  ASSERT_THAT(process_.steps, SizeIs(2));
  EXPECT_EQ(process_.steps[0].channel.local, "nccl:0000000000000077/0/0>1/send");
  EXPECT_EQ(process_.steps[1].channel.local, "nccl:0000000000000077/p2p/0/0>1/send");
  EXPECT_EQ(process_.steps[1].channel.remote, "nccl:0000000000000077/p2p/0/0>1/receive");
  for (std::size_t at = 0; at < 2; ++at) {
    EXPECT_EQ(process_.steps[at].collective, process_.collectives[at].number);
    EXPECT_EQ(process_.steps[at].offset, 0u);
    EXPECT_TRUE(process_.ends.contains(process_.collectives[at].number));
  }
}

// NCCL's number does not change while a graph is launched: 4 is 4 * 32 + 4 here. Before version 5
// no event shows which of them is the direct one.
TEST_P(NcclTraps, WhatAGraphLaunchesHasNumbersOfItsOwn) {
  spring("graph");
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  if (GetParam() >= 5)
    EXPECT_THAT(sequence(), ElementsAre(kByGraph + 4, kByGraph + 36, kByGraph + 68, 132, 164));
  else
    EXPECT_THAT(sequence(), ElementsAre(132, kNone, kNone, kNone, 164));
  for (std::size_t at = 0; at < 5; ++at)
    EXPECT_EQ((process_.collectives[at].flags & wire::Collective::kGraphCaptured) != 0,
              GetParam() >= 5 && at < 3);
}

TEST_P(NcclTraps, HoweverOftenAGraphIsLaunchedAmongDirectCallsEachHasItsNumber) {
  spring("graphs");
  if (GetParam() < 5)
    return;
  std::vector<std::uint64_t> expected;
  for (std::uint64_t at = 0; at < 33'000; ++at)
    expected.push_back(kByGraph + 32 * at + 4);
  for (std::uint64_t at = 0; at < 4; ++at)
    expected.insert(expected.end(), {32 * at + 4, kByGraph + 32 * (33'000 + at) + 4});
  EXPECT_EQ(sequence(), expected);
}

TEST_P(NcclTraps, NothingMayHaveAParentOrAHandle) {
  spring("null");
  EXPECT_EQ(said_, "0000\n");
  ASSERT_THAT(process_.steps, SizeIs(1));
  EXPECT_EQ(process_.steps[0].collective, 0u);
  EXPECT_THAT(process_.collectives, IsEmpty());
}

TEST_P(NcclTraps, StatesMayComeInAnyOrder) {
  spring("states");
  ASSERT_THAT(process_.steps, SizeIs(1));
  const RecordedStep& step = process_.steps[0];
  EXPECT_LE(step.begin, step.end);
  EXPECT_LT(step.end, mark("received"));
  EXPECT_EQ(step.bytes, GetParam() >= 4 ? 64u : 4096u);
  EXPECT_EQ(step.exact, GetParam() >= 4);
}

TEST_P(NcclTraps, AChildThatComesTooLateIsOfNone) {
  spring("late");
  ASSERT_THAT(process_.steps, SizeIs(1));
  EXPECT_EQ(process_.steps[0].collective, 0u);
  EXPECT_THAT(process_.ends, IsEmpty());
  EXPECT_EQ(process_.collectives.size(), 4097u);
}

TEST_P(NcclTraps, SendsAndReceivesAreCountedByPeerAndWay) {
  spring("peers");
  EXPECT_THAT(sequence(), ElementsAre(0, 0, 1));
  for (const RecordedCollective& row : process_.collectives) {
    EXPECT_EQ(row.peer, 1);
    EXPECT_EQ(row.bytes, 4096u);
  }
  EXPECT_EQ(process_.collectives[1].op, wire::CollectiveOp::Receive);
}

// Events that are new in version 3.
class NcclNewerTraps : public NcclTraps {};

TEST_P(NcclNewerTraps, KernelChannelsEndACollectiveToo) {
  spring("kernels", {"SONDE_NCCL_KERNEL_CHANNELS=1"});
  expectEndAtTheLast();
}

TEST_P(NcclNewerTraps, NetworkPluginsTellTheBytesOfSends) {
  spring("network");
  ASSERT_THAT(process_.steps, SizeIs(1));
  EXPECT_EQ(process_.steps[0].bytes, 333u);
  EXPECT_TRUE(process_.steps[0].exact);
}

TEST_P(NcclTraps, SizesAreThoseOfNcclTests) {
  spring("functions");
  ASSERT_GE(process_.collectives.size(), 4u);
  const bool sizeKnown = GetParam() != 3;  // version 3 reports neither ranks nor traffic
  const std::uint64_t all = sizeKnown ? 80 : wire::Collective::kUnknownBytes;
  const auto expect =
      [&](std::size_t at, std::uint64_t bytes, std::uint64_t send, std::uint64_t receive) {
        EXPECT_EQ(process_.collectives[at].bytes, bytes) << process_.collectives[at].name;
        EXPECT_EQ(process_.collectives[at].sendBytes, send) << process_.collectives[at].name;
        EXPECT_EQ(process_.collectives[at].recvBytes, receive) << process_.collectives[at].name;
      };
  expect(0, all, 40, all);
  expect(1, all, all, 40);
  expect(2, 40, 0, 40);
  expect(3, 40, 40, 0);
  EXPECT_EQ(process_.collectives[2].root, 1);
  if (GetParam() == 6) {
    ASSERT_THAT(process_.collectives, SizeIs(5));
    EXPECT_EQ(process_.collectives[4].algorithm, "CE");
    EXPECT_EQ(process_.collectives[4].seq, 16u + 4);
  }
}

TEST_P(NcclTraps, AsksForWhatItUses) {
  spring("mask");
  int mask = ncclProfileColl | ncclProfileP2p | ncclProfileProxyOp | ncclProfileProxyStep;
  mask |= GetParam() >= 3 ? ncclProfileNetPlugin : 0;
  mask |= GetParam() >= 6 ? ncclProfileCeColl : 0;
  EXPECT_EQ(said_, std::to_string(mask) + " 1\n");
}

TEST_P(NcclTraps, AsksForKernelChannelsWhenTold) {
  spring("mask", {"SONDE_NCCL_KERNEL_CHANNELS=1"});
  EXPECT_EQ((std::stoi(said_) & ncclProfileKernelCh) != 0, GetParam() >= 3);
}

TEST_P(NcclTraps, AsksForNothingWhenItIsNoSource) {
  recording_.setProbes(1u << static_cast<unsigned>(wire::Probe::Annotation));
  spring("mask");
  EXPECT_EQ(said_, "0 0\n");
}

INSTANTIATE_TEST_SUITE_P(Versions, NcclTraps, ::testing::Range(1, 7));
INSTANTIATE_TEST_SUITE_P(Versions, NcclNewerTraps, ::testing::Range(3, 7));

TEST(NcclPools, AFunctionThatIsNotKnownIsCounted) {
  SpoolRecording recording;
  const Finished finished = recording.run({SONDE_TARGETS "/nccl_traps", "4", "unknown"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(recording.read().at(0).lost(wire::Probe::Nccl), 1u);
}

TEST(NcclPools, TheChannelsOfCommunicatorsThatGoInAnotherProcessGoWithThem) {
  SpoolRecording recording;
  const Finished finished = recording.run({SONDE_TARGETS "/nccl_traps", "6", "generations"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const RecordedProcess process = recording.read().at(0);
  ASSERT_THAT(process.steps, SizeIs(2));
  EXPECT_NE(process.steps[0].channel.local, process.steps[1].channel.local);
  EXPECT_EQ(process.steps[1].offset, 0u);
  EXPECT_EQ(process.lost(wire::Probe::Nccl), 0u);
}

TEST(NcclPools, OneCommunicatorTooManyDoesNotSilenceTheOthers) {
  SpoolRecording recording;
  const Finished finished = recording.run({SONDE_TARGETS "/nccl_traps", "6", "many"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.out, "600 1 0\n");
  EXPECT_EQ(recording.read().at(0).lost(wire::Probe::Nccl), 89u + 1);  // and a call of one
}

TEST(NcclPools, TheStepsOfAnOperationThatFindsNoRoomAreCounted) {
  SpoolRecording recording;
  const Finished finished = recording.run({SONDE_TARGETS "/nccl_traps", "6", "operations"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const RecordedProcess process = recording.read().at(0);
  EXPECT_EQ(process.lost(wire::Probe::Nccl), 2u * (20'000 - 16'384));
  EXPECT_EQ(process.steps.size(), 16'384u);
}

// The pools hold 4,096 calls and 32,768 steps.
TEST(NcclPools, WhatFindsNoRoomIsCounted) {
  SpoolRecording recording;
  const Finished finished = recording.run({SONDE_TARGETS "/nccl_traps", "6", "exhausted"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.out, "4096 32768 1\n");
  const std::vector<RecordedProcess> processes = recording.read();
  ASSERT_THAT(processes, SizeIs(1));
  EXPECT_EQ(processes[0].lost(wire::Probe::Nccl), 5000u - 4096 + 40000 - 32768);
  EXPECT_EQ(processes[0].steps.size(), 32768u);
}

std::uint64_t lostOf(const RecordedProcess& process, wire::RecordKind kind) {
  const auto& reasons =
      process.losses[static_cast<std::size_t>(wire::Probe::Nccl)][static_cast<std::size_t>(kind)];
  return std::accumulate(reasons.begin(), reasons.end(), std::uint64_t{0});
}

// The output and the records of a race that ended without errors.
RecordedProcess afterRace(const char* name, std::uint64_t& said) {
  SpoolRecording recording;
  const Finished finished = recording.run({SONDE_TARGETS "/nccl_races", name});
  EXPECT_EQ(finished.status, 0) << finished.err;
  said = std::strtoull(finished.out.c_str(), nullptr, 10);
  return recording.read().at(0);
}

TEST(NcclRaces, EachStepThatBeginsWhileItsOperationStopsIsRecordedOrCounted) {
  std::uint64_t begun = 0;
  const RecordedProcess process = afterRace("steps", begun);
  EXPECT_GT(begun, 0u);
  EXPECT_EQ(process.steps.size() + process.lost(wire::Probe::Nccl), begun);
}

TEST(NcclRaces, EachCallWhileItsCommunicatorIsAbortedIsRecordedOrCounted) {
  std::uint64_t calls = 0;
  const RecordedProcess process = afterRace("aborts", calls);
  EXPECT_GT(calls, 0u);
  EXPECT_EQ(process.collectives.size() + lostOf(process, wire::RecordKind::Collective), calls);
}

TEST(NcclRaces, EachCallIsToldOfOnce) {
  std::uint64_t calls = 0;
  const RecordedProcess process = afterRace("tells", calls);
  EXPECT_EQ(process.lost(wire::Probe::Nccl), 0u);
  EXPECT_EQ(process.collectives.size(), calls);  // none by the plugin alone
}

}  // namespace
}  // namespace sonde::test
