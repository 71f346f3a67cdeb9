#include "tests/support/spool_recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace sonde::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using wire::CollectiveOp;
using wire::Probe;

constexpr int kRanks = 3;

std::string target() {
  return SONDE_TARGETS "/gloo_collectives";
}

// The processes in the order of their ranks.
std::vector<RecordedProcess> runJob(Finished& finished,
                                    const std::vector<std::string>& settings = {}) {
  SpoolRecording recording;
  const TemporaryFolder store;
  std::string script;
  for (int rank = 0; rank < kRanks; ++rank)
    script += "RANK=" + std::to_string(rank) + " WORLD_SIZE=3 " + target() + " " +
              std::to_string(rank) + " 3 " + store.path().string() + " & ";
  finished = recording.run({"sh", "-c", script + "wait"}, settings);
  std::vector<RecordedProcess> ranks = recording.read();
  std::erase_if(ranks, [](const RecordedProcess& p) {
    return p.collectives.empty() && p.texts.count("gloo") == 0;
  });
  std::sort(ranks.begin(), ranks.end(), [](const RecordedProcess& a, const RecordedProcess& b) {
    return !a.collectives.empty() && !b.collectives.empty() &&
           a.collectives[0].position < b.collectives[0].position;
  });
  return ranks;
}

class GlooCollectives : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ranks_ = runJob(finished_); }
  void SetUp() override {
    ASSERT_EQ(ranks_.size(), static_cast<std::size_t>(kRanks)) << finished_.err;
  }
  // The first group's call with this tag.
  static const RecordedCollective& call(std::size_t rank, std::uint64_t seq) {
    static const RecordedCollective none;
    for (const RecordedCollective& row : ranks_.at(rank).collectives) {
      if (row.key == "gloo:3:0" && row.seq == seq)
        return row;
    }
    return none;
  }
  static std::vector<RecordedProcess> ranks_;
  static Finished finished_;
};
std::vector<RecordedProcess> GlooCollectives::ranks_;
Finished GlooCollectives::finished_;

TEST_F(GlooCollectives, ExceptionsOfGlooReachTheCaller) {
  EXPECT_EQ(finished_.out, "caught\n");
}

TEST_F(GlooCollectives, EveryCallIsOneRowOnEveryRank) {
  for (const RecordedProcess& rank : ranks_) {
    EXPECT_EQ(rank.collectives.size(), 20u);
    EXPECT_EQ(rank.lost(Probe::Gloo), 0u);
    for (const RecordedCollective& row : rank.collectives)
      EXPECT_LE(row.begin, row.end);
  }
}

TEST_F(GlooCollectives, AmountsAreThoseOfTheCall) {
  struct Expected {
    std::uint64_t seq;
    CollectiveOp op;
    const char* name;
    std::uint64_t bytes;
    std::vector<std::uint64_t> send;  // by rank
    std::vector<std::uint64_t> receive;
    int root;
  };
  const Expected table[] = {
      {1,
       CollectiveOp::Allreduce,
       "gloo:all_reduce",
       4000,
       {4000, 4000, 4000},
       {4000, 4000, 4000},
       -1},
      {2, CollectiveOp::Allreduce, "gloo:all_reduce", 256, {256, 256, 256}, {256, 256, 256}, -1},
      {3, CollectiveOp::Allgather, "gloo:all_gather", 120, {40, 40, 40}, {120, 120, 120}, -1},
      {4, CollectiveOp::Allgather, "gloo:all_gather_v", 48, {8, 16, 24}, {48, 48, 48}, -1},
      {5, CollectiveOp::Alltoall, "gloo:all_to_all", 96, {96, 96, 96}, {96, 96, 96}, -1},
      {7, CollectiveOp::Broadcast, "gloo:broadcast", 400, {0, 400, 0}, {400, 0, 400}, 1},
      {8, CollectiveOp::Gather, "gloo:gather", 1200, {400, 400, 400}, {1200, 0, 0}, 0},
      {9, CollectiveOp::Reduce, "gloo:reduce", 400, {400, 400, 400}, {0, 400, 0}, 1},
      {10, CollectiveOp::Scatter, "gloo:scatter", 1200, {1200, 0, 0}, {400, 400, 400}, 0},
      {11, CollectiveOp::Barrier, "gloo:barrier", 0, {0, 0, 0}, {0, 0, 0}, -1},
  };
  for (const Expected& expected : table) {
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      SCOPED_TRACE(std::string(expected.name) + " on rank " + std::to_string(rank));
      const RecordedCollective& row = call(rank, expected.seq);
      EXPECT_EQ(row.op, expected.op);
      EXPECT_EQ(row.name, expected.name);
      EXPECT_EQ(row.bytes, expected.bytes);
      EXPECT_EQ(row.sendBytes, expected.send[rank]);
      EXPECT_EQ(row.recvBytes, expected.receive[rank]);
      EXPECT_EQ(row.root, expected.root);
    }
  }
}

TEST_F(GlooCollectives, UnequalExchangeHasEachRanksAmounts) {
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    const RecordedCollective& row = call(rank, 6);
    EXPECT_EQ(row.sendBytes, 24u);
    EXPECT_EQ(row.recvBytes, 12 * (rank + 1));
    EXPECT_EQ(row.bytes, std::max<std::uint64_t>(24, 12 * (rank + 1)));
  }
}

TEST_F(GlooCollectives, AlgorithmIsTheOneChosen) {
  EXPECT_EQ(call(0, 1).algorithm, "ring");
  EXPECT_EQ(call(0, 2).algorithm, "bcube");
}

TEST_F(GlooCollectives, CommunicatorOfTheWholeJobKnowsItsRanks) {
  for (int rank = 0; rank < kRanks; ++rank) {
    const RecordedCollective& row = call(static_cast<std::size_t>(rank), 1);
    EXPECT_EQ(row.size, kRanks);
    EXPECT_EQ(row.position, rank);
    EXPECT_THAT(row.members, ElementsAre(0, 1, 2));
  }
}

TEST_F(GlooCollectives, CallsWithoutATagStayApart) {
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    for (const std::uint64_t seq : {0ull, 1ull << 32, 2ull << 32})
      EXPECT_EQ(call(rank, seq).bytes, 64u) << rank << " " << seq;
  }
}

TEST_F(GlooCollectives, GroupsThatComeAndGoAreDifferentCommunicators) {
  for (const RecordedProcess& rank : ranks_) {
    for (const char* key : {"the group", "the group#2", "the group#3"}) {
      std::vector<std::uint64_t> bytes;
      for (const RecordedCollective& row : rank.collectives) {
        if (row.key == key)
          bytes.push_back(row.bytes);
      }
      EXPECT_THAT(bytes, ElementsAre(128u, 0u)) << key;
    }
  }
}

TEST_F(GlooCollectives, AreTheSameOfALibraryThatHasToProveItsLayout) {
  Finished finished;
  const std::vector<RecordedProcess> ranks =
      runJob(finished, {"SONDE_TEST_GLOO_BUILD_ID=0123456789"});
  EXPECT_EQ(finished.out, "caught\n");
  ASSERT_EQ(ranks.size(), static_cast<std::size_t>(kRanks));
  const auto facts = [](const RecordedProcess& process) {
    std::vector<std::string> rows;
    for (const RecordedCollective& row : process.collectives)
      rows.push_back(row.name + " " + row.key + " " + std::to_string(row.seq) + " " +
                     std::to_string(row.bytes) + " " + std::to_string(row.sendBytes) + " " +
                     std::to_string(row.recvBytes) + " " + std::to_string(row.root));
    return rows;
  };
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(facts(ranks[rank]), facts(ranks_[rank]));
    EXPECT_EQ(ranks[rank].texts.count("gloo"), 0u);
  }
}

TEST(GlooProbe, SaysWhenLibtorchKeepsItsGlooToItself) {
  SpoolRecording recording;
  const std::vector<std::string> words = {SONDE_TARGETS "/load_library",
                                          SONDE_TARGETS "/libtorch_cpu.so"};
  ASSERT_EQ(recording.run(words, {"WORLD_SIZE=2"}).status, 0);
  ASSERT_EQ(recording.run(words, {"WORLD_SIZE=1"}).status,
            0);  // not a distributed job: nothing to report
  std::vector<std::string> said;
  for (const RecordedProcess& process : recording.read()) {
    if (const auto text = process.texts.find("gloo"); text != process.texts.end())
      said.push_back(text->second);
  }
  EXPECT_THAT(said, ElementsAre(HasSubstr("not available: this libtorch keeps its Gloo")));
}

TEST(GlooProbe, AGroupThatHadNoRoomIsDefinedWhenThereIs) {
  SpoolRecording recording;
  ASSERT_EQ(recording.run({SONDE_TARGETS "/gloo_when_full"}, {"RANK=0", "WORLD_SIZE=1"}).status, 0);
  const std::vector<RecordedProcess> processes = recording.read();
  ASSERT_EQ(processes.size(), 1u);
  ASSERT_EQ(processes[0].collectives.size(), 2u);
  EXPECT_EQ(processes[0].lost(Probe::Gloo), 1u);
  for (const RecordedCollective& row : processes[0].collectives) {
    EXPECT_EQ(row.key, "gloo:1:0");
    EXPECT_THAT(row.members, ElementsAre(0));
  }
}

TEST(GlooProbe, OnlyForwardsToAGlooWhoseOptionsAreNotWhatTheyShouldBe) {
  SpoolRecording recording;
  const Finished finished =
      recording.run({SONDE_TARGETS "/load_library", SONDE_TARGETS "/libgloo_inside.so"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.out, "inside\noptions\noptions\n");
  const std::vector<RecordedProcess> processes = recording.read();
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_TRUE(processes[0].collectives.empty());
  EXPECT_THAT(processes[0].texts.at("gloo"), HasSubstr("not recorded: "));
}

}  // namespace
}  // namespace sonde::test
