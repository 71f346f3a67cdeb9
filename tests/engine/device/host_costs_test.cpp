#include "analysis/engine/device/host_costs.h"

#include "tests/support/device_trace.h"

#include <gmock/gmock.h>

namespace sonde::engine::device {
namespace {

using test::must;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class HostCostsOf : public test::DeviceTrace {
 protected:
  HostCosts costs(const Rank& rank, const metrics::Intervals& windows) {
    const auto trace = open();
    return must(hostCosts(
        trace, rank.process.value, must(readDevices(trace, rank.process.value)), windows));
  }
};

TEST_F(HostCostsOf, AWaitingCallIsToldFromOneThatReturnsAtOnce) {
  const Rank one = rank(0);
  const auto main = stream(one, 7);
  kernel(main, "gemm", {20, 50}, call(one, "cudaLaunchKernel", {0, 5}));
  call(one, "cudaStreamSynchronize", {10, 60});
  call(one, "cudaStreamSynchronize", {70, 71});
  call(one, "cudaMemcpy", {80, 90});
  call(one, "cudaMemcpyAsync", {91, 95});
  call(one, "cudaDeviceSynchronize", {200, 300});  // after the window
  const HostCosts found = costs(one, {{0, 100}});
  ASSERT_THAT(found.waiting, SizeIs(2));
  EXPECT_EQ(found.waiting[0].call, "cudaStreamSynchronize");
  EXPECT_EQ(found.waiting[0].ns.count, 2);
  EXPECT_EQ(found.waiting[0].ns.total, 51);
  EXPECT_EQ(found.waiting[0].deviceBusyNs, 30);
  EXPECT_DOUBLE_EQ(found.waiting[0].share, 0.51);
  EXPECT_EQ(found.waiting[1].call, "cudaMemcpy");
  EXPECT_EQ(found.waiting[1].deviceBusyNs, 0);
}

TEST_F(HostCostsOf, WhatDoesNotBeginInAWindowDoesNotCount) {
  const Rank one = rank(0);
  kernel(stream(one, 7), "gemm", {20, 50}, call(one, "cudaLaunchKernel", {0, 5}));
  for (const std::int64_t at : {10, 30, 50})
    call(one, "cudaStreamSynchronize", {at, at + 10});
  const HostCosts found = costs(one, {{0, 30}, {50, 70}});
  ASSERT_THAT(found.waiting, SizeIs(1));
  EXPECT_EQ(found.waiting[0].ns.count, 2);
  EXPECT_DOUBLE_EQ(found.waiting[0].share, 20 / 50.0);
}

TEST_F(HostCostsOf, AGraphLaunchHasTheWorkThatItLaunched) {
  const Rank one = rank(0);
  const auto main = stream(one, 7);
  const auto first = call(one, "cudaGraphLaunch", {0, 10});
  const auto second = call(one, "cudaGraphLaunch", {20, 25});
  kernel(main, "a", {12, 14}, first);
  kernel(main, "b", {15, 19}, first);
  kernel(main, "a", {30, 33}, second);
  kernel(main, "c", {40, 41}, call(one, "cudaLaunchKernel", {34, 35}));
  const HostCosts found = costs(one, {{0, 100}});
  ASSERT_THAT(found.graphs, SizeIs(1));
  EXPECT_EQ(found.graphs[0].callNs.count, 2);
  EXPECT_EQ(found.graphs[0].callNs.total, 15);
  EXPECT_EQ(found.graphs[0].work, 3);
  EXPECT_EQ(found.graphs[0].deviceNs, (19 - 12) + (33 - 30));
}

TEST_F(HostCostsOf, AnOperatorHasItsOwnTimeAndTheWorkOfWhichItIsTheInnermostScope) {
  const Rank one = rank(0);
  const auto main = stream(one, 7);
  const auto linear = trace_->slice(one.thread, model::SliceKind::Operator, "linear", {0, 100});
  const auto addmm =
      trace_->slice(one.thread, model::SliceKind::Operator, "addmm", {20, 60}, linear);
  kernel(main, "gemm", {50, 80}, call(one, "cudaLaunchKernel", {30, 40}, addmm), addmm);
  kernel(main, "bias", {80, 85}, call(one, "cudaLaunchKernel", {70, 75}, linear), linear);
  const HostCosts found = costs(one, {{0, 200}});
  ASSERT_THAT(found.operators, SizeIs(2));
  EXPECT_EQ(found.operators[0].name, "linear");
  EXPECT_EQ(found.operators[0].ns.total, 100);
  EXPECT_EQ(found.operators[0].selfNs, 60);
  EXPECT_EQ(found.operators[0].work, 1);
  EXPECT_EQ(found.operators[0].deviceNs, 5);
  EXPECT_DOUBLE_EQ(found.operators[0].share, 0.3);
  EXPECT_EQ(found.operators[1].selfNs, 40);
  EXPECT_EQ(found.operators[1].deviceNs, 30);
}

TEST_F(HostCostsOf, NothingIsNoRow) {
  const Rank one = rank(0);
  call(one, "cudaLaunchKernel", {0, 5});
  const HostCosts found = costs(one, {{0, 10}});
  EXPECT_THAT(found.waiting, IsEmpty());
  EXPECT_THAT(found.graphs, IsEmpty());
  EXPECT_THAT(found.operators, IsEmpty());
}

}  // namespace
}  // namespace sonde::engine::device
