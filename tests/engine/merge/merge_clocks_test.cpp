// The clocks of the hosts of merged traces.
#include "tests/engine/merge/merge_rig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::engine::merge {
namespace {

using test::must;
using test::number;
using test::rank;
using test::TrainingRun;
using ::testing::Contains;
using ::testing::HasSubstr;

class MergeClocks : public test::MergeRig {};

// The sends and receives of the ranks are 1 ms long and were at the same times.
TEST_F(MergeClocks, AlignsTheClocksOfHosts) {
  TrainingRun there = rank(1);
  there.bootId = there.hostName = "host-b";
  there.beginNs += 3'000'000;
  const store::Database job = mergeAll({write("a.sonde", rank(0)), write("b.sonde", there)});
  EXPECT_EQ(number(job, "SELECT count(*) FROM clock_map"), 2);
  EXPECT_EQ(number(job, "SELECT offset_ns FROM clock_map WHERE host_id = 2"), -3'000'000);
  EXPECT_EQ(number(job, "SELECT drift_ppb FROM clock_map WHERE host_id = 2"), 0);
  EXPECT_EQ(number(job, "SELECT offset_ns FROM clock_map WHERE host_id = 1"), 0);
  // The tables keep their times. The views and the origin have those of the job.
  EXPECT_EQ(number(job, "SELECT count(DISTINCT start_ns) FROM iteration"), 60);
  EXPECT_EQ(number(job, "SELECT count(DISTINCT start_ns) FROM v_iteration"), 30);
  EXPECT_EQ(number(job,
                   "SELECT min(start_ns) - (SELECT CAST(value AS INTEGER) FROM meta WHERE key = "
                   "'origin_ns') FROM v_process"),
            0);
  ASSERT_EQ(summary_.alignment.hosts.size(), 2);
  EXPECT_EQ(summary_.alignment.hosts[1].messages, 120);
  EXPECT_EQ(summary_.alignment.worstResidualNs(), 0);
}

TEST_F(MergeClocks, OneHostNeedsNoClockMap) {
  const store::Database job = mergeAll({write("a.sonde", rank(0)), write("b.sonde", rank(1))});
  EXPECT_EQ(number(job, "SELECT count(*) FROM clock_map"), 0);
}

// A receive that is over before its send began.
TEST_F(MergeClocks, StoresNoMapOfTimesThatContradictEachOther) {
  TrainingRun there = rank(1);
  there.bootId = there.hostName = "host-b";
  const std::string b = write("b.sonde", there);
  {
    auto trace = must(store::Database::open(b, store::Access::ReadWrite));
    must(
        trace.exec("UPDATE transfer SET start_ns = start_ns - 70000000 WHERE id = (SELECT max(id) "
                   "FROM transfer WHERE direction = 'receive')"));
  }
  const store::Database job = mergeAll({write("a.sonde", rank(0)), b});
  EXPECT_EQ(number(job, "SELECT count(*) FROM clock_map"), 0);
  EXPECT_THAT(summary_.warnings,
              Contains(HasSubstr("'host-a' and 'host-b' contradict each other by")));
}

}  // namespace
}  // namespace sonde::engine::merge
