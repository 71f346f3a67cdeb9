#include "analysis/engine/callpaths/busy_cells.h"

#include "tests/engine/callpaths/path_rig.h"

#include <gmock/gmock.h>

namespace sonde::engine::callpaths {
namespace {

using ::testing::ElementsAre;

// Iterations 0 and 1 of 100 and 60 ns, in cells of 25 ns:
//
//   main    |iteration 0: 100-200: forward 110-160 with a wait 130-140, api 180-190|
//   main    |iteration 1: 200-260: forward 200-240|      helper: mm 215-220
class BusyCellsTest : public PathRig {
 protected:
  BusyCellsTest() {
    for (const auto& [number, begin, end] : {std::tuple(0, 100, 200), std::tuple(1, 200, 260)}) {
      addIteration(number, {begin, end});
      trace_.slice(main_, SliceKind::Iteration, "iteration", {begin, end});
    }
    const auto forward = trace_.slice(main_, SliceKind::Forward, "forward", {110, 160});
    trace_.slice(main_, SliceKind::Wait, "lock", {130, 140}, forward);
    trace_.slice(main_, SliceKind::Operator, "mm", {140, 150}, forward);
    trace_.slice(main_, SliceKind::Api, "api", {180, 190});
    trace_.slice(main_, SliceKind::Forward, "forward", {200, 240});
    trace_.slice(helper_, SliceKind::Operator, "mm", {215, 220});
  }
  BusyCells cells(PathSource source, const PathFilter& filter) {
    finish();
    return test::must(busyCells(test::must(store::openTrace(path_)), source, filter, 4));
  }
};

TEST_F(BusyCellsTest, HaveTheTimeOfThreadsInSlicesWithoutWaits) {
  const BusyCells found = cells(PathSource::Slices, {});
  EXPECT_EQ(found.cellNs, 25);
  ASSERT_EQ(found.columns.size(), 2U);
  EXPECT_EQ(found.columns[1].number, 1);
  constexpr std::int64_t kAfter = BusyCells::kAfterEnd;
  EXPECT_THAT(found.values, ElementsAre(15, 25 + 5, 15, 15, 10, 0, 10, kAfter));
  EXPECT_EQ(found.timeOf(1, 0), (metrics::Interval{125, 150}));
  EXPECT_EQ(found.timeOf(2, 1), (metrics::Interval{250, 260}));
}

TEST_F(BusyCellsTest, OfAThreadOrAnOperationAreItsOwn) {
  constexpr std::int64_t kAfter = BusyCells::kAfterEnd;
  EXPECT_THAT(cells(PathSource::Slices, {.threads = {helper_.value}}).values,
              ElementsAre(0, 5, 0, 0, 0, 0, 0, kAfter));
  EXPECT_THAT(cells(PathSource::Slices, {.operation = "forward"}).values,
              ElementsAre(15, 25, 15, 15, 10, 0, 0, kAfter));
}

TEST_F(BusyCellsTest, OfDeviceWorkHaveItsTime) {
  addKernel("gemm", {190, 210}, {});
  constexpr std::int64_t kAfter = BusyCells::kAfterEnd;
  EXPECT_THAT(cells(PathSource::DeviceWork, {}).values, ElementsAre(0, 10, 0, 0, 0, 0, 10, kAfter));
}

TEST_F(BusyCellsTest, OfSamplesHaveThemAtTheirInstant) {
  sample(main_, 199, {}, 7);
  sample(main_, 200, {}, 9);
  sample(main_, 260, {}, 1);
  constexpr std::int64_t kAfter = BusyCells::kAfterEnd;
  EXPECT_THAT(cells(PathSource::CpuSamples, {}).values, ElementsAre(0, 9, 0, 0, 0, 0, 7, kAfter));
}

TEST_F(BusyCellsTest, OfARankWithoutIterationsAreNone) {
  EXPECT_TRUE(cells(PathSource::Slices, {.rank = 4}).columns.empty());
}

}  // namespace
}  // namespace sonde::engine::callpaths
