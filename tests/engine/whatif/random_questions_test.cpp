// Questions about simulated jobs with random settings, whose simulation knows the answer.
#include "analysis/engine/whatif/gradients/bucket_size.h"
#include "analysis/engine/whatif/loader_workers.h"
#include "analysis/engine/whatif/network/network.h"
#include "analysis/engine/whatif/no_stragglers.h"
#include "analysis/engine/whatif/primitives.h"
#include "analysis/engine/whatif/ranks/ranks.h"
#include "tests/engine/whatif/random_asking.h"
#include "tests/jobsim/workloads.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace sonde::engine::whatif {
namespace {

using jobsim::Job;
using test::Asked;
using test::selector;

class RandomQuestions : public test::RandomAsking {
 public:
  static Job build(const jobsim::DataParallel& job, bool isOnDevice) {
    return isOnDevice ? jobsim::dataParallelJob(job) : jobsim::hostDataParallelJob(job);
  }

  Asked scaling() {
    jobsim::DataParallel job = dataParallel();
    const bool isOnDevice = coin();
    const auto seed = static_cast<std::uint32_t>(from(0, 1 << 30));
    const int percent = coin() ? from(20, 90) : from(110, 300);
    Asked asked{varied(build(job, isOnDevice), seed), {}, {}};
    job.backwardNs = job.backwardNs * percent / 100;
    asked.then = varied(build(job, isOnDevice), seed);
    asked.questions = {
        scale(selector(isOnDevice ? "name:backward_gemm" : "name:aten::mm"), percent / 100.0)};
    return asked;
  }

  Asked bucketing() {
    jobsim::DataParallel job = dataParallel();
    job.buckets = 1 << from(1, 3);
    const bool isOnDevice = coin();
    const auto seed = static_cast<std::uint32_t>(from(0, 1 << 30));
    const std::int64_t total = job.bucketBytes * job.buckets;
    Asked asked{varied(build(job, isOnDevice), seed), {}, {}};
    int buckets = job.buckets;
    while (buckets == job.buckets)
      buckets = 1 << from(0, 3);
    job.bucketBytes = total / buckets;
    job.buckets = buckets;
    asked.then = varied(build(job, isOnDevice), seed);
    asked.questions = {bucketSize(job.bucketBytes)};
    return asked;
  }

  Asked networking() {
    jobsim::DataParallel job = dataParallel();
    const bool isOnDevice = coin();
    const auto seed = static_cast<std::uint32_t>(from(0, 1 << 30));
    Asked asked{varied(build(job, isOnDevice), seed), {}, {}};
    job.link = {.latencyNs = from(2, 100) * 1000, .bytesPerUs = from(3, 50) * 1000};
    asked.then = varied(build(job, isOnDevice), seed);
    asked.questions = {network({.bytesPerNs = static_cast<double>(job.link.bytesPerUs) / 1000,
                                .latencyNs = job.link.latencyNs})};
    return asked;
  }

  Asked withoutStragglers() {
    jobsim::DataParallel job = dataParallel();
    job.ranks = from(3, 6);
    job.slowRank = from(0, job.ranks - 1);
    job.slowdown = from(130, 300);
    const bool isOnDevice = coin();
    const auto seed = static_cast<std::uint32_t>(from(0, 1 << 30));
    Asked asked{varied(build(job, isOnDevice), seed), {}, {noStragglers({})}};
    job.slowRank = -1;
    asked.then = varied(build(job, isOnDevice), seed);
    return asked;
  }

  // Each rank has a processor.
  Asked changingRanks() {
    jobsim::DataParallel job = dataParallel();
    job.ranks = from(2, 4);
    const bool isOnDevice = coin();
    const auto seed = static_cast<std::uint32_t>(from(0, 1 << 30));
    Asked asked{varied(build(job, isOnDevice), seed), {}, {}};
    const int now = job.ranks;
    while (job.ranks == now)
      job.ranks = from(1, 8);
    asked.then = varied(build(job, isOnDevice), seed);
    asked.questions = {ranks({.count = job.ranks})};
    return asked;
  }

  // All ranks share the processors of one host, which the simulation gives to one operator after
  // the other: short ones, so that no rank has to wait long.
  Asked crowding() {
    jobsim::DataParallel job = dataParallel();
    job.ranks = from(2, 4);
    job.ranksPerMachine = 8;
    constexpr int kFiner = 4;
    job.layers *= kFiner;
    job.forwardNs /= kFiner;
    job.backwardNs /= kFiner;
    const int processors = from(2, 4);
    const auto seed = static_cast<std::uint32_t>(from(0, 1 << 30));
    const auto built = [&] {
      Job made = varied(jobsim::hostDataParallelJob(job), seed);
      made.machines.front().cores = processors;
      return made;
    };
    Asked asked{built(), {}, {}};
    job.ranks = from(1, 8);
    asked.then = built();
    asked.questions = {ranks({.count = job.ranks})};
    return asked;
  }

  // Without a change of "no workers", whose cost for taking a batch the simulation lacks.
  Asked loading() {
    jobsim::Loader job;
    job.iterations = 300;
    job.batchNs = from(500, 6000) * 1000;
    job.stepNs = from(500, 4000) * 1000;
    job.workers = job.prefetch = from(1, 4);
    Asked asked{jobsim::loaderJob(job), {}, {}};
    job.workers = job.prefetch = from(0, 4);
    asked.then = jobsim::loaderJob(job);
    asked.questions = {loaderWorkers(job.workers)};
    return asked;
  }

  Asked staging() {
    jobsim::Pipeline job;
    job.stages = from(2, 5);
    job.microbatches = from(4, 10);
    job.slowStage = from(0, job.stages - 1);
    job.slowdown = from(120, 250);
    const auto seed = static_cast<std::uint32_t>(from(0, 1 << 30));
    Asked asked{varied(jobsim::pipelineJob(job), seed), {}, {}};
    const std::string slow = "rank:" + std::to_string(job.slowStage);
    asked.questions = {scale(selector(slow + ",name:forward"), 100.0 / job.slowdown),
                       scale(selector(slow + ",name:backward"), 100.0 / job.slowdown)};
    job.slowStage = -1;
    asked.then = varied(jobsim::pipelineJob(job), seed);
    return asked;
  }
};

TEST_F(RandomQuestions, AreAnsweredAsTheSimulationDoes) {
  const Kinds<RandomQuestions> kinds = {{"scaling", &RandomQuestions::scaling},
                                        {"bucketing", &RandomQuestions::bucketing},
                                        {"networking", &RandomQuestions::networking},
                                        {"without stragglers", &RandomQuestions::withoutStragglers},
                                        {"loading", &RandomQuestions::loading},
                                        {"staging", &RandomQuestions::staging},
                                        {"changing ranks", &RandomQuestions::changingRanks},
                                        {"ranks on few processors", &RandomQuestions::crowding}};
  expectTruths<RandomQuestions>(*this, kinds);
}

}  // namespace
}  // namespace sonde::engine::whatif
