#include "recorder/options/calibration_rule.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace sonde::recorder {
namespace {

constexpr std::uint32_t kAll = ~0U;

TEST(CalibrationRule, IsTheSameForAllRanksOfAJob) {
  const wire::CalibrationRule rule = calibrationRule({10, {}}, kAll, "slurm:7.0");
  EXPECT_EQ(rule.blockIterations, 10U);
  EXPECT_EQ(rule.maskable, wire::kMaskableProbes);
  EXPECT_EQ(rule.seed, calibrationRule({20, {}}, 3, "slurm:7.0").seed);
  EXPECT_NE(rule.seed, calibrationRule({10, {}}, kAll, "slurm:7.1").seed);
  EXPECT_EQ(calibrationRule({10, {}}, kAll, "").seed, 0xcbf2'9ce4'8422'2325U)
      << "FNV-1a of nothing";
}

TEST(CalibrationRule, SwitchesWhatTheRunWasAskedFor) {
  const std::uint32_t asked =
      wire::probeBit(wire::Probe::Annotation) | wire::probeBit(wire::Probe::Net);
  EXPECT_EQ(calibrationRule({10, {}}, asked, "").maskable, wire::probeBit(wire::Probe::Net));
  EXPECT_EQ(calibrationRule({}, asked, "job").blockIterations, 0U);
  EXPECT_EQ(calibrationRule({}, asked, "job").maskable, 0U);
}

TEST(CalibrationRule, HasProbesOffInAllIterations) {
  const auto given = parseCalibrate("without:net,torch");
  ASSERT_TRUE(given);
  const wire::CalibrationRule rule = calibrationRule(*given, kAll, "job");
  for (const std::int64_t number : {0, 5, 10, 1000})
    EXPECT_EQ(wire::maskedProbesOf(rule, number),
              wire::probeBit(wire::Probe::Net) | wire::probeBit(wire::Probe::Torch));
}

TEST(ParseCalibrate, RefusesWhatIsNoBlockAndNoSource) {
  EXPECT_EQ(parseCalibrate("20")->blockIterations, 20U);
  for (const char* const text : {"4", "", "ten", "10x", "-10", "without:", "without:gpu"})
    EXPECT_FALSE(parseCalibrate(text)) << text;
}

}  // namespace
}  // namespace sonde::recorder
