#include "tests/engine/summaries/summaries_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <variant>

namespace sonde::engine::metrics {
namespace {

using model::SliceKind;

// Two metrics of two instances of an operation; the first has two stretches.
void addCounters(test::TraceBuilder& trace,
                 model::DeviceMetric metric,
                 const std::vector<model::SliceId>& instances) {
  struct Stretch {
    std::size_t instance;
    std::int64_t durNs;
    double sum;
    double share;
  };
  for (const Stretch& stretch :
       {Stretch{0, 10, 100, 20}, Stretch{0, 30, 200, 40}, Stretch{1, 20, 1000, 50}}) {
    metric.sliceId = instances[stretch.instance];
    metric.durNs = stretch.durNs;
    metric.nameId = trace.name("sm__cycles_active.sum");
    metric.value = stretch.sum;
    trace.add(metric);
    metric.nameId = trace.name("sm__warps_active.avg.pct_of_peak_sustained_active");
    metric.value = stretch.share;
    trace.add(metric);
  }
}

// A range "step" of 100 ns at 0 and one of 300 at 1000; in each a launch of 10 ns at its begin,
// whose kernel "gemm" runs 50 ns after the call for 20 (first) and 60 ns; a copy of 3 MB in the
// first.
void writeTrace(const std::string& path) {
  test::TraceBuilder trace(path);
  model::Host host;
  host.name = "h";
  model::Process process;
  process.hostId = trace.add(host);
  process.pid = 10;
  const model::ProcessId processId = trace.add(process);
  model::Thread thread;
  thread.processId = processId;
  thread.tid = 11;
  const model::ThreadId threadId = trace.add(thread);
  model::Stream stream;
  stream.processId = processId;
  stream.number = 7;
  const model::StreamId streamId = trace.add(stream);
  std::vector<model::SliceId> ranges;
  std::int64_t begin = 0;
  for (const auto& [length, kernelNs] : {std::pair(100, 20), std::pair(300, 60)}) {
    model::Slice range;
    range.threadId = threadId;
    range.kind = SliceKind::Operation;
    range.category = "nvtx";
    range.nameId = trace.name("step");
    range.startNs = begin;
    range.durNs = length;
    range.id = trace.add(range);
    ranges.push_back(range.id);
    model::Slice call = range;
    call.id = {};
    call.kind = SliceKind::Api;
    call.category = "cuda_runtime";
    call.nameId = trace.name("cudaLaunchKernel");
    call.durNs = 10;
    call.parentId = range.id;
    call.depth = 1;
    call.id = trace.add(call);
    model::Kernel kernel;
    kernel.work.streamId = streamId;
    kernel.work.nameId = trace.name("gemm");
    kernel.work.startNs = begin + 60;
    kernel.work.durNs = kernelNs;
    kernel.work.launchSliceId = call.id;
    trace.add(kernel);
    if (begin == 0) {
      model::Copy copy;
      copy.work = kernel.work;
      copy.work.startNs = 90;
      copy.work.durNs = 30;
      copy.work.bytes = 3'000'000;
      copy.kind = model::CopyKind::HostToDevice;
      trace.add(copy);
    }
    begin += 1000;
  }
  model::DeviceMetric metric;
  metric.threadId = threadId;
  metric.deviceId = trace.add(model::Device{.hostId = process.hostId, .kind = "gpu"});
  addCounters(trace, metric, ranges);
  trace.finish();
}

class SummariesTest : public SummariesFixture {
 protected:
  SummariesTest() : SummariesFixture(writeTrace) {}
};

TEST_F(SummariesTest, GivesTheSpreadOfKernels) {
  const auto rows = rowsOf("cuda_gpu_kern_sum");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].at("Name"), SummaryCell("gemm"));
  EXPECT_EQ(rows[0].at("Time (%)"), SummaryCell(100.0));
  EXPECT_EQ(rows[0].at("Total Time (ns)"), whole(80));
  EXPECT_EQ(rows[0].at("Instances"), whole(2));
  EXPECT_EQ(rows[0].at("Avg (ns)"), SummaryCell(40.0));
  EXPECT_EQ(rows[0].at("Med (ns)"), SummaryCell(40.0));
  EXPECT_EQ(rows[0].at("Min (ns)"), whole(20));
  EXPECT_EQ(rows[0].at("Max (ns)"), whole(60));
  EXPECT_NEAR(std::get<double>(rows[0].at("StdDev (ns)")), 28.284271, 1e-6);
}

TEST_F(SummariesTest, SharesTheTimeAmongGroups) {
  const auto rows = rowsOf("cuda_gpu_sum");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].at("Category"), SummaryCell("CUDA_KERNEL"));
  EXPECT_EQ(rows[1].at("Operation"), SummaryCell("[CUDA memcpy Host-to-Device]"));
  EXPECT_NEAR(std::get<double>(rows[1].at("Time (%)")), 100.0 * 30 / 110, 1e-9);
}

TEST_F(SummariesTest, CountsSizesInMegabytes) {
  const auto rows = rowsOf("cuda_gpu_mem_size_sum");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].at("Total (MB)"), SummaryCell(3.0));
  EXPECT_EQ(rows[0].at("StdDev (MB)"), SummaryCell(0.0));
}

TEST_F(SummariesTest, SplitsALaunchIntoCallQueueAndKernel) {
  const auto rows = rowsOf("cuda_kern_exec_sum");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].at("PID"), whole(10));
  EXPECT_EQ(rows[0].at("TID"), whole(11));
  EXPECT_EQ(rows[0].at("API Name"), SummaryCell("cudaLaunchKernel"));
  EXPECT_EQ(rows[0].at("QCount"), whole(2));
  EXPECT_EQ(rows[0].at("AMin (ns)"), whole(10));
  EXPECT_EQ(rows[0].at("QMin (ns)"), whole(50));
  EXPECT_EQ(rows[0].at("KMax (ns)"), whole(60));
  EXPECT_EQ(rows[0].at("TMax (ns)"), whole(120));
}

TEST_F(SummariesTest, ProjectsRangesOntoTheDevice) {
  const auto rows = rowsOf("nvtx_gpu_proj_sum");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].at("Range"), SummaryCell(":step"));
  EXPECT_EQ(rows[0].at("Style"), SummaryCell("PushPop"));
  EXPECT_EQ(rows[0].at("Total Proj Time (ns)"), whole((120 - 60) + 60));
  EXPECT_EQ(rows[0].at("Total Range Time (ns)"), whole(400));
  EXPECT_EQ(rows[0].at("Total GPU Ops"), whole(3));
  EXPECT_EQ(rows[0].at("Avg GPU Ops"), SummaryCell(1.5));
}

TEST_F(SummariesTest, FindsTheKernelsOfARange) {
  const auto rows = rowsOf("nvtx_kern_sum");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].at("NVTX Inst"), whole(2));
  EXPECT_EQ(rows[0].at("Kern Inst"), whole(2));
  EXPECT_EQ(rows[0].at("Total Time (ns)"), whole(80));
}

TEST_F(SummariesTest, CountersAreSummedOrWeightedByTimeOverAnInstance) {
  const auto rows = rowsOf("gpu_counter_sum");
  ASSERT_EQ(rows.size(), 2U);
  const bool sumsFirst = rows[0].at("Metric") == SummaryCell("sm__cycles_active.sum");
  const auto& sums = rows[sumsFirst ? 0 : 1];
  const auto& shares = rows[sumsFirst ? 1 : 0];
  EXPECT_EQ(sums.at("Operation"), SummaryCell("step"));
  EXPECT_EQ(sums.at("Instances"), whole(2));
  EXPECT_EQ(sums.at("Min"), SummaryCell(300.0));   // 100 in 10 ns and 200 in 30 ns
  EXPECT_EQ(sums.at("Max"), SummaryCell(1000.0));  // one stretch
  EXPECT_EQ(sums.at("Avg"), SummaryCell(650.0));
  EXPECT_EQ(shares.at("Min"), SummaryCell(35.0));  // 20 % for 10 ns and 40 % for 30 ns
  EXPECT_EQ(shares.at("Max"), SummaryCell(50.0));
}

TEST_F(SummariesTest, HasEveryTableAndNoOther) {
  const std::set<std::string_view> withRows = {"nvtx_sum",
                                               "nvtx_pushpop_sum",
                                               "cuda_api_sum",
                                               "cuda_gpu_kern_sum",
                                               "cuda_gpu_mem_time_sum",
                                               "cuda_gpu_mem_size_sum",
                                               "cuda_gpu_sum",
                                               "cuda_kern_exec_sum",
                                               "nvtx_kern_sum",
                                               "nvtx_gpu_proj_sum",
                                               "gpu_counter_sum"};
  for (const SummaryName& each : summaryNames())
    EXPECT_EQ(rowsOf(each.name).empty(), withRows.count(each.name) == 0) << each.name;
  const store::Database trace = test::must(store::openTrace(folder_ / "t.sonde"));
  EXPECT_EQ(summarise(trace, "none_sum").error().code, ErrorCode::NotFound);
}

// The spread of one value, and lists joined.
using Titles = std::vector<std::string>;
Titles spread(const std::string& prefix = "", const std::string& unit = "ns") {
  Titles titles;
  for (const char* const name : {"Avg", "Med", "Min", "Max", "StdDev"})
    titles.push_back(prefix + name + " (" + unit + ")");
  return titles;
}
Titles joined(std::initializer_list<Titles> lists) {
  Titles all;
  for (const Titles& list : lists)
    all.insert(all.end(), list.begin(), list.end());
  return all;
}
Titles timed(const std::string& count, const Titles& labels) {
  return joined({{"Time (%)", "Total Time (ns)", count}, spread(), labels});
}

// In the format of `nsys stats --format csv`.
TEST_F(SummariesTest, HasTheColumnsThatNsightHasInItsOrder) {
  const std::map<std::string_view, Titles> tables = {
      {"nvtx_sum", timed("Instances", {"Style", "Range"})},
      {"nvtx_pushpop_sum", timed("Instances", {"Range"})},
      {"nvtx_startend_sum", timed("Instances", {"Range"})},
      {"osrt_sum", timed("Num Calls", {"Name"})},
      {"mpi_event_sum", timed("Instances", {"Source", "Name"})},
      {"cuda_api_sum", timed("Num Calls", {"Name"})},
      {"cuda_gpu_kern_sum", timed("Instances", {"Name"})},
      {"cuda_gpu_mem_time_sum", timed("Count", {"Operation"})},
      {"cuda_gpu_mem_size_sum", joined({{"Total (MB)", "Count"}, spread("", "MB"), {"Operation"}})},
      {"cuda_gpu_sum", timed("Instances", {"Category", "Operation"})},
      {"cuda_kern_exec_sum",
       joined({{"PID", "TID", "DevId", "Count", "QCount"},
               spread("T"),
               spread("A"),
               spread("Q"),
               spread("K"),
               {"API Name", "Kernel Name"}})},
      {"nvtx_kern_sum",
       joined({{"NVTX Range", "Style", "PID", "TID", "NVTX Inst", "Kern Inst", "Total Time (ns)"},
               spread(),
               {"Kernel Name"}})},
      {"nvtx_gpu_proj_sum",
       joined(
           {{"Range", "Style", "Total Proj Time (ns)", "Total Range Time (ns)", "Range Instances"},
            spread("Proj "),
            {"Total GPU Ops", "Avg GPU Ops", "Avg Range Lvl", "Avg Num Child"}})},
      {"gpu_counter_sum",
       {"Operation", "Metric", "Instances", "Avg", "Med", "Min", "Max", "StdDev"}},
      {"operator_sum", timed("Instances", {"Name"})},
      {"collective_sum",
       timed("Instances", {"Bytes (MB)", "Waiting (ns)", "Ranks", "Backend", "Collective"})},
      {"file_sum", timed("Num Calls", {"Bytes (MB)", "Call", "File"})}};
  for (const SummaryName& each : summaryNames()) {
    ASSERT_EQ(tables.count(each.name), 1U) << each.name;
    EXPECT_EQ(titlesOf(each.name), tables.at(each.name)) << each.name;
  }
  EXPECT_EQ(summaryNames().size(), tables.size());
}

}  // namespace
}  // namespace sonde::engine::metrics
