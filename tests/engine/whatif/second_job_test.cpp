// The questions about a second job on the same devices.
#include "analysis/engine/whatif/sharing/second_job.h"

#include "analysis/engine/whatif/ranks/ranks.h"
#include "analysis/engine/whatif/sharing/two_waves.h"
#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/programs.h"
#include "tests/jobsim/workloads.h"

#include <gmock/gmock.h>

#include <utility>
#include <variant>

namespace sonde::engine::whatif {
namespace {

using jobsim::Begin;
using jobsim::Compute;
using jobsim::dataParallelJob;
using jobsim::End;
using jobsim::Launch;
using jobsim::Ns;
using jobsim::Scope;
using jobsim::Synchronise;
using test::ask;
using test::refusal;
using test::SimulatedJob;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr Ns kUs = 1'000;

// A rank with one stream, whose thread does the same in each iteration.
jobsim::Job jobOf(int iterations, const std::vector<jobsim::Op>& iteration) {
  jobsim::Job job = jobsim::machinesFor(1, 1, 1);
  job.launchLatencyNs = 3 * kUs;
  jobsim::Thread thread{0, "python3", {}};
  for (int i = 0; i < iterations; ++i) {
    thread.program.push_back(Begin{Scope::Iteration, "step"});
    for (jobsim::Op op : iteration) {
      if (auto* block = std::get_if<jobsim::Allocate>(&op))
        block->block = i;
      if (auto* block = std::get_if<jobsim::Free>(&op))
        block->block = i;
      thread.program.push_back(std::move(op));
    }
    thread.program.push_back(End{});
  }
  job.threads = {thread};
  return job;
}

// us      0  10  20                     215       715 725 735           870
// thread  |k||l|----- synchronise ------|--host---|m||n|-- synchronise --|
// stream     13|---k---|113|---l---|213             728|--m--|828|n|868
jobsim::Job pausingJob() {
  return jobOf(4,
               {Launch{"k", 10 * kUs, 0, 100 * kUs},
                Launch{"l", 10 * kUs, 0, 100 * kUs},
                Synchronise{0, 2 * kUs},
                Compute{"host", 500 * kUs},
                Launch{"m", 10 * kUs, 0, 100 * kUs},
                Launch{"n", 10 * kUs, 0, 40 * kUs},
                Synchronise{0, 2 * kUs}});
}

// us      0  10                415        515
// thread  |k|-- synchronise ----|--host---|
// stream    13|-------k------|413
jobsim::Job busyJob() {
  return jobOf(4,
               {jobsim::Allocate{0, 1'000'000},
                Launch{"k", 10 * kUs, 0, 400 * kUs},
                Synchronise{0, 2 * kUs},
                jobsim::Free{0},
                Compute{"host", 100 * kUs}});
}

// The gap of 515 us counts, those of 13 and 2 us do not. The kernel m has half of a median kernel,
// 50 us, beside the second job's.
TEST(SecondJob, GetsTheGapsAndSlowsDownTheKernelBehind) {
  const Answer answer = ask(SimulatedJob(pausingJob()), {secondJob({.slowdown = 0.3})});
  EXPECT_NEAR(answer.baselineNs, 870 * kUs, 1);
  EXPECT_NEAR(answer.predictedNs, 885 * kUs, 1);
  EXPECT_LT(answer.lowNs, answer.predictedNs - 1 * kUs);
  EXPECT_THAT(answer.notes,
              Contains(HasSubstr("a second job gets 0.515 ms of a device in an iteration of 0.87 "
                                 "ms: 59.2 %")));
  EXPECT_THAT(answer.notes, Contains(HasSubstr("kernel, 100 us. 0.015 ms are in shorter gaps")));
  EXPECT_THAT(answer.notes,
              Contains(HasSubstr("0.983 times its throughput, and the second one 0.582 times that "
                                 "of a device of its own: 1.56 times together")));
}

TEST(SecondJob, CostsNothingIfItDoesNotSlowDownKernels) {
  const Answer answer = ask(SimulatedJob(pausingJob()), {secondJob({.slowdown = 0})});
  EXPECT_NEAR(answer.predictedNs, answer.baselineNs, 1);
}

TEST(SecondJob, SlowsKernelsDownAsCollectivesDo) {
  jobsim::DataParallel of = test::reducingJob();
  of.besidePercent = 125;
  const Answer answer = ask(SimulatedJob(dataParallelJob(of)), {secondJob({})});
  EXPECT_THAT(answer.notes, Contains(HasSubstr("longer, as beside collectives: measured")));
  EXPECT_EQ(refusal(pausingJob(), secondJob({})), ErrorCode::NotFound);
}

// The kernels of one fit into the pauses of the other.
TEST(TwoWaves, CostNothingWhereOneMeetsThePausesOfTheOther) {
  const Answer answer = ask(SimulatedJob(pausingJob()), {secondJob({.isWave = true})});
  EXPECT_NEAR(answer.predictedNs, 870 * kUs, 1);
  EXPECT_THAT(answer.notes, Contains(HasSubstr("2.00 times the throughput")));
}

// The first iteration is alone at first and ends at 515 us. Then each kernel waits for the other
// job's: 800 us for two kernels of 400.
TEST(TwoWaves, TakeTurnsOnTheDevice) {
  const Answer answer = ask(SimulatedJob(busyJob()), {secondJob({.isWave = true})});
  EXPECT_NEAR(answer.baselineNs, 515 * kUs, 1);
  EXPECT_NEAR(answer.predictedNs, (515 + 3 * 800) * kUs / 4, 1);
  EXPECT_THAT(answer.notes, Contains(HasSubstr("hold up to 2.0 MB, one holds 1.0 MB")));
}

// A device that is never idle does both one after the other.
TEST(TwoWaves, HaveNoMoreThroughputOnABusyDevice) {
  jobsim::DataParallel of;
  of.ranks = 2;
  of.iterations = 12;
  of.bucketBytes = 1'000;
  const Answer answer = ask(SimulatedJob(dataParallelJob(of)), {secondJob({.isWave = true})});
  EXPECT_NEAR(answer.predictedNs / answer.baselineNs, 2, 0.1);
}

TEST(TwoWaves, HoldTheMemoryOfBoth) {
  const std::vector<metrics::MemoryLevel> levels = {
      {0, 10}, {100, 30}, {200, 10}, {300, 30}, {400, 10}};
  EXPECT_EQ(peakOfTwo(levels, 10, 0), 60);
  EXPECT_EQ(peakOfTwo(levels, 10, 50), 60);
  EXPECT_EQ(peakOfTwo(levels, 10, 100), 40);
  EXPECT_EQ(peakOfTwo(levels, 10, 150), 60);
  EXPECT_EQ(peakOfTwo(levels, 10, 200), 60);
}

TEST(SecondJob, NeedsKernelsAndSettingsThatAgree) {
  EXPECT_EQ(refusal(jobsim::hostDataParallelJob({}), secondJob({.slowdown = 1})),
            ErrorCode::NotFound);
  EXPECT_EQ(refusal(jobsim::hostDataParallelJob({}), secondJob({.isWave = true})),
            ErrorCode::NotFound);
  EXPECT_EQ(refusal(pausingJob(), secondJob({.slowdown = -0.1})), ErrorCode::InvalidArgument);
  EXPECT_EQ(refusal(pausingJob(), secondJob({.slowdown = 0.1, .isWave = true})),
            ErrorCode::InvalidArgument);
  const SimulatedJob job(dataParallelJob(test::reducingJob()));
  for (const auto& questions :
       {std::vector<Question>{ranks({.count = 8}), secondJob({.isWave = true})},
        std::vector<Question>{secondJob({.isWave = true}), ranks({.count = 8})}}) {
    const auto found = answer(job.database(), job.trace(), questions);
    EXPECT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::InvalidArgument);
  }
}

}  // namespace
}  // namespace sonde::engine::whatif
