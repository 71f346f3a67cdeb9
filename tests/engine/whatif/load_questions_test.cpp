// Questions about loads that follow each other, and loads that other ranks take part in.
#include "analysis/engine/whatif/compute/accumulation.h"
#include "analysis/engine/whatif/compute/batch_size.h"
#include "analysis/engine/whatif/load_cache.h"
#include "analysis/engine/whatif/loader_workers.h"
#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/workloads.h"

#include <gtest/gtest.h>

#include <utility>
#include <variant>
#include <vector>

namespace sonde::engine::whatif {
namespace {

using jobsim::Ns;
using test::ask;
using test::meanNs;
using test::refusal;
using test::SimulatedJob;

constexpr Ns kTakingNs = 200'000;  // which the question assumes where the trace has no workers

// `takeNs`: to take a batch from a worker.
jobsim::Job loaderOf(int workers, Ns batchNs, Ns takeNs = 0) {
  jobsim::Loader of;
  of.workers = workers;
  of.prefetch = workers;  // a worker has one in the queue, and one that it works on
  of.iterations = 200;
  of.batchNs = batchNs;
  of.stepNs += takeNs;
  return jobsim::loaderJob(of);
}

void expectAnswer(const jobsim::Job& now,
                  const jobsim::Job& then,
                  const std::vector<Question>& questions) {
  const double truth = meanNs(SimulatedJob(then));
  const Answer answer = ask(SimulatedJob(now), questions);
  EXPECT_GT(std::abs(answer.baselineNs / truth - 1), 0.05);  // or the questions are idle
  EXPECT_NEAR(answer.predictedNs / truth, 1, 0.01);
}

// Half of the batches take no time: 8 ms become 4 ms.
TEST(LoadQuestions, WorkersLoadBatchesOfACache) {
  const Question cache = loadCache({.hit = 0.5});
  const auto asked = [&](int workers) { return std::vector{cache, loaderWorkers(workers)}; };
  expectAnswer(loaderOf(0, 8'000'000), loaderOf(1, 4'000'000), asked(1));
  expectAnswer(loaderOf(0, 8'000'000), loaderOf(4, 4'000'000, kTakingNs), asked(4));
  expectAnswer(loaderOf(3, 8'000'000), loaderOf(1, 4'000'000), asked(1));
  expectAnswer(loaderOf(2, 8'000'000), loaderOf(0, 4'000'000), asked(0));
}

// 8 ms become 5 ms, and then 3.5 ms.
TEST(LoadQuestions, ACacheFollowsAnotherOne) {
  const Question cache = loadCache({.hit = 0.5, .hitNs = 2'000'000});
  for (const int workers : {0, 1})
    expectAnswer(loaderOf(workers, 8'000'000), loaderOf(workers, 3'500'000), {cache, cache});
}

// Data-parallel ranks that load a batch before each forward pass. No thread begins in a load, as
// those of loaders may.
jobsim::Job loadingRanks(const jobsim::DataParallel& of, int workers, Ns batchNs, Ns takeNs = 0) {
  jobsim::Job job = jobsim::hostDataParallelJob(of);
  const std::vector<jobsim::Thread> threads = std::exchange(job.threads, {});
  for (const jobsim::Thread& each : threads) {
    jobsim::Thread changed{each.rank, each.name, {jobsim::Compute{"begin", 100'000}}};
    const auto queue = static_cast<int>(job.queueLengths.size());
    int batches = 0;
    for (const jobsim::Op& op : each.program) {
      const auto* begin = std::get_if<jobsim::Begin>(&op);
      if (begin != nullptr && begin->name == "forward") {
        changed.program.push_back(jobsim::Begin{jobsim::Scope::Load, "data"});
        if (workers == 0)
          changed.program.push_back(jobsim::Compute{"decode", batchNs});
        else
          changed.program.push_back(jobsim::Take{queue});
        if (takeNs > 0)
          changed.program.push_back(jobsim::Compute{"take", takeNs});
        changed.program.push_back(jobsim::End{});
        ++batches;
      }
      changed.program.push_back(op);
    }
    job.threads.push_back(std::move(changed));
    if (batches == 0 || workers == 0)
      continue;
    job.queueLengths.push_back(workers);
    for (int worker = 0; worker < workers; ++worker) {
      jobsim::Thread loader{each.rank, "loader", {}};
      for (int batch = worker; batch < batches; batch += workers) {
        loader.program.push_back(jobsim::Compute{"decode", batchNs});
        loader.program.push_back(jobsim::Put{queue});
      }
      job.threads.push_back(std::move(loader));
    }
  }
  return job;
}

jobsim::DataParallel shortSteps() {
  jobsim::DataParallel of;
  of.ranks = 2;
  of.iterations = 60;
  of.layers = 4;
  of.buckets = 2;
  of.bucketBytes = 100'000;
  of.optimizerNs = 100'000;
  return of;
}

TEST(LoadQuestions, WorkersLoadLargerBatches) {
  const jobsim::DataParallel now = shortSteps();
  jobsim::DataParallel then = now;
  then.forwardNs *= 4;
  then.backwardNs *= 4;
  const std::vector<Question> asked{batchSize({.factor = 4}), loaderWorkers(2)};
  expectAnswer(
      loadingRanks(now, 0, 6'000'000), loadingRanks(then, 2, 24'000'000, kTakingNs), asked);
  expectAnswer(loadingRanks(now, 1, 6'000'000), loadingRanks(then, 2, 24'000'000), asked);
}

// The simulated workers load single micro-batches, which shows at the begin and at the end.
TEST(LoadQuestions, WorkersLoadForAllMicroBatches) {
  jobsim::DataParallel now = shortSteps();
  now.iterations = 200;
  jobsim::DataParallel then = now;
  then.microbatches = 4;
  const std::vector<Question> asked{accumulation(4), loaderWorkers(2)};
  expectAnswer(loadingRanks(now, 0, 6'000'000), loadingRanks(then, 2, 6'000'000, kTakingNs), asked);
  expectAnswer(loadingRanks(now, 1, 6'000'000), loadingRanks(then, 2, 6'000'000), asked);
  expectAnswer(
      loadingRanks(now, 0, 6'000'000), loadingRanks(then, 0, 6'000'000), {accumulation(4)});
}

// Rank 0 loads for rank 1, and sends it the batch.
jobsim::Job sendingBatches(Ns decodeNs) {
  jobsim::Job job;
  job.machines = {{.name = "host0"}};
  job.ranks = {{.machine = 0}, {.machine = 0}};
  for (const int rank : {0, 1}) {
    jobsim::Thread main{rank, "python3", {}};
    for (int iteration = 0; iteration < 20; ++iteration) {
      main.program.push_back(jobsim::Begin{jobsim::Scope::Iteration, "step"});
      main.program.push_back(jobsim::Begin{jobsim::Scope::Load, "data"});
      if (rank == 0) {
        main.program.push_back(jobsim::Compute{"decode", decodeNs});
        main.program.push_back(jobsim::Send{1, 1, 1'000'000, 10'000});
      } else {
        main.program.push_back(jobsim::Receive{0, 1});
      }
      main.program.push_back(jobsim::End{});
      main.program.push_back(jobsim::Compute{"train", 2'000'000});
      main.program.push_back(jobsim::End{});
    }
    job.threads.push_back(std::move(main));
  }
  return job;
}

// The training of rank 0 stays, though rank 1 waits for that thread in its loads. The call that
// sends is in the load, too.
TEST(LoadQuestions, AreNotAboutOtherRanks) {
  expectAnswer(sendingBatches(3'000'000), sendingBatches(0), {loadCache({})});
  expectAnswer(sendingBatches(3'000'000), sendingBatches(1'500'000), {loadCache({.hit = 0.5})});
}

// Whichever is asked first: the batches of the new workers are larger, too.
TEST(LoadQuestions, OfBatchesMayFollowWorkers) {
  const jobsim::DataParallel of = shortSteps();
  const std::vector<Question> others{batchSize({.factor = 4}), accumulation(3)};
  for (const int workers : {1, 3}) {
    const SimulatedJob job(loadingRanks(of, workers, 6'000'000));
    for (const Question& other : others) {
      const double before = ask(job, {other, loaderWorkers(4)}).predictedNs;
      EXPECT_NEAR(ask(job, {loaderWorkers(4), other}).predictedNs, before, 10);
      EXPECT_NEAR(ask(job, {loaderWorkers(2), loaderWorkers(4), other}).predictedNs, before, 10);
    }
  }
  const Question cache = loadCache({.hit = 0.5, .hitNs = 2'000'000});
  expectAnswer(loaderOf(0, 8'000'000), loaderOf(2, 5'000'000), {loaderWorkers(2), cache});
  expectAnswer(loaderOf(3, 8'000'000), loaderOf(2, 5'000'000), {loaderWorkers(2), cache});
}

TEST(LoadQuestions, OfBatchesComeBeforeTheEndOfWorkers) {
  EXPECT_EQ(refusal(loaderOf(2, 8'000'000),
                    [](Asking& asking) -> Result<void> {
                      SONDE_TRY(loaderWorkers(0)(asking));
                      return loadCache({})(asking);
                    }),
            ErrorCode::InvalidArgument);
}

}  // namespace
}  // namespace sonde::engine::whatif
