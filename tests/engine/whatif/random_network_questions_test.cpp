// Questions about nodes, placements and the reduction of gradients of simulated jobs with random
// settings.
#include "analysis/engine/whatif/gradients/adasum.h"
#include "analysis/engine/whatif/gradients/averaging.h"
#include "analysis/engine/whatif/topology/placement.h"
#include "analysis/engine/whatif/topology/topology.h"
#include "tests/engine/whatif/other_reductions.h"
#include "tests/engine/whatif/random_asking.h"

#include <cmath>

namespace sonde::engine::whatif {
namespace {

using test::Asked;

class RandomNetworkQuestions : public test::RandomAsking {
 public:
  jobsim::DataParallel powerOfTwo() {
    jobsim::DataParallel of = dataParallel();
    of.ranks = 1 << from(1, 3);
    return of;
  }
  jobsim::Job built(const jobsim::DataParallel& of) {
    return varied(coin() ? dataParallelJob(of) : hostDataParallelJob(of), seed());
  }

  Asked averagingInGroups() {
    const jobsim::DataParallel of = powerOfTwo();
    const jobsim::Job now = built(of);
    const std::int64_t size = std::min(of.ranks, 1 << from(1, 2));
    return {now, test::grouped(now, of, size), {averaging({.size = size})}};
  }
  Asked averagingWithoutWaits() {
    const jobsim::DataParallel of = powerOfTwo();
    const jobsim::Job now = built(of);
    return {now,
            test::withoutWaits(now, of, defaultGroupSize(of.ranks)),
            {averaging({.waits = false})}};
  }
  Asked combining() {
    const jobsim::DataParallel of = powerOfTwo();
    const jobsim::Job now = built(of);
    const double speed = from(2, 500);
    const double levels = std::log2(of.ranks);
    const auto latencyNs = static_cast<double>(of.link.latencyNs);
    const double byteNs = 1000.0 / static_cast<double>(of.link.bytesPerUs);
    const double halves = static_cast<double>(of.bucketBytes) * (of.ranks - 1) / of.ranks;
    const double ns = (2 * levels + levels * (levels + 1) / 2) * latencyNs + 2 * halves * byteNs +
                      5 * halves / speed;
    return {now, test::reducedIn(now, of, ns), {adasum({.bytesPerNs = speed})}};
  }

  jobsim::TensorParallel tensorParallel() {
    jobsim::TensorParallel of;
    of.tensorRanks = from(2, 4);
    of.dataRanks = from(2, 4);
    of.resultBytes = from(1, 8) * 500'000;
    of.gradientBytes = from(1, 8) * 2'000'000;
    of.lossBytes = 1'000;
    return of;
  }
  jobsim::Link link(int leastBytes, int mostBytes) {
    return {.latencyNs = from(1, 50) * 1'000, .bytesPerUs = from(leastBytes, mostBytes) * 1'200};
  }
  static Topology nodesOf(int perNode, const jobsim::Link& inside, const jobsim::Link& between) {
    return {.perNode = perNode,
            .insideBytesPerNs = static_cast<double>(inside.bytesPerUs) / 1'000,
            .betweenBytesPerNs = static_cast<double>(between.bytesPerUs) / 1'000,
            .insideLatencyNs = inside.latencyNs,
            .betweenLatencyNs = between.latencyNs,
            .algorithm = Algorithm::Ring};
  }

  // Tensor-parallel ranks share a node, and its NIC.
  Asked onNodes() {
    const jobsim::TensorParallel now = tensorParallel();
    jobsim::TensorParallel then = now;
    then.tensorLink = link(50, 200);
    const jobsim::Link between = link(2, 20);
    then.dataLink = {between.latencyNs, between.bytesPerUs / now.tensorRanks};
    const std::uint32_t of = seed();
    return {varied(tensorParallelJob(now), of),
            varied(tensorParallelJob(then), of),
            {topology(nodesOf(now.tensorRanks, then.tensorLink, between))}};
  }
  // Copies of a part of the model share a node.
  Asked placed() {
    const jobsim::TensorParallel now = tensorParallel();
    jobsim::TensorParallel then = now;
    then.dataLink = link(50, 200);
    const jobsim::Link between = link(2, 20);
    then.tensorLink = {between.latencyNs, between.bytesPerUs / now.dataRanks};
    const std::uint32_t of = seed();
    return {varied(tensorParallelJob(now), of),
            varied(tensorParallelJob(then), of),
            {placement({nodesOf(now.dataRanks, then.dataLink, between), {now.tensorRanks, 1}})}};
  }
};

TEST_F(RandomNetworkQuestions, AreAnsweredAsTheSimulationDoes) {
  expectTruths(*this,
               {{"averages of groups", &RandomNetworkQuestions::averagingInGroups},
                {"averages without waits", &RandomNetworkQuestions::averagingWithoutWaits},
                {"adasum", &RandomNetworkQuestions::combining},
                {"nodes", &RandomNetworkQuestions::onNodes},
                {"placement", &RandomNetworkQuestions::placed}});
}

}  // namespace
}  // namespace sonde::engine::whatif
