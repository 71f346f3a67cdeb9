// The placement of ranks on nodes.
#include "analysis/engine/whatif/topology/placement.h"

#include "analysis/engine/whatif/topology/rank_grid.h"
#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/workloads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace sonde::engine::whatif {
namespace {

using test::ask;
using test::meanNs;
using test::refusal;
using test::SimulatedJob;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two tensor-parallel ranks, two stages without communicators of their own, and two copies.
const NodeGroups kGroups{.ranks = 8,
                         .members = {{"tensor-0", {0, 1}},
                                     {"tensor-1", {2, 3}},
                                     {"tensor-2", {4, 5}},
                                     {"tensor-3", {6, 7}},
                                     {"data-0", {0, 4}},
                                     {"data-1", {1, 5}},
                                     {"data-2", {2, 6}},
                                     {"data-3", {3, 7}},
                                     {"embedding-0", {0, 3}},
                                     {"all", {0, 1, 2, 3, 4, 5, 6, 7}}}};

TEST(RankGrid, FindsAxesBetweenCommunicators) {
  EXPECT_THAT(test::must(axesOf(kGroups)), ElementsAre(Axis{1, 2}, Axis{2, 2}, Axis{4, 2}));
  const NodeGroups one{.ranks = 4, .members = {{"all", {0, 1, 2, 3}}}};
  EXPECT_THAT(test::must(axesOf(one)), ElementsAre(Axis{1, 4}));
}

TEST(RankGrid, RefusesCommunicatorsThatAreNoAxes) {
  const NodeGroups groups{.ranks = 12,
                          .members = {{"a", {0, 1, 2}},
                                      {"b", {3, 4, 5}},
                                      {"c", {6, 7, 8}},
                                      {"d", {9, 10, 11}},
                                      {"e", {0, 2, 4, 6, 8, 10}},
                                      {"f", {1, 3, 5, 7, 9, 11}}}};
  EXPECT_EQ(axesOf(groups).error().code, ErrorCode::NotFound);
}

TEST(RankGrid, PlacesRanksByTheAxisThatVariesFastest) {
  EXPECT_THAT(nodesByOrder({{1, 2}, {2, 2}, {4, 2}}, 8, 4), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
  EXPECT_THAT(nodesByOrder({{4, 2}, {1, 2}, {2, 2}}, 8, 4), ElementsAre(0, 0, 1, 1, 0, 0, 1, 1));
  EXPECT_THAT(nodesByOrder({{2, 2}, {4, 2}, {1, 2}}, 8, 2), ElementsAre(0, 2, 0, 2, 1, 3, 1, 3));
}

constexpr jobsim::Link kOnNode{.latencyNs = 5'000, .bytesPerUs = 100'000};

jobsim::Link nicSharedBy(int communicators) {
  return {.latencyNs = kOnNode.latencyNs, .bytesPerUs = 12'000 / communicators};
}

Placement ofThree(std::vector<std::int64_t> order) {
  return {{.perNode = 3,
           .insideBytesPerNs = 100,
           .betweenBytesPerNs = 12,
           .insideLatencyNs = kOnNode.latencyNs,
           .betweenLatencyNs = kOnNode.latencyNs,
           .algorithm = Algorithm::Ring},
          std::move(order)};
}

// Three copies of two ranks each, on nodes of three ranks.
jobsim::TensorParallel sixRanks(std::int64_t resultBytes) {
  jobsim::TensorParallel of;
  of.lossBytes = 1'000;
  of.resultBytes = resultBytes;
  return of;
}

// In the recorded order the second copy and both parts' gradients use NICs.
double recordedNs(const jobsim::TensorParallel& of) {
  jobsim::Job job = tensorParallelJob(of);
  for (const int group : {0, 2})
    job.groups[static_cast<std::size_t>(group)].link = kOnNode;
  job.groups[1].link = nicSharedBy(1);
  for (const int group : {3, 4})
    job.groups[static_cast<std::size_t>(group)].link = nicSharedBy(2);
  return meanNs(SimulatedJob(job));
}

// In the other one all copies use them, and no gradients.
double partsTogetherNs(jobsim::TensorParallel of) {
  of.tensorLink = nicSharedBy(3);
  of.dataLink = kOnNode;
  return meanNs(SimulatedJob(tensorParallelJob(of)));
}

void expectTruth(const Answer& answer, double truth) {
  EXPECT_GT(std::abs(answer.baselineNs / truth - 1), 0.01);  // or the question is idle
  EXPECT_NEAR(answer.predictedNs / truth, 1, 0.01);
  EXPECT_LE(answer.lowNs, truth);
  EXPECT_GE(answer.highNs, truth);
}

TEST(Placement, TakesTheOrderThatIsGiven) {
  const jobsim::TensorParallel of = sixRanks(2'000'000);
  const SimulatedJob job(tensorParallelJob(of));
  const Answer other = ask(job, {placement(ofThree({2, 1}))});
  expectTruth(other, partsTogetherNs(of));
  EXPECT_THAT(other.notes, Contains(HasSubstr("node 0: 0 2 4, node 1: 1 3 5")));
  const Answer recorded = ask(job, {placement(ofThree({1, 2}))});
  expectTruth(recorded, recordedNs(of));
  EXPECT_EQ(recorded.predictedNs, ask(job, {topology(ofThree({}).topology)}).predictedNs);
}

TEST(Placement, TakesTheFastestOrder) {
  jobsim::TensorParallel tensor = sixRanks(8'000'000);
  tensor.gradientBytes = 100'000;
  ASSERT_LT(recordedNs(tensor), partsTogetherNs(tensor));
  const Answer first = ask(SimulatedJob(tensorParallelJob(tensor)), {placement(ofThree({}))});
  expectTruth(first, recordedNs(tensor));
  EXPECT_THAT(first.notes, Contains(HasSubstr("In the order 1-2")));
  jobsim::TensorParallel data = sixRanks(50'000);
  data.gradientBytes = 40'000'000;
  ASSERT_LT(partsTogetherNs(data), recordedNs(data));
  const Answer second = ask(SimulatedJob(tensorParallelJob(data)), {placement(ofThree({}))});
  expectTruth(second, partsTogetherNs(data));
  EXPECT_THAT(second.notes, Contains(HasSubstr("In the order 2-1")));
}

TEST(Placement, NeedsAnOrderOfAllAxesAndCollectives) {
  const jobsim::Job job = tensorParallelJob(sixRanks(2'000'000));
  for (const std::vector<std::int64_t>& order :
       std::vector<std::vector<std::int64_t>>{{1}, {1, 1}, {1, 3}, {1, 2, 6}})
    EXPECT_EQ(refusal(job, placement(ofThree(order))), ErrorCode::InvalidArgument);
  Placement wrong = ofThree({});
  wrong.topology.perNode = 4;
  EXPECT_EQ(refusal(job, placement(wrong)), ErrorCode::InvalidArgument);
  wrong.topology.perNode = 1;
  wrong.topology.insideBytesPerNs = 0;
  EXPECT_EQ(refusal(job, placement(wrong)), ErrorCode::InvalidArgument);
  wrong.topology.insideBytesPerNs = 1;
  EXPECT_EQ(refusal(jobsim::loaderJob({}), placement(wrong)), ErrorCode::NotFound);
}

}  // namespace
}  // namespace sonde::engine::whatif
