#include "recorder/calibrate/calibration_found.h"

#include "analysis/engine/calibration/assumed_costs.h"
#include "analysis/store/database.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace sonde::recorder {
namespace {

using test::must;
using ::testing::HasSubstr;

// A finished trace of many iterations of 1 ms in blocks of ten. In every other block 30 calls of 1
// µs were recorded, each at an extra cost of 700 ns.
class CalibrationFoundTest : public ::testing::Test {
 protected:
  CalibrationFound of(int blocks) {
    const std::string path = folder_ / "t.sonde";
    test::TraceBuilder trace(path);
    const auto process = trace.add(
        model::Process{.hostId = trace.add(model::Host{.name = "h", .bootId = "b"}), .pid = 7});
    const auto main = trace.add(model::Thread{.processId = process, .tid = 7});
    trace.meta("calibrate", "10");
    std::int64_t now = 1'000'000;
    for (int number = 0; number < 10 * blocks; ++number) {
      const bool isOn = number / 10 % 2 == 0;
      const std::int64_t begin = now;
      for (int call = 0; call < 30; ++call, now += isOn ? 1'700 : 1'000)
        if (isOn)
          trace.slice(main, model::SliceKind::Io, "read", {now, now + 1'000}, {}, "io");
      now += 970'000 + number % 3 * 1'000;
      trace.add(model::Iteration{.processId = process,
                                 .number = number,
                                 .startNs = begin,
                                 .durNs = now - begin,
                                 .probeMask = 1 | (isOn ? model::probeBit("io") : 0)});
    }
    trace.finish();
    auto written = must(store::Database::open(path, store::Access::ReadWrite));
    must(engine::calibration::completeOverhead(written));
    must(engine::calibration::completeOverhead(written));  // as sonde recover may
    return must(readCalibration(path));
  }

  test::TemporaryFolder folder_;
};

TEST_F(CalibrationFoundTest, IsWhatTheRunHasShown) {
  const CalibrationFound found = of(40);
  EXPECT_EQ(found.whyNot, "");
  EXPECT_NEAR(found.overheadNs, 30 * 700, 2'000);
  EXPECT_NEAR(found.iterationNs, 1'022'000, 3'000);
  ASSERT_EQ(found.probes.size(), 1U);
  EXPECT_EQ(found.probes[0].name, "io");
  EXPECT_DOUBLE_EQ(found.probes[0].ns, found.overheadNs);
  EXPECT_THAT(calibrationLine(found), HasSubstr("recording takes 2."));
  EXPECT_THAT(calibrationLine(found), HasSubstr("of an iteration (io 2."));
}

TEST(CalibrationLine, TellsWhatTheRunHasNotShown) {
  CalibrationFound found;
  found.iterationNs = 1e6;
  found.overheadNs = 3e4;
  found.errorNs = 5e3;
  found.probes = {{"torch", 2e4, 1e3, true}, {"net", 1e4, 5e3, false}};
  EXPECT_EQ(
      calibrationLine(found),
      "recording takes 3.0 % ± 1.0 % of an iteration (torch 2.0); the run could not improve on "
      "these known costs (too short, too noisy, or cuda, whose CUPTI is never off): net 1.0");
}

TEST_F(CalibrationFoundTest, OfAShortRunItSaysWhy) {
  EXPECT_THAT(
      calibrationLine(of(3)),
      HasSubstr("the cost of recording could not be measured: the run did not calibrate itself: "));
}

TEST_F(CalibrationFoundTest, OfARunInWhichAllProbesWereOnItSaysSo) {
  EXPECT_THAT(of(1).whyNot, HasSubstr("all probes were on in all 10 iterations: blocks of 10"));
}

TEST_F(CalibrationFoundTest, OfARunWithoutIterationsItSaysSo) {
  EXPECT_THAT(of(0).whyNot, HasSubstr("the run had no iterations"));
}

}  // namespace
}  // namespace sonde::recorder
