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

}  // namespace
}  // namespace sonde::engine::models
