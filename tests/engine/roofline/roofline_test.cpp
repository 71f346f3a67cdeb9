#include "analysis/engine/roofline/roofline.h"

#include "tests/support/device_trace.h"

#include <gmock/gmock.h>

namespace sonde::engine::roofline {
namespace {

using test::must;
using ::testing::SizeIs;

// An A100 of 80 GB: 312 TFLOP/s in half precision, 19.5 in single precision, 2,039 GB/s.
class RooflineTest : public test::DeviceTrace {
 protected:
  model::StreamId queueOn(const char* device) {
    const auto id = trace_->add(model::Device{
        .hostId = host_, .kind = "gpu", .ordinal = 4, .name = std::string_view(device)});
    return trace_->add(model::Stream{.processId = rank_.process, .deviceId = id, .number = 7});
  }
  model::SliceId op(const char* name, Span time, const char* shapes, const char* types) {
    const auto slice = trace_->slice(rank_.thread, model::SliceKind::Operator, name, time);
    for (const auto& [key, value] : {std::pair("shapes", shapes), std::pair("dtypes", types)})
      trace_->add(model::Arg{model::Owner::Slice,
                             slice.value,
                             trace_->name(key),
                             model::ArgValue(std::string_view(value))});
    return slice;
  }
  void metric(model::SliceId slice, model::DeviceId device, const char* name, double value) {
    trace_->add(model::DeviceMetric{.sliceId = slice,
                                    .threadId = rank_.thread,
                                    .deviceId = device,
                                    .nameId = trace_->name(name),
                                    .startNs = 100,
                                    .durNs = 1000,
                                    .value = value});
  }
  static constexpr const char* kShapes = "[[1000,1000],[1000,1000]]";  // 2 GFLOP

  Rank rank_ = rank(0);
};

TEST_F(RooflineTest, ARangeHasTheWholeOperatorsOfItsKernels) {
  const auto queue = queueOn("NVIDIA A100-SXM4-80GB");
  const auto half = op("aten::mm", {0, 10}, kShapes, "[c10::Half,c10::Half]");
  const auto single = op("aten::mm", {20, 30}, kShapes, "[float,float]");
  kernel(queue, "hgemm", {1'000, 11'000}, {}, half);
  kernel(queue, "splitk", {11'000, 11'500}, {}, half);
  kernel(queue, "sgemm", {20'000, 220'000}, {}, single);
  kernel(queue, "unknown", {2'500'000, 2'600'000});
  const store::Database trace = open();
  const auto devices = must(readRooflines(trace, metrics::Interval{11'100, 11'200}));
  ASSERT_THAT(devices, SizeIs(1));
  ASSERT_THAT(devices[0].points, SizeIs(1));
  EXPECT_EQ(devices[0].points[0].kernel, "hgemm") << "its second kernel is in the range";
  EXPECT_DOUBLE_EQ(devices[0].points[0].ns, 10'500);
  EXPECT_DOUBLE_EQ(devices[0].kernelNs, 10'500);
  EXPECT_THAT(must(readRooflines(trace, metrics::Interval{12'000, 13'000})), SizeIs(0));
}

TEST_F(RooflineTest, PlacesKernelsUnderTheRoofOfTheirNumbers) {
  const auto queue = queueOn("NVIDIA A100-SXM4-80GB");
  const auto half = op("aten::mm", {0, 10}, kShapes, "[c10::Half,c10::Half]");
  const auto single = op("aten::mm", {20, 30}, kShapes, "[float,float]");
  const auto slow = op("aten::mm", {40, 50}, kShapes, "[float,float]");
  const auto add = op("aten::add", {60, 70}, "[[1000000],[1000000],[]]", "[float,float,Int]");
  kernel(queue, "hgemm", {1'000, 11'000}, {}, half);            // 200 TFLOP/s
  kernel(queue, "splitk", {11'000, 11'500}, {}, half);          // of the same operator
  kernel(queue, "sgemm", {20'000, 220'000}, {}, single);        // 10 TFLOP/s
  kernel(queue, "sgemm_slow", {300'000, 2'300'000}, {}, slow);  // 1 TFLOP/s
  kernel(queue, "add", {2'400'000, 2'410'000}, {}, add);        // 1,200 GB/s
  kernel(queue, "unknown", {2'500'000, 2'600'000});
  const auto devices = must(readRooflines(open()));
  ASSERT_THAT(devices, SizeIs(1));
  const DeviceRoofline& device = devices[0];
  EXPECT_EQ(device.device, "NVIDIA A100-SXM4-80GB");
  EXPECT_DOUBLE_EQ(device.bytesPerSecond, 2.039e12);
  ASSERT_THAT(device.roofs, SizeIs(2));
  EXPECT_DOUBLE_EQ(device.roofs[0].flopsPerSecond, 312e12);
  EXPECT_DOUBLE_EQ(device.roofs[1].flopsPerSecond, 19.5e12);
  EXPECT_DOUBLE_EQ(device.kernelNs, 10'500 + 200'000 + 2'000'000 + 10'000 + 100'000);
  ASSERT_THAT(device.points, SizeIs(4));
  const RooflinePoint& latency = device.points[0];
  EXPECT_EQ(latency.kernel, "sgemm_slow");
  EXPECT_EQ(latency.bound(), Bound::Latency);
  const RooflinePoint& compute = device.points[1];
  EXPECT_EQ(compute.kernel, "sgemm");
  EXPECT_NEAR(*compute.share(), 10 / 19.5, 1e-9);
  EXPECT_EQ(compute.bound(), Bound::Compute);
  EXPECT_NEAR(compute.intensity(), 2e9 / 12e6, 1e-6);
  EXPECT_EQ(compute.longest, (metrics::Interval{20'000, 220'000}));
  const RooflinePoint& products = device.points[2];
  EXPECT_EQ(products.kernel, "hgemm");  // the longest of the operator's
  EXPECT_DOUBLE_EQ(products.ns, 10'500);
  EXPECT_DOUBLE_EQ(products.roof(), 312e12);
  const RooflinePoint& memory = device.points[3];
  EXPECT_EQ(memory.operation, "add");
  EXPECT_EQ(memory.bound(), Bound::Memory);
  EXPECT_NEAR(*memory.share(), 1200.0 / 2039, 1e-9);
}

TEST_F(RooflineTest, SumsEqualKernels) {
  const auto queue = queueOn("NVIDIA A100-SXM4-80GB");
  for (int i = 0; i < 3; ++i) {
    const auto each = op("aten::mm", {i * 10, i * 10 + 5}, kShapes, "[float,float]");
    kernel(queue, "sgemm", {1'000'000 * i, 1'000'000 * i + 200'000 + i}, {}, each);
  }
  const auto devices = must(readRooflines(open()));
  ASSERT_THAT(devices, SizeIs(1));
  ASSERT_THAT(devices[0].points, SizeIs(1));
  EXPECT_EQ(devices[0].points[0].count, 3);
  EXPECT_DOUBLE_EQ(devices[0].points[0].flops, 6e9);
  EXPECT_EQ(devices[0].points[0].longest.begin, 2'000'000);
}

TEST_F(RooflineTest, OfAnUnknownDeviceHasNoRoofs) {
  const auto each = op("aten::mm", {0, 5}, kShapes, "[float,float]");
  kernel(queueOn("Some GPU"), "sgemm", {100, 200}, {}, each);
  const auto devices = must(readRooflines(open()));
  ASSERT_THAT(devices, SizeIs(1));
  EXPECT_EQ(devices[0].bytesPerSecond, 0);
  EXPECT_TRUE(devices[0].roofs.empty());
  EXPECT_EQ(devices[0].points[0].bound(), Bound::Unknown);
  EXPECT_FALSE(devices[0].points[0].share());
}

TEST_F(RooflineTest, WithoutKernelsHasOperatorsOfTheHost) {
  op("aten::mm", {100, 300}, kShapes, "[float,float]");
  const store::Database trace = open();
  const auto devices = must(readRooflines(trace));
  ASSERT_THAT(devices, SizeIs(1));
  EXPECT_TRUE(devices[0].isHost);
  EXPECT_DOUBLE_EQ(devices[0].points[0].ns, 200);
  EXPECT_EQ(devices[0].points[0].kernel, "");
  EXPECT_THAT(must(readRooflines(trace, metrics::Interval{299, 400})), SizeIs(1));
  EXPECT_THAT(must(readRooflines(trace, metrics::Interval{300, 400})), SizeIs(0));
}

TEST_F(RooflineTest, CombinesCountersOfAnOperation) {
  const auto device = trace_->add(
      model::Device{.hostId = host_, .kind = "gpu", .ordinal = 4, .name = "NVIDIA A100-SXM4-80GB"});
  const auto first = trace_->slice(rank_.thread, model::SliceKind::Forward, "forward", {100, 1100});
  const auto second =
      trace_->slice(rank_.thread, model::SliceKind::Forward, "forward", {2000, 3000});
  metric(first, device, "sm__sass_thread_inst_executed_op_ffma_pred_on.sum", 100);
  metric(first, device, "sm__sass_thread_inst_executed_op_fadd_pred_on.sum", 50);
  metric(first, device, "gpu__time_duration.sum", 10);
  metric(second, device, "gpu__time_duration.sum", 30);
  metric(second, device, "dram__bytes_read.sum", 500);
  const store::Database trace = open();
  const auto devices = must(readRooflines(trace));
  ASSERT_THAT(devices, SizeIs(1));
  ASSERT_THAT(devices[0].points, SizeIs(1));
  const RooflinePoint& point = devices[0].points[0];
  EXPECT_TRUE(point.isCounted);
  EXPECT_EQ(point.operation, "forward");
  EXPECT_EQ(point.count, 2);
  EXPECT_DOUBLE_EQ(point.ns, 40);
  EXPECT_DOUBLE_EQ(point.flops, 500);  // (2 · 100 + 50) of each of two
  EXPECT_DOUBLE_EQ(point.intensity(), 0.5);
  EXPECT_THAT(must(readRooflines(trace, metrics::Interval{1000, 1200})), SizeIs(1));
  EXPECT_THAT(must(readRooflines(trace, metrics::Interval{1100, 1200})), SizeIs(0));
}

TEST_F(RooflineTest, IsEmptyWithoutWork) {
  kernel(queueOn("NVIDIA A100-SXM4-80GB"), "sgemm", {100, 200});
  EXPECT_TRUE(must(readRooflines(open())).empty());
}

}  // namespace
}  // namespace sonde::engine::roofline
