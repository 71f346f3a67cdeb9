#include "session/calibration_rule.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace sonde::session {
namespace {

constexpr std::uint32_t kAll = ~0U;

TEST(CalibrationRule, IsTheSameForAllRanksOfAJob) {
  const wire::CalibrationRule rule = calibrationRule(10, kAll, "slurm:7.0");
  EXPECT_EQ(rule.blockIterations, 10U);
  EXPECT_EQ(rule.maskable, wire::kMaskableProbes);
  EXPECT_EQ(rule.seed, calibrationRule(20, 3, "slurm:7.0").seed);
  EXPECT_NE(rule.seed, calibrationRule(10, kAll, "slurm:7.1").seed);
  EXPECT_EQ(calibrationRule(10, kAll, "").seed, 0xcbf2'9ce4'8422'2325U) << "FNV-1a of nothing";
}

TEST(CalibrationRule, SwitchesWhatTheRunWasAskedFor) {
  const std::uint32_t asked =
      wire::probeBit(wire::Probe::Annotation) | wire::probeBit(wire::Probe::Net);
  EXPECT_EQ(calibrationRule(10, asked, "").maskable, wire::probeBit(wire::Probe::Net));
  EXPECT_EQ(calibrationRule(0, asked, "job").blockIterations, 0U);
  EXPECT_EQ(calibrationRule(0, asked, "job").maskable, 0U);
}

}  // namespace
}  // namespace sonde::session
