// Calls of NCCL that both its API and the profiler interface report, where one of them has no
// record for the other to join.
#include "collector/wire/nccl_records.h"
#include "tests/support/spool_recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace sonde::test {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

RecordedProcess recordingOf(int version, const char* name) {
  SpoolRecording recording;
  const Finished finished =
      recording.run({SONDE_TARGETS "/nccl_both", std::to_string(version), name});
  EXPECT_EQ(finished.status, 0) << finished.err;
  return recording.read().at(0);
}

class NcclPaused : public ::testing::TestWithParam<int> {
 protected:
  const RecordedProcess process_ = recordingOf(GetParam(), "paused");
};

TEST_P(NcclPaused, NumbersGoOnWhereRanksThatWereNotPausedHaveThem) {
  constexpr std::uint64_t kByGraph = std::uint64_t{1} << 62;
  std::vector<std::uint64_t> reduced;
  std::vector<std::uint64_t> sent;
  std::vector<std::uint64_t> launched;
  for (const RecordedCollective& row : process_.collectives) {
    auto& numbers = row.op == wire::CollectiveOp::Send ? sent
                    : row.seq < kByGraph               ? reduced
                                                       : launched;
    numbers.push_back(row.seq);
  }
  EXPECT_THAT(reduced, ElementsAre(4, 32 + 4, 3 * 32 + 4));
  EXPECT_THAT(sent, ElementsAre(0, 2));
  EXPECT_THAT(launched, ElementsAre(kByGraph + 4, kByGraph + 68));
  EXPECT_EQ(process_.lost(wire::Probe::Nccl), 0u);
}

TEST_P(NcclPaused, WhatIsToldLaterOfACallThatIsNotRecordedIsOfNone) {
  std::set<std::uint64_t> known = {0};
  for (const RecordedCollective& row : process_.collectives)
    known.insert(row.number);
  for (const auto& [number, end] : process_.ends)
    EXPECT_TRUE(known.contains(number)) << number;
  EXPECT_THAT(process_.ends, SizeIs(2));
  for (const RecordedStep& step : process_.steps)
    EXPECT_TRUE(known.contains(step.collective)) << step.collective;
}

INSTANTIATE_TEST_SUITE_P(Versions, NcclPaused, ::testing::Range(1, 7));

TEST(NcclFull, ACallThatFindsNoRoomHasItsNumberOnce) {
  const RecordedProcess process = recordingOf(6, "full");
  std::vector<std::uint64_t> sent;
  for (const RecordedCollective& row : process.collectives) {
    if (row.op == wire::CollectiveOp::Send)
      sent.push_back(row.seq);
  }
  EXPECT_THAT(sent, ElementsAre(0, 2));
  EXPECT_EQ(process.lost(wire::Probe::Nccl), 1u);
}

}  // namespace
}  // namespace sonde::test
