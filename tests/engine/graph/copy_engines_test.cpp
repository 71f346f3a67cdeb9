#include "tests/engine/graph/trace_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace sonde::engine::graph {
namespace {

using ::testing::Contains;
using ::testing::Not;
using ::testing::Pair;

// Two copies for two streams are launched at once. The second one begins when the first one ends.
class CopyEngines : public test::TracePath {
 protected:
  void copies(model::CopyKind second) {
    step(rank_, 0, us(0, 120));
    const auto first = call(rank_, "cudaMemcpyAsync", us(0, 4));
    const auto other = call(rank_, "cudaMemcpyAsync", us(4, 8));
    call(rank_, "cudaDeviceSynchronize", us(8, 120));
    copy(one_, "batch", us(5, 60), 1'000, first);
    copy(two_, "mask", us(61, 115), 1'000, other, second);
  }
  std::int64_t queued() {
    const store::Database trace = open();
    const Graph graph = test::must(readGraph(trace)).graph;
    return std::count(graph.edgeKind.begin(), graph.edgeKind.end(), EdgeKind::Queue);
  }

  Rank rank_ = rank(0);
  model::StreamId one_ = stream(rank_, 7);
  model::StreamId two_ = stream(rank_, 8);
};

TEST_F(CopyEngines, ACopyWaitsForThatOfAnotherStream) {
  copies(model::CopyKind::HostToDevice);
  EXPECT_THAT(path(), Contains(Pair("copy batch", 55)));
}

TEST_F(CopyEngines, DirectionsHaveEnginesOfTheirOwn) {
  copies(model::CopyKind::DeviceToHost);
  EXPECT_THAT(path(), Not(Contains(Pair("copy batch", 55))));
}

TEST_F(CopyEngines, ADeviceWhoseCopiesOverlapHasSeveral) {
  copies(model::CopyKind::HostToDevice);
  copy(one_, "next", us(100, 118), 1'000);
  EXPECT_EQ(queued(), 0);
}

TEST_F(CopyEngines, ACopyDoesNotQueueInItsOwnStream) {
  copies(model::CopyKind::HostToDevice);
  copy(two_, "next", us(116, 118), 1'000);
  EXPECT_EQ(queued(), 1);
}

TEST_F(CopyEngines, ADeviceQueuesNothingForAnotherOne) {
  const Rank peer = rank(1);
  copies(model::CopyKind::HostToDevice);
  copy(stream(peer, 7), "batch", us(120, 130), 1'000);
  EXPECT_EQ(queued(), 1);
}

}  // namespace
}  // namespace sonde::engine::graph
