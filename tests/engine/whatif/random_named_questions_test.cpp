// Questions by name about simulated jobs with random settings.
#include "analysis/engine/whatif/compute/accumulation.h"
#include "analysis/engine/whatif/compute/batch_size.h"
#include "analysis/engine/whatif/compute/cuda_graphs.h"
#include "analysis/engine/whatif/compute/device.h"
#include "analysis/engine/whatif/compute/fusion.h"
#include "analysis/engine/whatif/compute/host_syncs.h"
#include "analysis/engine/whatif/compute/mixed_precision.h"
#include "analysis/engine/whatif/compute/next_forward.h"
#include "analysis/engine/whatif/compute/recompute.h"
#include "analysis/engine/whatif/gradients/compression.h"
#include "analysis/engine/whatif/gradients/overlap.h"
#include "analysis/engine/whatif/gradients/partition.h"
#include "analysis/engine/whatif/load_cache.h"
#include "tests/engine/whatif/random_asking.h"
#include "tests/jobsim/workloads.h"

namespace sonde::engine::whatif {
namespace {

using test::Asked;

class RandomNamedQuestions : public test::RandomAsking {
 public:
  // The same times vary alike in both, if `then` has the same steps.
  Asked asked(const jobsim::DataParallel& now,
              const jobsim::DataParallel& then,
              bool isOnDevice,
              Question question) {
    const auto build = isOnDevice ? jobsim::dataParallelJob : jobsim::hostDataParallelJob;
    const std::uint32_t of = seed();
    return {varied(build(now), of), varied(build(then), of), {std::move(question)}};
  }

  Asked batching() {
    const jobsim::DataParallel now = dataParallel();
    jobsim::DataParallel then = now;
    const int percent = from(25, 400);
    then.forwardNs = now.forwardNs * percent / 100;
    then.backwardNs = now.backwardNs * percent / 100;
    return asked(now, then, coin(), batchSize({.factor = percent / 100.0}));
  }
  Asked accumulating() {
    const jobsim::DataParallel now = dataParallel();
    jobsim::DataParallel then = now;
    then.microbatches = from(2, 6);
    return asked(now, then, coin(), accumulation(then.microbatches));
  }
  Asked overlapping() {
    jobsim::DataParallel now = dataParallel();
    jobsim::DataParallel then = now;
    now.isOverlapped = false;
    return asked(now, then, coin(), overlap(now.bucketBytes));
  }
  Asked compressing() {
    const jobsim::DataParallel now = dataParallel();
    jobsim::DataParallel then = now;
    then.bucketBytes = now.bucketBytes / 2;
    then.codecNs = from(10, 500) * 1000;
    const double speed = static_cast<double>(now.bucketBytes) / static_cast<double>(then.codecNs);
    return asked(now, then, coin(), compression({.bytesPerNs = speed}));
  }
  Asked mixing() {
    jobsim::DataParallel now = dataParallel();
    now.activations = from(0, 3);
    jobsim::DataParallel then = now;
    then.forwardNs = now.forwardNs / 3;
    then.backwardNs = now.backwardNs / 3;
    then.activationNs = now.activationNs / 2;
    return asked(now, then, true, mixedPrecision({}));
  }
  Asked moving() {
    const double bandwidth = static_cast<double>(from(5, 40)) / 10;
    const double flops = static_cast<double>(from(5, 80)) / 10;
    const auto over = [](std::int64_t ns, double times) {
      return std::llround(static_cast<double>(ns) / times);
    };
    jobsim::DataParallel now = dataParallel();
    now.activations = from(0, 3);
    jobsim::DataParallel then = now;
    then.forwardNs = over(now.forwardNs, flops);
    then.backwardNs = over(now.backwardNs, flops);
    then.activationNs = over(now.activationNs, bandwidth);
    then.optimizerNs = over(now.optimizerNs, bandwidth);
    return asked(now, then, true, device({.bandwidth = bandwidth, .flops = flops}));
  }
  // Without variation, since the longest one of a group remains.
  Asked fusing() {
    jobsim::DataParallel now = dataParallel();
    now.activations = from(2, 6);
    now.activationNs = from(5, 100) * 1000;
    jobsim::DataParallel then = now;
    then.activations = 1;
    return {
        jobsim::dataParallelJob(now), jobsim::dataParallelJob(then), {fusion(Fusion::Pointwise)}};
  }
  // Without variation, since the layers that run again are others than those in between.
  Asked recomputing() {
    const jobsim::DataParallel now = dataParallel();
    jobsim::DataParallel then = now;
    then.recomputeEvery = from(1, 2);
    const auto build = coin() ? jobsim::dataParallelJob : jobsim::hostDataParallelJob;
    return {build(now), build(then), {recompute({.share = 1.0 / then.recomputeEvery})}};
  }
  Asked capturing() {
    jobsim::DataParallel now = dataParallel();
    now.callNs = from(8, 200) * 1000;
    jobsim::DataParallel then = now;
    then.graphNs = from(5, 100) * 1000;
    return {jobsim::dataParallelJob(now),
            jobsim::dataParallelJob(then),
            {cudaGraphs({.launchNs = then.graphNs})}};
  }
  Asked partitioning() {
    jobsim::DataParallel now = dataParallel();
    now.bucketBytes -= now.bucketBytes % 12;
    jobsim::DataParallel then = now;
    then.pieces = from(2, 4);
    return asked(now, then, coin(), partition(now.bucketBytes / then.pieces));
  }
  // Without variation, since the optimizer's kernels are others.
  Asked forwarding() {
    jobsim::DataParallel of = dataParallel();
    of.lossBytes = 0;
    return {jobsim::dataParallelJob(of), jobsim::priorityParallelJob(of), {nextForward({})}};
  }
  Asked caching() {
    jobsim::Loader now;
    now.workers = from(0, 3);
    now.batchNs = from(1000, 8000) * 1000;
    jobsim::Loader then = now;
    const int percent = from(10, 100);
    const jobsim::Ns hitNs = from(0, 1000) * 1000;
    then.batchNs = (now.batchNs * (100 - percent) + hitNs * percent) / 100;
    const std::uint32_t of = seed();
    return {varied(jobsim::loaderJob(now), of),
            varied(jobsim::loaderJob(then), of),
            {loadCache({.hit = percent / 100.0, .hitNs = hitNs})}};
  }
  Asked goingOn() {
    jobsim::DataParallel now = dataParallel();
    now.callNs = from(8, 200) * 1000;
    jobsim::DataParallel then = now;
    now.readsLoss = true;
    return asked(now, then, true, noHostSyncs());
  }
};

TEST_F(RandomNamedQuestions, AreAnsweredAsTheSimulationDoes) {
  expectTruths(*this,
               {{"batches", &RandomNamedQuestions::batching},
                {"accumulation", &RandomNamedQuestions::accumulating},
                {"overlap", &RandomNamedQuestions::overlapping},
                {"compression", &RandomNamedQuestions::compressing},
                {"mixed precision", &RandomNamedQuestions::mixing},
                {"fusion", &RandomNamedQuestions::fusing},
                {"recomputation", &RandomNamedQuestions::recomputing},
                {"partition", &RandomNamedQuestions::partitioning},
                {"next forward", &RandomNamedQuestions::forwarding},
                {"cached batches", &RandomNamedQuestions::caching},
                {"graphs of launches", &RandomNamedQuestions::capturing},
                {"no waits for devices", &RandomNamedQuestions::goingOn},
                {"another device", &RandomNamedQuestions::moving}});
}

}  // namespace
}  // namespace sonde::engine::whatif
