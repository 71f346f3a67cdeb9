#include "tests/jobsim/workloads.h"

#include "analysis/store/read_rows.h"
#include "analysis/store/trace_file.h"
#include "tests/jobsim/simulation.h"
#include "tests/jobsim/write_trace.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace sonde::jobsim {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

// The lengths of a thread's iterations.
std::vector<Ns> iterationsOf(const History& history, int thread) {
  std::vector<Ns> lengths;
  Ns begin = 0;
  int depth = 0;
  for (const Step& step : history.steps) {
    if (step.thread != thread)
      continue;
    if (const auto* scope = std::get_if<Begin>(step.op)) {
      if (scope->scope == Scope::Iteration)
        begin = step.begin;
      ++depth;
    } else if (std::holds_alternative<End>(*step.op) && --depth == 0) {
      lengths.push_back(step.end - begin);
    }
  }
  return lengths;
}

// A job whose messages take no time.
Job withFreeMessages(Job job) {
  job.link = {};
  for (Thread& thread : job.threads)
    for (Op& op : thread.program)
      if (auto* send = std::get_if<Send>(&op)) {
        send->bytes = 0;
        send->callNs = 0;
      }
  return job;
}

TEST(Workloads, APipelineTakesAsLongAsItsBubble) {
  Pipeline of;
  of.iterations = 1;
  of.forwardNs = 1'000'000;
  of.backwardNs = 2'000'000;
  // The first stage begins first and ends last.
  EXPECT_THAT(iterationsOf(simulate(withFreeMessages(pipelineJob(of))), 0),
              ElementsAre((of.microbatches + of.stages - 1) * 3'000'000 + of.optimizerNs));
}

TEST(Workloads, AllForwardsFirstHaveTheSameBubble) {
  Pipeline of;
  const auto lengths = [&] { return iterationsOf(simulate(withFreeMessages(pipelineJob(of))), 0); };
  const auto oneF1B = lengths();
  of.schedule = PipelineSchedule::GPipe;
  EXPECT_EQ(lengths(), oneF1B);
}

// Only the first iteration fills the pipeline, and only the last one empties it.
TEST(Workloads, WithoutAFlushThereIsNoBubbleInBetween) {
  Pipeline of;
  of.schedule = PipelineSchedule::Async;
  of.iterations = 4;
  of.optimizerNs = 0;
  const auto lengths = iterationsOf(simulate(withFreeMessages(pipelineJob(of))), 0);
  EXPECT_THAT(std::vector<Ns>(lengths.begin() + 1, lengths.end()),
              ::testing::Each(of.microbatches * 3'000'000));
}

TEST(Workloads, InterleavingDividesTheBubbleByTheStagesOfARank) {
  InterleavedPipeline of;
  of.iterations = 1;
  for (const int stages : {1, 2, 4}) {
    of.stagesPerRank = stages;
    of.forwardNs = 1'000'000 / stages;
    of.backwardNs = 2'000'000 / stages;
    const Ns bubble = (of.ranks - 1) * 3'000'000 / stages;
    EXPECT_THAT(iterationsOf(simulate(withFreeMessages(interleavedPipelineJob(of))), 0),
                ElementsAre(of.microbatches * 3'000'000 + bubble + of.optimizerNs))
        << stages;
  }
}

// From the begin of an iteration until its first kernel begins, and after its last one.
constexpr Ns aroundKernels(Ns callNs) {
  return callNs + 3'000 + 2'000 + 1'000;
}

TEST(Workloads, AnExchangeThatIsLongerThanTheDenseLayersIsExposed) {
  Embedding of;
  of.iterations = 1;
  of.layerBytes = 0;
  of.exchangedBytes = 20'000'000;
  const Ns exchange =
      transferNs(embeddingJob(of).groups[0], Collective::Alltoall, of.exchangedBytes);
  ASSERT_GT(exchange, of.layers * 2 * of.layerNs);
  EXPECT_THAT(iterationsOf(simulate(embeddingJob(of)), 0),
              ElementsAre(aroundKernels(of.callNs) + of.lookupNs + 2 * exchange +
                          of.layers * 3 * of.layerNs + 2 * of.updateNs));
}

TEST(Workloads, AnExchangeThatIsShorterThanTheDenseLayersIsHidden) {
  Embedding of;
  of.iterations = 1;
  of.layerBytes = 0;
  of.exchangedBytes = 0;
  EXPECT_THAT(iterationsOf(simulate(embeddingJob(of)), 0),
              ElementsAre(aroundKernels(of.callNs) + of.lookupNs + of.layers * 6 * of.layerNs +
                          2 * of.updateNs));
}

TEST(Workloads, TensorParallelRanksWaitForEachResult) {
  TensorParallel of;
  of.iterations = 1;
  const Job job = tensorParallelJob(of);
  const Ns result = transferNs(job.groups[0], Collective::Allreduce, of.resultBytes);
  const Ns gradients = transferNs(job.groups.back(), Collective::Allreduce, of.gradientBytes);
  ASSERT_GT(gradients, of.backwardNs + result) << "each waits for the one before";
  EXPECT_THAT(iterationsOf(simulate(job), 0),
              ElementsAre(aroundKernels(of.callNs) + of.layers * (of.forwardNs + result) +
                          of.backwardNs + result + of.layers * gradients + of.optimizerNs));
}

TEST(Workloads, AStreamBeginsAChunkWhenThePreviousOneIsDoneWithIt) {
  Streams of;
  of.iterations = 1;
  EXPECT_THAT(iterationsOf(simulate(streamsJob(of)), 0),
              ElementsAre(aroundKernels(of.callNs) + (of.chunks + of.streams - 1) * of.kernelNs));
}

TEST(Workloads, CallsThatTakeLongerThanKernelsDetermineTheStep) {
  const DataParallel of = hostBound();
  ASSERT_GT(of.callNs, of.backwardNs);
  const Ns calls = (2 * of.layers + of.buckets) * of.callNs + of.buckets * 2 * of.callNs / 4;
  const Ns optimizer = 2 * of.callNs / 4 + of.callNs + 3'000 + of.optimizerNs + 2'000 + 1'000;
  EXPECT_THAT(iterationsOf(simulate(dataParallelJob(of)), 0), Each(calls + optimizer));
}

TEST(Workloads, ALoaderThatIsSlowerThanTheStepHoldsUpEachStep) {
  const Loader of{.workers = 1, .iterations = 5, .batchNs = 3'000'000, .stepNs = 2'000'000};
  const History history = simulate(loaderJob(of));
  EXPECT_THAT(iterationsOf(history, 0),
              ElementsAre(5'000'000, 3'000'000, 3'000'000, 3'000'000, 3'000'000));
}

TEST(Workloads, ADeviceIsBusyAllTheTimeIfTheGradientsAreHidden) {
  DataParallel of;
  of.ranks = 1;
  of.iterations = 1;
  of.buckets = 1;
  of.link = {};
  const History history = simulate(dataParallelJob(of));
  const Ns work = of.layers * (of.forwardNs + of.backwardNs) + of.optimizerNs;
  const Ns first = of.callNs + 3'000;  // until the first kernel arrives
  EXPECT_THAT(iterationsOf(history, 0), ElementsAre(first + work + 2'000 + 1'000));
}

TEST(Workloads, ASlowRankHoldsUpTheOthers) {
  DataParallel of;
  of.slowRank = 1;
  const History slow = simulate(dataParallelJob(of));
  of.slowRank = -1;
  const History even = simulate(dataParallelJob(of));
  EXPECT_GT(slow.endNs, even.endNs * 13 / 10);
  EXPECT_LT(slow.endNs, even.endNs * 15 / 10);
}

// Each of 2 (N - 1) steps passes a share on, and the first half of them adds one.
TEST(Workloads, ARingTakesItsStepsOneAfterTheOther) {
  const MessageAllreduce of{.ranks = 5, .chunks = 2, .iterations = 1};
  const Ns share = 5'000 + of.link.latencyNs + of.link.timeOf(of.bytes / of.ranks);
  const Ns chunk = 8 * share + 4 * (of.sumNs / of.ranks);
  EXPECT_THAT(iterationsOf(simulate(messageAllreduceJob(of)), 3),
              ElementsAre(of.computeNs + 2 * chunk + of.sumNs));
}

// Two levels up and two down. The root sends to its second child last, and this one does the same.
TEST(Workloads, ATreeTakesItsDepthTwice) {
  const MessageAllreduce of{.ranks = 7, .isTree = true, .chunks = 1, .iterations = 1};
  const Ns message = 5'000 + of.link.latencyNs + of.link.timeOf(of.bytes);
  const Ns up = 2 * (message + 2 * of.sumNs);
  EXPECT_THAT(iterationsOf(simulate(messageAllreduceJob(of)), 6),
              ElementsAre(of.computeNs + up + 2 * (5'000 + message) + of.sumNs));
}

TEST(Workloads, AServerSumsOneGradientAfterTheOther) {
  const ParameterServer of{.workers = 2, .iterations = 1, .link = {}};
  const History history = simulate(parameterServerJob(of));
  // Both push at once; the server sums twice, then sends to one after the other.
  EXPECT_THAT(iterationsOf(history, 1),
              ElementsAre(of.computeNs + 10'000 + 2 * of.sumNs + 2 * 10'000 + of.sumNs));
}

struct Iteration {
  std::int64_t number = 0;
  std::int64_t startNs = 0;
  std::optional<std::int64_t> durNs;

  SONDE_COLUMNS(number, startNs, durNs)
};

TEST(Workloads, ATraceHasTheTimesOfTheMachinesClock) {
  const test::TemporaryFolder folder;
  DataParallel of;
  of.iterations = 3;
  Job job = dataParallelJob(of);
  job.machines[1].offsetNs = 5'000'000;
  job.machines[1].driftPpb = 50'000;
  const History history = simulate(job);
  writeTrace(job, history, folder / "t.sonde", 3);
  const auto trace = test::must(store::openTrace(folder / "t.sonde"));
  const auto found = test::must(store::readAll<Iteration>(
      trace, "SELECT number, start_ns, dur_ns FROM iteration ORDER BY number"));
  const std::vector<Ns> lengths = iterationsOf(history, 3);
  ASSERT_EQ(found.size(), lengths.size());
  Ns trueNs = 0;
  for (std::size_t at = 0; at < found.size(); ++at) {
    EXPECT_EQ(found[at].startNs, 1'000'000'000 + shownBy(job.machines[1], trueNs));
    EXPECT_EQ(found[at].durNs,
              shownBy(job.machines[1], trueNs + lengths[at]) - shownBy(job.machines[1], trueNs));
    trueNs += lengths[at];
  }
  EXPECT_EQ(test::must(trace.queryInteger("SELECT count(*) FROM kernel WHERE launch_slice_id")),
            3 * (8 + 8 + 4 + 1));
  EXPECT_EQ(test::must(trace.queryInteger("SELECT count(*) FROM collective WHERE kernel_id")), 12);
}

TEST(Workloads, EachKindCanBeWritten) {
  const test::TemporaryFolder folder;
  const std::vector<Job> jobs = {dataParallelJob({}),
                                 hostDataParallelJob({}),
                                 loaderJob({}),
                                 pipelineJob({}),
                                 interleavedPipelineJob({}),
                                 embeddingJob({}),
                                 tensorParallelJob({}),
                                 streamsJob({}),
                                 messageAllreduceJob({.iterations = 3}),
                                 parameterServerJob({})};
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    const History history = simulate(jobs[at]);
    EXPECT_GT(history.endNs, 0);
    const std::string path = folder / ("t" + std::to_string(at) + ".sonde");
    writeTrace(jobs[at], history, path);
    const auto trace = test::must(store::openTrace(path));
    EXPECT_GT(test::must(trace.queryInteger("SELECT count(*) FROM iteration")), 2) << at;
  }
}

}  // namespace
}  // namespace sonde::jobsim
