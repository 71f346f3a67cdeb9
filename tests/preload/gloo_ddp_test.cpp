// The Gloo probe under Debian's PyTorch: two ranks; compares the script's report of its calls with
// the records.
#include "tests/support/spool_recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

namespace sonde::test {
namespace {

using ::testing::ContainerEq;
using ::testing::ElementsAre;
using ::testing::SizeIs;

// The output of one rank: bytes by group and operation, in order, and DDP's bucket sizes.
struct Said {
  std::map<std::pair<std::string, std::string>, std::vector<std::uint64_t>> calls;
  std::vector<std::uint64_t> buckets;
  std::vector<std::uint64_t> rebuiltBuckets;
};

std::vector<std::uint64_t> numbers(const std::string& commaSeparated) {
  std::vector<std::uint64_t> found;
  std::istringstream in(commaSeparated);
  for (std::string word; std::getline(in, word, ',');)
    found.push_back(std::stoull(word));
  return found;
}

Said parse(const std::string& text) {
  Said said;
  std::istringstream in(text);
  for (std::string group, operation, bytes; in >> group >> operation >> bytes;) {
    if (group == "buckets") {
      said.buckets = numbers(operation);
      said.rebuiltBuckets = numbers(bytes);
    } else {
      said.calls[{group, operation}].push_back(std::stoull(bytes));
    }
  }
  return said;
}

class GlooDdp : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const TemporaryFolder out;
    SpoolRecording recording;
    std::string script = "port=$((20000 + $$ % 20000)); ";
    for (const char* rank : {"0", "1"})
      script += std::string("RANK=") + rank +
                " WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port /usr/bin/python3 " +
                SONDE_TARGET_SOURCES "/gloo_ddp.py > " + (out / rank) + " & ";
    finished_ = recording.run({"sh", "-c", script + "wait"});
    said_[0] = parse(readText(out / "0"));
    said_[1] = parse(readText(out / "1"));
    for (RecordedProcess& process : recording.read()) {
      if (!process.collectives.empty())
        ranks_.push_back(std::move(process));
    }
    if (ranks_.size() == 2 && ranks_[0].collectives[0].position == 1)
      std::swap(ranks_[0], ranks_[1]);
  }
  // Not above: ctest says of tests whose suite has failed there that they were skipped.
  void SetUp() override {
    ASSERT_FALSE(said_[0].calls.empty()) << finished_.err;
    ASSERT_THAT(ranks_, SizeIs(2)) << finished_.err;
  }

  static std::vector<std::uint64_t> bytes(std::size_t rank,
                                          const std::string& key,
                                          const std::string& name) {
    std::map<std::uint64_t, std::uint64_t> bySeq;
    for (const RecordedCollective& row : ranks_.at(rank).collectives) {
      if (row.key == key && row.name == name)
        bySeq[row.seq] = row.bytes;
    }
    std::vector<std::uint64_t> values;
    for (const auto& [seq, value] : bySeq)
      values.push_back(value);
    return values;
  }

  static Finished finished_;
  static Said said_[2];
  static std::vector<RecordedProcess> ranks_;
};
Finished GlooDdp::finished_;
Said GlooDdp::said_[2];
std::vector<RecordedProcess> GlooDdp::ranks_;

TEST_F(GlooDdp, DirectCallsAreRowsInTheOrderOfTheProgram) {
  for (std::size_t rank = 0; rank < 2; ++rank) {
    for (const auto& [what, expected] : said_[rank].calls) {
      // DDP makes further calls on the default group.
      std::vector<std::uint64_t> recorded = bytes(rank, what.first, what.second);
      ASSERT_GE(recorded.size(), expected.size()) << what.first << " " << what.second;
      recorded.resize(expected.size());
      EXPECT_THAT(recorded, ContainerEq(expected)) << what.first << " " << what.second;
    }
    EXPECT_THAT(bytes(rank, "gloo:2:1", "gloo:all_reduce"), ElementsAre(4000u));
  }
}

TEST_F(GlooDdp, EveryBucketIsAnAllreduceOfItsSize) {
  for (std::size_t rank = 0; rank < 2; ++rank) {
    std::vector<std::uint64_t> recorded = bytes(rank, "gloo:2:0", "gloo:all_reduce");
    const std::size_t direct = said_[rank].calls.at({"gloo:2:0", "gloo:all_reduce"}).size();
    recorded.erase(recorded.begin(), recorded.begin() + static_cast<std::ptrdiff_t>(direct));
    std::vector<std::uint64_t> expected = said_[rank].buckets;
    EXPECT_GT(said_[rank].rebuiltBuckets.size(), 1u);
    for (int iteration = 1; iteration < 5; ++iteration)
      expected.insert(
          expected.end(), said_[rank].rebuiltBuckets.begin(), said_[rank].rebuiltBuckets.end());
    std::sort(recorded.begin(), recorded.end());
    std::sort(expected.begin(), expected.end());
    EXPECT_THAT(recorded, ContainerEq(expected));
  }
}

TEST_F(GlooDdp, SequenceNumbersJoinTheRanks) {
  using Row = std::tuple<std::string, std::uint64_t, std::string, std::uint64_t>;
  std::set<Row> rows[2];
  for (std::size_t rank = 0; rank < 2; ++rank) {
    for (const RecordedCollective& row : ranks_[rank].collectives)
      EXPECT_TRUE(rows[rank].insert({row.key, row.seq, row.name, row.bytes}).second)
          << row.key << " " << row.seq;
  }
  EXPECT_THAT(rows[0], ContainerEq(rows[1]));
}

TEST_F(GlooDdp, AsynchronousCallsRanOnSeveralThreads) {
  std::set<std::uint32_t> threads;
  for (const RecordedCollective& row : ranks_[0].collectives)
    threads.insert(row.thread);
  EXPECT_GE(threads.size(), 2u);
}

TEST_F(GlooDdp, GroupsKnowTheirMembers) {
  for (int rank = 0; rank < 2; ++rank) {
    const auto& rows = ranks_.at(static_cast<std::size_t>(rank)).collectives;
    EXPECT_FALSE(rows.empty());
    for (const RecordedCollective& row : rows) {
      EXPECT_EQ(row.position, rank);
      EXPECT_THAT(row.members, ElementsAre(0, 1));
    }
  }
}

}  // namespace
}  // namespace sonde::test
