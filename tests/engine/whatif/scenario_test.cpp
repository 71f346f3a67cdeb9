#include "analysis/engine/whatif/scenario.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace sonde::engine::whatif {
namespace {

// One node, from 0 on.
Scenario nodeOf(std::int64_t ns) {
  graph::TraceGraph job;
  job.graph.lanes = {{.name = "thread 1"}};
  job.graph.beginNs = {0};
  job.graph.durNs = {ns};
  job.graph.gapNs = {0};
  job.graph.lane = {0};
  job.graph.kind = {graph::NodeKind::Host};
  job.graph.row = {0};
  job.graph.firstIn = {0, 0};
  job.graph.order = {0};
  return Scenario(job);
}

TEST(Scenario, ChangesStretchesThatOverlap) {
  Scenario scenario = nodeOf(1000);
  scenario.scale(0, 100, 300, 2, Origin::Scaled);
  EXPECT_EQ(scenario.durNs()[0], 1200);
  scenario.scale(0, 200, 400, 0, Origin::Scaled);
  EXPECT_EQ(scenario.durNs()[0], 900);
  EXPECT_DOUBLE_EQ(scenario.lengthNs(0, 100, 400), 200);
  EXPECT_DOUBLE_EQ(scenario.lengthNs(0, 150, 450), 150);
  scenario.setStretch(0, 200, 400, 50, Origin::Modelled);
  EXPECT_DOUBLE_EQ(scenario.lengthNs(0, 200, 300), 25);
  scenario.extend(0, 10, Origin::Modelled);
  EXPECT_EQ(scenario.durNs()[0], 960);
  EXPECT_DOUBLE_EQ(scenario.lengthNs(0, 0, 1000), 950);
  scenario.scale(0, 0, 1000, 2, Origin::Scaled);
  EXPECT_EQ(scenario.durNs()[0], 1920);
  std::int64_t at = 0;
  double sum = 0;
  for (const Piece& each : scenario.piecesOf(0)) {
    EXPECT_EQ(each.beginNs, at);
    at = each.endNs;
    sum += each.newNs;
  }
  EXPECT_EQ(at, 1000);
  EXPECT_DOUBLE_EQ(sum, 1920);
}

// As many as a long iteration has operators between two waits.
TEST(Scenario, ChangesManyStretchesOfANode) {
  constexpr std::int64_t kMany = 300'000;
  Scenario scenario = nodeOf(10 * kMany);
  for (std::int64_t i = 0; i < kMany; ++i) {
    scenario.scale(0, 10 * i + 2, 10 * i + 6, 0.5, Origin::Scaled);
    EXPECT_EQ(scenario.durNs()[0], 10 * kMany - 2 * (i + 1));
  }
  double sum = 0;
  for (std::int64_t i = 0; i < kMany; ++i)
    sum += scenario.lengthNs(0, 10 * i, 10 * i + 5);
  EXPECT_NEAR(sum, 3.5 * kMany, 1e-3);
}

}  // namespace
}  // namespace sonde::engine::whatif
