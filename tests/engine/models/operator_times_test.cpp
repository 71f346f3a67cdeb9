#include "analysis/engine/models/kernels/operator_times.h"

#include "tests/support/device_trace.h"

#include <gtest/gtest.h>

namespace sonde::engine::models {
namespace {

class OperatorTimesTest : public test::DeviceTrace {
 protected:
  model::SliceId op(const char* name, Span time, model::SliceId in = {}) {
    return trace_->slice(rank_.thread, model::SliceKind::Operator, name, time, in);
  }
  void argument(model::SliceId slice, const char* key, const char* value) {
    trace_->add(model::Arg{model::Owner::Slice,
                           slice.value,
                           trace_->name(key),
                           model::ArgValue(std::string_view(value))});
  }
  void recorded(model::SliceId slice, const char* shapes, const char* types) {
    argument(slice, "shapes", shapes);
    argument(slice, "dtypes", types);
  }

  Rank rank_ = rank(0);
  model::StreamId queue_ = stream(rank_, 8);
};

TEST_F(OperatorTimesTest, OnDevicesAreThoseOfTheirKernels) {
  const auto one = op("aten::mm", {0, 100});
  argument(one, "args", R"({"Input Dims": [[2, 3], [3, 5]], "Input type": ["float", "float"]})");
  const auto other = op("aten::add", {100, 200});
  recorded(other, "[[8],[8],[]]", "[float,float,Int]");
  const auto unknown = op("aten::add", {200, 300});  // no sizes
  const auto reduced = op("aten::sum", {300, 400});
  recorded(reduced, "[[8]]", "[float]");
  const auto queue = stream(rank_, 7);
  kernel(queue, "gemm", {1000, 1030}, {}, one);
  kernel(queue, "splitk", {1030, 1040}, {}, one);
  kernel(queue, "add", {1040, 1045}, {}, other);
  kernel(queue, "add", {1045, 1050}, {}, unknown);
  const auto nccl = kernel(queue, "nccl", {1050, 1060}, {}, reduced);
  trace_->add(model::Collective{.processId = rank_.process, .kernelId = nccl, .startNs = 1050});
  const OperatorTimes found = test::must(readOperatorTimes(open()));
  EXPECT_TRUE(found.isOnDevice);
  ASSERT_EQ(found.operators.size(), 2U);
  EXPECT_EQ(found.operators[0].slice, one.value);
  EXPECT_EQ(found.operators[0].ns, 40);
  EXPECT_EQ(found.operators[0].work.flops, 60);
  EXPECT_EQ(found.operators[1].ns, 5);
  EXPECT_EQ(found.operators[1].work.bytes, 96);
  EXPECT_EQ(fitKernelModels(found).size(), 2U);
}

TEST_F(OperatorTimesTest, OnThreadsAreTheirOwn) {
  const auto outer = op("aten::addmm", {0, 100});
  recorded(outer, "[[5],[2,3],[3,5],[],[]]", "[float,float,float,Int,Int]");
  const auto inner = op("aten::copy_", {10, 40}, outer);
  recorded(inner, "[[10],[10],[]]", "[float,float,Bool]");
  const OperatorTimes found = test::must(readOperatorTimes(open()));
  EXPECT_FALSE(found.isOnDevice);
  ASSERT_EQ(found.operators.size(), 2U);
  EXPECT_EQ(found.operators[0].ns, 70);
  EXPECT_EQ(found.operators[1].ns, 30);
}

TEST_F(OperatorTimesTest, OfEqualWorkAreOnePoint) {
  for (const std::int64_t ns : {10, 12, 90}) {
    const auto each = op("aten::sum", {1000 * ns, 1000 * ns + ns});
    recorded(each, "[[8]]", "[float]");
  }
  const auto points = pointsOf(test::must(readOperatorTimes(open())));
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].ns, 12);
}

// Sums reach 100 GB/s, and copies 400.
TEST_F(OperatorTimesTest, GiveAnOperatorAModelOfItsOwn) {
  std::int64_t now = 0;
  const auto add = [&](const char* name, const char* types, std::int64_t size, std::int64_t ns) {
    const auto slice = op(name, {now, now + 1000});
    const std::string shapes = "[[" + std::to_string(size) + "]]";
    recorded(slice, shapes.c_str(), types);
    kernel(queue_, name, {now + 2000, now + 2000 + ns}, {}, slice);
    now += 10'000'000;
  };
  for (std::int64_t size = 100'000; size < 10'000'000; size *= 2) {
    add("aten::sum", "[float]", size, 2'000 + size / 25);
    add("aten::zero_", "[float]", size, 2'000 + size / 100);
  }
  const OperatorTimes times = test::must(readOperatorTimes(open()));
  const std::vector<KernelModel> fitted = fitKernelModels(times);
  ASSERT_EQ(fitted.size(), 3U);
  EXPECT_EQ(fitted[0].op, "");
  EXPECT_GT(fitted[0].error, 0.3);
  EXPECT_EQ(fitted[1].op, "sum");
  EXPECT_NEAR(1 / fitted[1].byteNs, 100, 0.1);
  EXPECT_EQ(fitted[2].op, "zero");
  EXPECT_NEAR(1 / fitted[2].byteNs, 400, 0.4);
  EXPECT_LT(fitted[2].error, 1e-3);
}

}  // namespace
}  // namespace sonde::engine::models
