#include "analysis/engine/callpaths/call_paths.h"

#include "analysis/engine/callpaths/call_views.h"
#include "analysis/store/trace_file.h"
#include "tests/engine/callpaths/path_rig.h"

#include <gmock/gmock.h>

namespace sonde::engine::callpaths {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// One process of rank 0 with two threads; times in ns:
//
//   main   |iteration 100-200: |forward 110-150: mm 115-125, mm 130-150| |backward 150-190|
//   helper                                              |mm 155-175 (in backward)|
class CallPathsTest : public PathRig {
 protected:
  CallPathsTest() {
    iteration_ = trace_.slice(main_, SliceKind::Iteration, "iteration", {100, 200});
    forward_ = trace_.slice(main_, SliceKind::Forward, "forward", {110, 150}, iteration_);
    first_ = trace_.slice(main_, SliceKind::Operator, "mm", {115, 125}, forward_);
    second_ = trace_.slice(main_, SliceKind::Operator, "mm", {130, 150}, forward_);
    backward_ = trace_.slice(main_, SliceKind::Backward, "backward", {150, 190}, iteration_);
    trace_.add(model::Slice{.threadId = helper_,
                            .kind = SliceKind::Operator,
                            .category = "torch",
                            .nameId = trace_.name("mm"),
                            .startNs = 155,
                            .durNs = 20,
                            .scopeId = backward_,
                            .scopeHow = model::ScopeHow::Inherited});
  }
  model::SliceId iteration_;
  model::SliceId forward_;
  model::SliceId first_;
  model::SliceId second_;
  model::SliceId backward_;
};

TEST_F(CallPathsTest, AreTheSlicesByTheOnesAroundThem) {
  EXPECT_THAT(lines(PathSource::Slices, {}),
              ElementsAre("iteration 100 = 20 own, 1",
                          "iteration;backward 40 = 40 own, 1",
                          "iteration;forward 40 = 10 own, 1",
                          "iteration;forward;mm 30 = 30 own, 2",
                          "mm 20 = 20 own, 1"));
}

TEST_F(CallPathsTest, OfARangeAreClippedToIt) {
  EXPECT_THAT(lines(PathSource::Slices, {.range = {{120, 140}}}),
              ElementsAre("iteration 20 = 0 own, 1",
                          "iteration;forward 20 = 5 own, 1",
                          "iteration;forward;mm 15 = 15 own, 2"));
  EXPECT_THAT(lines(PathSource::Slices, {.range = {{200, 300}}}), IsEmpty());
}

// An unfinished trace has no lines, and all rows are read.
TEST_F(CallPathsTest, OfARangeOfAnUnfinishedTraceAreTheSame) {
  finish(false);
  EXPECT_THAT(lines(PathSource::Slices, {.range = {{120, 140}}}),
              ElementsAre("iteration 20 = 0 own, 1",
                          "iteration;forward 20 = 5 own, 1",
                          "iteration;forward;mm 15 = 15 own, 2"));
}

TEST_F(CallPathsTest, OfAThreadARankOrAProcessAreItsOwn) {
  EXPECT_THAT(lines(PathSource::Slices, {.threads = {helper_.value}}),
              ElementsAre("mm 20 = 20 own, 1"));
  EXPECT_THAT(lines(PathSource::Slices, {.rank = 1}), IsEmpty());
  EXPECT_THAT(lines(PathSource::Slices, {.processes = {process_.value + 1}}), IsEmpty());
  EXPECT_EQ(lines(PathSource::Slices, {.rank = 0, .processes = {process_.value}}).size(), 5U);
}

TEST_F(CallPathsTest, ByThreadBeginWithProcessAndThread) {
  EXPECT_THAT(lines(PathSource::Slices, {.threads = {helper_.value}, .byThread = true}),
              ElementsAre("rank 0 20 = 0 own, 1",
                          "rank 0;helper 2 20 = 0 own, 1",
                          "rank 0;helper 2;mm 20 = 20 own, 1"));
}

TEST_F(CallPathsTest, OfAnOperationBeginWithItAndHaveTheThreadsThatInheritedIt) {
  EXPECT_THAT(lines(PathSource::Slices, {.operation = "forward"}),
              ElementsAre("forward 40 = 10 own, 1", "forward;mm 30 = 30 own, 2"));
  EXPECT_THAT(lines(PathSource::Slices, {.operation = "backward"}),
              ElementsAre("backward 40 = 40 own, 1", "mm 20 = 20 own, 1"));
  EXPECT_THAT(lines(PathSource::Slices, {.operation = "nothing"}), IsEmpty());
}

TEST_F(CallPathsTest, LeaveOutWhatNeedNotNestAndEndWithTheirProcess) {
  trace_.slice(helper_, SliceKind::Range, "request", {100, 900});
  trace_.slice(helper_, SliceKind::Mark, "mark", {180, 180});
  trace_.add(model::Slice{.threadId = helper_,
                          .kind = SliceKind::Wait,
                          .category = "sync",
                          .nameId = trace_.name("hangs"),
                          .startNs = 400});
  EXPECT_THAT(lines(PathSource::Slices, {.threads = {helper_.value}}),
              ElementsAre("hangs 600 = 600 own, 1", "mm 20 = 20 own, 1"));
}

// 10 ns of a child lie beyond what the other one leaves.
TEST_F(CallPathsTest, OfSlicesThatOverlapHaveNoNegativeTime) {
  trace_.slice(main_, SliceKind::Api, "b", {150, 190}, backward_);
  trace_.add(model::Slice{.threadId = main_,
                          .kind = SliceKind::Api,
                          .category = "torch",
                          .nameId = trace_.name("c"),
                          .startNs = 180,
                          .durNs = 10,
                          .parentId = backward_,
                          .depth = 2,
                          .lane = 1});
  EXPECT_THAT(lines(PathSource::Slices, {.range = {{150, 190}}, .operation = "backward"}),
              ElementsAre("backward 40 = 0 own, 1",
                          "backward;b 40 = 40 own, 1",
                          "backward;c 10 = 10 own, 1",
                          "mm 20 = 20 own, 1"));
}

TEST_F(CallPathsTest, OfIterationsLeaveOutTheirNumber) {
  for (const std::int64_t number : {12, 13})
    trace_.slice(helper_,
                 SliceKind::Iteration,
                 "ProfilerStep#" + std::to_string(number),
                 {100 * number, 100 * number + 50});
  trace_.slice(helper_, SliceKind::Operation, "part#1", {2000, 2010});
  EXPECT_THAT(lines(PathSource::Slices, {.range = {{1000, 3000}}}),
              ElementsAre("ProfilerStep 100 = 100 own, 2", "part#1 10 = 10 own, 1"));
}

TEST_F(CallPathsTest, LeadToTheLongestEventOfTheirPath) {
  finish();
  const CallTree tree = read(PathSource::Slices, {});
  EXPECT_EQ(tree.longest[nodeOf(tree, "iteration;forward;mm")].id, second_.value);
  EXPECT_EQ(tree.longest[nodeOf(tree, "iteration;forward;mm")].beginNs, 130);
  EXPECT_EQ(tree.longest[nodeOf(tree, "iteration;forward;mm")].endNs, 150);
}

TEST_F(CallPathsTest, TotalsAreTheSumsOfSqlInJobTime) {
  trace_.add(model::ClockMap{.hostId = host_, .fromNs = 0, .offsetNs = 1000, .driftPpb = 0});
  finish();
  const CallTree tree = read(PathSource::Slices, {.range = {{1118, 1160}}});
  EXPECT_EQ(tree.totalNs[nodeOf(tree, "iteration;forward")],
            number("SELECT sum(min(end_ns, 1160) - max(start_ns, 1118)) FROM v_slice WHERE name = "
                   "'forward' AND start_ns < 1160 AND end_ns > 1118"));
  std::int64_t products = 0;
  for (CallNode node = 1; node < tree.size(); ++node)
    if (tree.textOf(node) == "mm")
      products += tree.totalNs[node];
  EXPECT_EQ(products,
            number("SELECT sum(min(end_ns, 1160) - max(start_ns, 1118)) FROM v_slice WHERE name = "
                   "'mm' AND start_ns < 1160 AND end_ns > 1118"));
  EXPECT_EQ(tree.totalNs[kRoot], 42 + 5);
}

// A kernel that the second product launched, one of backward, and a copy without a launch.
TEST_F(CallPathsTest, OfDeviceWorkAreThoseOfItsLaunch) {
  addKernel("gemm", {160, 200}, second_);
  addKernel("gemm", {210, 215}, second_);
  addKernel("relu", {300, 330}, backward_);
  addCopy("memcpy", {100, 107});
  EXPECT_THAT(lines(PathSource::DeviceWork, {}),
              ElementsAre("iteration 75 = 0 own, 3",
                          "iteration;forward 45 = 0 own, 2",
                          "iteration;backward 30 = 0 own, 1",
                          "iteration;forward;mm 45 = 0 own, 2",
                          "iteration;backward;relu 30 = 30 own, 1",
                          "iteration;forward;mm;gemm 45 = 45 own, 2",
                          "[launch not recorded] 7 = 0 own, 1",
                          "[launch not recorded];memcpy 7 = 7 own, 1"));
  const CallTree tree = read(PathSource::DeviceWork, {});
  EXPECT_EQ(tree.tables[tree.names[nodeOf(tree, "iteration;forward;mm;gemm")]],
            Instance::Table::Kernel);
  EXPECT_EQ(tree.tables[tree.names[nodeOf(tree, "iteration;forward")]], Instance::Table::None);
  EXPECT_EQ(inverted(tree).tables, tree.tables);
  EXPECT_EQ(inverted(tree).texts, tree.texts);
  // The launch lies before the range.
  EXPECT_THAT(lines(PathSource::DeviceWork, {.range = {{190, 212}}}),
              ElementsAre("iteration 12 = 0 own, 2",
                          "iteration;forward 12 = 0 own, 2",
                          "iteration;forward;mm 12 = 0 own, 2",
                          "iteration;forward;mm;gemm 12 = 12 own, 2"));
  EXPECT_THAT(lines(PathSource::DeviceWork, {.operation = "backward"}),
              ElementsAre("backward 30 = 0 own, 1", "backward;relu 30 = 30 own, 1"));
  EXPECT_THAT(lines(PathSource::DeviceWork, {.threads = {helper_.value}}), IsEmpty());
}

TEST_F(CallPathsTest, OfSamplesAreTheirFunctions) {
  const auto outer = stack({}, "main.py", "train");
  const auto inner = stack(outer, "", "sgemm");
  sample(main_, 120, inner, 10);
  sample(main_, 130, inner, 10);
  sample(main_, 140, outer, 10);
  sample(helper_, 160, {}, 5);
  EXPECT_THAT(lines(PathSource::CpuSamples, {}),
              ElementsAre("train (main.py:7) 30 = 10 own, 3",
                          "train (main.py:7);sgemm 20 = 20 own, 2",
                          "[unknown] 5 = 5 own, 1"));
  EXPECT_THAT(
      lines(PathSource::CpuSamples, {.range = {{130, 140}}}),
      ElementsAre("train (main.py:7) 10 = 0 own, 1", "train (main.py:7);sgemm 10 = 10 own, 1"));
  EXPECT_THAT(lines(PathSource::CpuSamples, {.threads = {helper_.value}, .byThread = true}),
              ElementsAre("rank 0 5 = 0 own, 1",
                          "rank 0;helper 2 5 = 0 own, 1",
                          "rank 0;helper 2;[unknown] 5 = 5 own, 1"));
}

TEST_F(CallPathsTest, HaveTheSourcesOfTheTrace) {
  sample(main_, 120, {}, 10);
  finish();
  EXPECT_THAT(test::must(pathSources(test::must(store::openTrace(path_)))),
              ElementsAre(PathSource::Slices, PathSource::CpuSamples));
}

TEST_F(CallPathsTest, WithoutSamplesNameTheOptionThatRecordsThem) {
  finish();
  const auto tree = callPaths(test::must(store::openTrace(path_)), PathSource::CpuSamples, {});
  ASSERT_FALSE(tree);
  EXPECT_THAT(tree.error().message, ::testing::HasSubstr("--sources +stack"));
}

}  // namespace
}  // namespace sonde::engine::callpaths
