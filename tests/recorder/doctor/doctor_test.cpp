#include "recorder/doctor/doctor.h"

#include "recorder/options/sources.h"

#include <gmock/gmock.h>

namespace sonde::recorder {
namespace {

using ::testing::HasSubstr;

TEST(Doctor, TheClockIsTheCounterOnlyWhereTheKernelTrustsIt) {
  EXPECT_THAT(clockDescription("tsc"), HasSubstr("time-stamp counter"));
  EXPECT_THAT(clockDescription("tsc-early"), HasSubstr("clock source is tsc-early"));
  EXPECT_THAT(clockDescription("hpet"), HasSubstr("clock source is hpet"));
  EXPECT_THAT(clockDescription(""), HasSubstr("clock source is unknown"));
}

TEST(Doctor, ReportsEverySourceAndSaysWhyNot) {
  SpoolRequest request;
  request.variable = [](const std::string&) { return std::nullopt; };
  const DoctorReport report = examine(request);
  ASSERT_EQ(report.probes.size(), sourceNames().size());
  for (const ProbeReport& probe : report.probes)
    EXPECT_TRUE(probe.available || !probe.reason.empty()) << probe.name;
  EXPECT_FALSE(report.versions.at("kernel").empty());
  EXPECT_FALSE(report.versions.at("glibc").empty());
  EXPECT_EQ(report.versions.count("python"), 1U);
  EXPECT_EQ(report.spool.size(), 2U);
  EXPECT_FALSE(report.clock.empty());
}

}  // namespace
}  // namespace sonde::recorder
