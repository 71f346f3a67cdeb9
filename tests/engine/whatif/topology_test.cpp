// Collectives on nodes of several ranks: the models of algorithms, and the question.
#include "analysis/engine/whatif/topology/topology.h"

#include "analysis/engine/whatif/gradients/partition.h"
#include "analysis/engine/whatif/topology/node_groups.h"
#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/workloads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::whatif {
namespace {

using jobsim::dataParallelJob;
using jobsim::hostDataParallelJob;
using test::ask;
using test::expectNear;
using test::reducingJob;
using test::refusal;
using test::SimulatedJob;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr TwoLevels kLevels{{10, 0.01}, {100, 0.1}};
constexpr double kBytes = 8'000;
// Eight ranks on two nodes.
constexpr GroupShape kShape{.members = 8, .nodes = 2, .perNode = 4};

double nsOf(Algorithm algorithm, const std::string& op, const GroupShape& shape = kShape) {
  return collectiveNs(algorithm, op, kBytes, shape, kLevels).value_or(-1);
}

// 14 steps of 1000 bytes; two of the eight links are between nodes: (2 * 100 + 6 * 10) / 8 = 32.5.
TEST(TwoLevels, ARingPassesTheSlowestLink) {
  EXPECT_DOUBLE_EQ(nsOf(Algorithm::Ring, "allreduce"), 14 * 32.5 + 14'000 * 0.1);
  EXPECT_DOUBLE_EQ(nsOf(Algorithm::Ring, "allgather"), 7 * 32.5 + 7'000 * 0.1);
  EXPECT_DOUBLE_EQ(nsOf(Algorithm::Ring, "broadcast"), 7 * 32.5 + 8'000 * 0.1);
}

TEST(TwoLevels, ARingInOneNodeHasItsLinksAlone) {
  constexpr GroupShape kOne{.members = 4, .nodes = 1, .perNode = 4};
  EXPECT_DOUBLE_EQ(nsOf(Algorithm::Ring, "allreduce", kOne), 6 * (10 + 2'000 * 0.01));
  constexpr GroupShape kApart{.members = 4, .nodes = 4, .perNode = 1};
  EXPECT_DOUBLE_EQ(nsOf(Algorithm::Ring, "allreduce", kApart), 6 * (100 + 2'000 * 0.1));
}

// Two levels of four ranks and one of two nodes, up and down.
TEST(TwoLevels, ATreeHasFewSteps) {
  EXPECT_DOUBLE_EQ(nsOf(Algorithm::Tree, "allreduce"), 2 * (2 * 10 + 100 + 8'000 * 0.1));
  EXPECT_DOUBLE_EQ(nsOf(Algorithm::Tree, "broadcast"), 2 * 10 + 100 + 8'000 * 0.1);
  EXPECT_EQ(nsOf(Algorithm::Tree, "allgather"), -1);
  constexpr GroupShape kFive{.members = 5, .nodes = 5, .perNode = 1};
  EXPECT_DOUBLE_EQ(nsOf(Algorithm::Tree, "reduce", kFive), 3 * 100 + 8'000 * 0.1);
}

// Inside 3 steps of a quarter, between nodes one step of a half.
TEST(TwoLevels, AHierarchySendsAnEqualPartOfEachMember) {
  constexpr double kInside = 3 * (10 + 2'000 * 0.01);
  constexpr double kBetween = 100 + 4'000 * 0.1;
  EXPECT_DOUBLE_EQ(nsOf(Algorithm::Hierarchical, "allreduce"), 2 * (kInside + kBetween));
  EXPECT_DOUBLE_EQ(nsOf(Algorithm::Hierarchical, "reducescatter"), kInside + kBetween);
  EXPECT_DOUBLE_EQ(nsOf(Algorithm::Hierarchical, "broadcast"), 30 + 100 + 8'000 * 0.11);
  EXPECT_EQ(nsOf(Algorithm::Hierarchical, "allreduce", {.members = 4, .nodes = 4}), -1);
  GroupShape uneven = kShape;
  uneven.isEven = false;
  EXPECT_EQ(nsOf(Algorithm::Hierarchical, "allreduce", uneven), -1);
}

// Each of four members sends 1000 bytes to each of four on the other node.
TEST(TwoLevels, AnAllToAllSendsMostOfItsBytesBetweenNodes) {
  EXPECT_DOUBLE_EQ(nsOf(Algorithm::Ring, "alltoall"), 3 * 10 + 4 * 100 + 16'000 * 0.1);
  EXPECT_DOUBLE_EQ(nsOf(Algorithm::Hierarchical, "alltoall"),
                   3 * (10 + 2'000 * 0.01) + 100 + 16'000 * 0.1);
  constexpr GroupShape kOne{.members = 4, .nodes = 1, .perNode = 4};
  EXPECT_DOUBLE_EQ(nsOf(Algorithm::Ring, "alltoall", kOne), 3 * (10 + 2'000 * 0.01));
}

TEST(TwoLevels, SwitchesAddUpInOneTripUpAndDown) {
  EXPECT_DOUBLE_EQ(nsOf(Algorithm::InNetwork, "allreduce"), 2 * (10 + 100) + 8'000 * 0.1);
  EXPECT_DOUBLE_EQ(nsOf(Algorithm::InNetwork, "broadcast"), 10 + 100 + 8'000 * 0.1);
}

TEST(TwoLevels, TheFastestNeedsNoSwitchesThatAddUp) {
  const auto chosen = [](std::optional<Algorithm> given, const char* op, const GroupShape& shape) {
    return timedAlgorithm(given, op, kBytes, shape, kLevels).algorithm;
  };
  EXPECT_EQ(chosen({}, "allreduce", kShape), Algorithm::Hierarchical);
  GroupShape uneven = kShape;
  uneven.isEven = false;
  EXPECT_EQ(chosen({}, "allreduce", uneven), Algorithm::Tree);
  EXPECT_EQ(chosen(Algorithm::InNetwork, "allreduce", kShape), Algorithm::InNetwork);
  EXPECT_EQ(chosen(Algorithm::Tree, "alltoall", kShape), Algorithm::Ring);
}

TEST(NodeGroups, CommunicatorsThatAreAlikeShareNics) {
  const NodeGroups groups{.ranks = 8,
                          .members = {{"tensor-0", {0, 1}},
                                      {"tensor-1", {2, 3}},
                                      {"tensor-2", {4, 5}},
                                      {"tensor-3", {6, 7}},
                                      {"data-0", {0, 2, 4, 6}},
                                      {"data-1", {1, 3, 5, 7}},
                                      {"the-same", {1, 3, 5, 7}},
                                      {"ends", {0, 5}}}};
  auto shapes = shapesOf(groups, test::must(nodesInOrder(8, 4)));
  EXPECT_EQ(shapes["data-0"], (GroupShape{4, 2, 2, true, 2}));
  EXPECT_EQ(shapes["the-same"], shapes["data-1"]);
  EXPECT_EQ(shapes["tensor-2"], (GroupShape{2, 1, 2, true, 1}));
  EXPECT_EQ(shapes["ends"], (GroupShape{2, 2, 1, true, 1}));
  shapes = shapesOf(groups, {0, 0, 0, 1, 1, 1, 2, 2});
  EXPECT_EQ(shapes["tensor-1"], (GroupShape{2, 2, 1, true, 1}));
  EXPECT_EQ(shapes["data-0"], (GroupShape{4, 3, 2, false, 2}));
  shapes = shapesOf(groups, {0, 1, 0, 1, 0, 1, 0, 1});
  EXPECT_EQ(shapes["tensor-0"], (GroupShape{2, 2, 1, true, 4}));
  EXPECT_EQ(shapes["data-0"], (GroupShape{4, 1, 4, true, 1}));
}

constexpr jobsim::Link kInsideLink{.latencyNs = 4'000, .bytesPerUs = 100'000};
constexpr jobsim::Link kBetweenLink{.latencyNs = 30'000, .bytesPerUs = 8'000};

Topology ofLinks(std::int64_t perNode, std::optional<Algorithm> algorithm) {
  return {.perNode = perNode,
          .insideBytesPerNs = 100,
          .betweenBytesPerNs = 8,
          .insideLatencyNs = kInsideLink.latencyNs,
          .betweenLatencyNs = kBetweenLink.latencyNs,
          .algorithm = algorithm};
}

// Tensor-parallel ranks share a node. Both of its ranks reduce gradients through its NIC.
TEST(TopologyQuestion, HasLinksInsideAndNicsBetween) {
  jobsim::TensorParallel of;
  of.lossBytes = 1'000;
  jobsim::TensorParallel then = of;
  then.tensorLink = kInsideLink;
  then.dataLink = {.latencyNs = kBetweenLink.latencyNs, .bytesPerUs = kBetweenLink.bytesPerUs / 2};
  const jobsim::Job now = tensorParallelJob(of);
  expectNear(now, tensorParallelJob(then), {topology(ofLinks(2, Algorithm::Ring))});
  Topology two = ofLinks(2, Algorithm::Ring);
  two.nics = 2;
  then.dataLink = kBetweenLink;
  expectNear(now, tensorParallelJob(then), {topology(two)});
}

// An all-reduce of four ranks that takes this long for every size has 6 steps.
jobsim::DataParallel taking(jobsim::DataParallel of, double ns) {
  of.link = {.latencyNs = static_cast<jobsim::Ns>(ns / 6), .bytesPerUs = 0};
  return of;
}

TEST(TopologyQuestion, UsesTheAlgorithmThatIsGiven) {
  jobsim::DataParallel of = reducingJob();
  of.lossBytes = 0;
  constexpr TwoLevels kLinks{{4'000, 0.01}, {30'000, 0.125}};
  constexpr GroupShape kTwoNodes{.members = 4, .nodes = 2, .perNode = 2};
  for (const auto& [name, algorithm] : kAlgorithms) {
    const double ns = *collectiveNs(
        algorithm, "allreduce", static_cast<double>(of.bucketBytes), kTwoNodes, kLinks);
    const std::vector<Question> asked{topology(ofLinks(2, algorithm))};
    expectNear(dataParallelJob(of), dataParallelJob(taking(of, ns)), asked);
    expectNear(hostDataParallelJob(of), hostDataParallelJob(taking(of, ns)), asked);
    EXPECT_THAT(ask(SimulatedJob(dataParallelJob(of)), asked).notes,
                Contains(HasSubstr("by '" + std::string(name) + "'")));
  }
}

// Small ones take a tree, which has fewer steps between nodes.
TEST(TopologyQuestion, TakesTheFastestAlgorithmOfEachCollective) {
  jobsim::DataParallel of = reducingJob();
  of.ranks = 8;
  const SimulatedJob job(dataParallelJob(of));
  const auto found = [&](std::optional<Algorithm> algorithm) {
    return ask(job, {topology(ofLinks(2, algorithm))});
  };
  const Answer fastest = found({});
  for (const Algorithm each : {Algorithm::Ring, Algorithm::Tree, Algorithm::Hierarchical})
    EXPECT_LT(fastest.predictedNs, found(each).predictedNs);
  EXPECT_THAT(fastest.notes, Contains(HasSubstr("8 by 'tree', 32 by 'hierarchical'")));
  EXPECT_THAT(fastest.notes, Contains(HasSubstr("8 ranks on 4 nodes")));
}

// Both latencies are those of the trace's own collectives.
TEST(TopologyQuestion, KeepsALatencyThatIsNotGiven) {
  const jobsim::DataParallel of = reducingJob();
  jobsim::DataParallel then = of;
  then.link.bytesPerUs = 2'000;
  const Topology asked{
      .perNode = 2, .insideBytesPerNs = 100, .betweenBytesPerNs = 2, .algorithm = Algorithm::Ring};
  expectNear(dataParallelJob(of), dataParallelJob(then), {topology(asked)});
  EXPECT_THAT(ask(SimulatedJob(dataParallelJob(of)), {topology(asked)}).notes,
              Contains(HasSubstr("as now, 20.0 µs a step")));
}

TEST(TopologyQuestion, IsKnownToLaterQuestions) {
  const jobsim::DataParallel of = reducingJob();
  jobsim::DataParallel then = of;
  then.link.bytesPerUs = 2'000;
  then.pieces = 4;
  expectNear(dataParallelJob(of),
             dataParallelJob(then),
             {topology({.perNode = 2,
                        .insideBytesPerNs = 100,
                        .betweenBytesPerNs = 2,
                        .algorithm = Algorithm::Ring}),
              partition(1'000'000)});
}

TEST(TopologyQuestion, NeedsNodesThatRanksFillAndCollectives) {
  const jobsim::Job job = dataParallelJob(reducingJob());
  for (const std::int64_t perNode : {0, 3, 8})
    EXPECT_EQ(refusal(job, topology(ofLinks(perNode, {}))), ErrorCode::InvalidArgument) << perNode;
  Topology wrong = ofLinks(2, {});
  wrong.nics = 0;
  EXPECT_EQ(refusal(job, topology(wrong)), ErrorCode::InvalidArgument);
  wrong = ofLinks(2, {});
  wrong.betweenBytesPerNs = 0;
  EXPECT_EQ(refusal(job, topology(wrong)), ErrorCode::InvalidArgument);
  wrong = ofLinks(2, {});
  wrong.insideLatencyNs = -1;
  EXPECT_EQ(refusal(job, topology(wrong)), ErrorCode::InvalidArgument);
  EXPECT_EQ(refusal(jobsim::loaderJob({}), topology(ofLinks(1, {}))), ErrorCode::NotFound);
}

}  // namespace
}  // namespace sonde::engine::whatif
