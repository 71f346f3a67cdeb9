#include "recorder/options/counter_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace sonde::recorder {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string metricsOf(std::string_view wanted) {
  const auto metrics = counterMetrics(wanted);
  return metrics ? *metrics : "error: " + metrics.error().message;
}

TEST(CounterSets, UtilizationIsRlScopesSix) {
  EXPECT_EQ(metricsOf("utilization"),
            "sm__warps_active.avg.pct_of_peak_sustained_active,"
            "smsp__cycles_active.avg.pct_of_peak_sustained_elapsed,smsp__inst_executed.sum,"
            "sm__cycles_active.sum,sm__warps_active.sum,sm__cycles_elapsed.sum");
}

TEST(CounterSets, RooflineHasOperationsTrafficAndOccupancy) {
  EXPECT_THAT(metricsOf("roofline"),
              AllOf(HasSubstr("op_ffma_pred_on.sum"),
                    HasSubstr("dram__bytes_read.sum|dram__bytes_op_read.sum,"),
                    HasSubstr("gpu__time_duration.sum"),
                    HasSubstr("sm__warps_active.avg.pct")));
}

TEST(CounterSets, SetsAndMetricsAddUpAndEachComesOnce) {
  EXPECT_EQ(metricsOf("sm__cycles_active.sum,l1tex__m_l1tex2xbar_req_cycles.avg"),
            "sm__cycles_active.sum,l1tex__m_l1tex2xbar_req_cycles.avg");
  EXPECT_EQ(metricsOf("sm__cycles_active.sum, CTC.TriageCompute.ctc__rx_bytes.sum "),
            "sm__cycles_active.sum,CTC.TriageCompute.ctc__rx_bytes.sum");
  const std::string both = metricsOf("utilization,sm__cycles_active.sum,roofline");
  EXPECT_EQ(std::count(both.begin(), both.end(), ','), 6 + 19 - 1 - 1);
}

TEST(CounterSets, WhatIsNeitherIsNamed) {
  EXPECT_THAT(metricsOf("rooflin"), AllOf(StartsWith("error: "), HasSubstr("\"rooflin\"")));
  EXPECT_THAT(metricsOf("utilization,,roofline"), HasSubstr("\"\""));
  EXPECT_THAT(metricsOf("sm__cycles_active. sum"), HasSubstr("error: "));
  std::string many = "a__0.sum";
  for (int at = 1; at < 65; ++at)
    many += ",a__" + std::to_string(at) + ".sum";
  EXPECT_THAT(metricsOf(many), HasSubstr("65 metrics, at most 64"));
}

}  // namespace
}  // namespace sonde::recorder
