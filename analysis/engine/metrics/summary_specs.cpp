#include "analysis/engine/metrics/summary_specs.h"

#include <fmt/format.h>

namespace sonde::engine::metrics {
namespace {

using Columns = std::vector<SummarySource>;

constexpr double kMega = 1e6;

// "Avg (ns)" and its like of one value.
void addSpread(Columns& columns,
               std::size_t value,
               const std::string& prefix = "",
               const std::string& unit = "ns",
               double scale = 1) {
  const std::pair<const char*, From> kParts[] = {{"Avg", From::Average},
                                                 {"Med", From::Median},
                                                 {"Min", From::Least},
                                                 {"Max", From::Greatest},
                                                 {"StdDev", From::Deviation}};
  for (const auto& [name, from] : kParts)
    columns.push_back({fmt::format("{}{} ({})", prefix, name, unit), from, value, scale});
}

// "Time (%)", "Total Time (ns)", the count, the spread, and the labels.
Columns timeColumns(const std::string& count, const std::vector<std::string>& labels) {
  Columns columns = {{"Time (%)", From::Share}, {"Total Time (ns)", From::Total}};
  columns.push_back({count, From::Count});
  addSpread(columns, 0);
  for (std::size_t label = 0; label < labels.size(); ++label)
    columns.push_back({labels[label], From::Label, label});
  return columns;
}

// What Nsight calls the kinds of `copy`.
constexpr std::string_view kOperation =
    "CASE kind WHEN 'set' THEN '[CUDA memset]' ELSE '[CUDA memcpy ' || CASE kind "
    "WHEN 'host_to_device' THEN 'Host-to-Device' WHEN 'device_to_host' THEN 'Device-to-Host' "
    "WHEN 'device_to_device' THEN 'Device-to-Device' WHEN 'host_to_host' THEN 'Host-to-Host' "
    "WHEN 'peer_to_peer' THEN 'Peer-to-Peer' ELSE 'other' END || ']' END";

// Ranges that a program names: NVTX, Sonde's own annotations and hooks, record_function.
constexpr std::string_view kIsRange =
    "category IN ('nvtx', 'annotation', 'torch', 'user_annotation') AND kind <> 'mark' "
    "AND dur_ns IS NOT NULL";
constexpr std::string_view kStyle = "CASE kind WHEN 'range' THEN 'StartEnd' ELSE 'PushPop' END";

// Calls of CUDA's or ROCm's API, as probes and importers call them.
constexpr std::string_view kIsDeviceApi =
    "kind = 'api' AND (category = 'cuda' OR category GLOB 'cuda_*' OR category GLOB '*_runtime' OR "
    "category GLOB '*_driver' OR category = 'Runtime')";

// Each piece of device work with every range around its launch. `work`: kernels, or copies as well.
std::string rangesOfWork(std::string_view work) {
  return fmt::format(
      "WITH RECURSIVE around(work_id, owner, slice_id) AS (SELECT id, owner, launch_slice_id "
      "FROM ({}) WHERE launch_slice_id IS NOT NULL UNION ALL SELECT a.work_id, a.owner, "
      "s.parent_id FROM around a JOIN slice s ON s.id = a.slice_id WHERE s.parent_id IS NOT NULL) ",
      work);
}

constexpr std::string_view kKernels = "SELECT id, 'kernel' AS owner, launch_slice_id FROM kernel";
constexpr std::string_view kAllWork =
    "SELECT id, 'kernel' AS owner, launch_slice_id FROM kernel UNION ALL "
    "SELECT id, 'copy', launch_slice_id FROM copy";

SummarySpec apiSum() {
  return {
      "cuda_api_sum",
      "CUDA API Summary",
      1,
      1,
      fmt::format("SELECT name, dur_ns FROM v_slice WHERE {} AND dur_ns IS NOT NULL", kIsDeviceApi),
      timeColumns("Num Calls", {"Name"})};
}

SummarySpec kernelSum() {
  return {"cuda_gpu_kern_sum",
          "CUDA GPU Kernel Summary",
          1,
          1,
          "SELECT name, dur_ns FROM v_kernel WHERE dur_ns IS NOT NULL",
          timeColumns("Instances", {"Name"})};
}

SummarySpec memoryTimeSum() {
  return {"cuda_gpu_mem_time_sum",
          "CUDA GPU MemOps Summary (by Time)",
          1,
          1,
          fmt::format("SELECT {}, dur_ns FROM copy WHERE dur_ns IS NOT NULL", kOperation),
          timeColumns("Count", {"Operation"})};
}

SummarySpec memorySizeSum() {
  Columns columns = {{"Total (MB)", From::Total, 0, kMega}, {"Count", From::Count}};
  addSpread(columns, 0, "", "MB", kMega);
  columns.push_back({"Operation"});
  return {"cuda_gpu_mem_size_sum",
          "CUDA GPU MemOps Summary (by Size)",
          1,
          1,
          fmt::format("SELECT {}, bytes FROM copy WHERE bytes IS NOT NULL", kOperation),
          columns};
}

SummarySpec deviceSum() {
  Columns columns = timeColumns("Instances", {"Category", "Operation"});
  return {"cuda_gpu_sum",
          "CUDA GPU Summary (Kernels/MemOps)",
          2,
          1,
          fmt::format("SELECT 'CUDA_KERNEL', name, dur_ns FROM v_kernel WHERE dur_ns IS NOT NULL "
                      "UNION ALL SELECT 'MEMORY_OPER', {}, dur_ns FROM copy "
                      "WHERE dur_ns IS NOT NULL",
                      kOperation),
          columns};
}

// From launch to end: the call (A), the queue between its end and the kernel's begin (Q; not there
// when the kernel began before the call returned), the kernel (K), and all of it (T).
SummarySpec kernelExecSum() {
  Columns columns = {{"PID", From::Label, 0},
                     {"TID", From::Label, 1},
                     {"DevId", From::Label, 2},
                     {"Count", From::Count},
                     {"QCount", From::Present, 2}};
  const char* const kPrefixes[] = {"T", "A", "Q", "K"};
  for (std::size_t value = 0; value < std::size(kPrefixes); ++value)
    addSpread(columns, value, kPrefixes[value]);
  columns.push_back({"API Name", From::Label, 3});
  columns.push_back({"Kernel Name", From::Label, 4});
  return {"cuda_kern_exec_sum",
          "CUDA Kernel Launch & Exec Time Summary",
          5,
          4,
          "SELECT s.pid, s.tid, k.device, s.name, k.name, k.end_ns - s.start_ns, s.dur_ns, "
          "CASE WHEN k.start_ns > s.end_ns THEN k.start_ns - s.end_ns END, k.dur_ns "
          "FROM v_kernel k JOIN v_slice s ON s.id = k.launch_slice_id "
          "WHERE k.dur_ns IS NOT NULL AND s.dur_ns IS NOT NULL",
          columns};
}

SummarySpec rangeSum(std::string_view name, std::string_view title, std::string_view style) {
  const bool all = style.empty();
  return {name,
          title,
          all ? 2U : 1U,
          1,
          fmt::format("SELECT {}name, dur_ns FROM v_slice WHERE {}{}",
                      all ? fmt::format("{}, ", kStyle) : "",
                      kIsRange,
                      all ? "" : fmt::format(" AND {} = '{}'", kStyle, style)),
          all ? timeColumns("Instances", {"Style", "Range"}) : timeColumns("Instances", {"Range"})};
}

SummarySpec rangeKernelSum() {
  Columns columns = {{"NVTX Range", From::Label, 0},
                     {"Style", From::Label, 1},
                     {"PID", From::Label, 2},
                     {"TID", From::Label, 3},
                     {"NVTX Inst", From::Distinct, 1},
                     {"Kern Inst", From::Count},
                     {"Total Time (ns)", From::Total}};
  addSpread(columns, 0);
  columns.push_back({"Kernel Name", From::Label, 4});
  return {"nvtx_kern_sum",
          "NVTX Range Kernel Summary",
          5,
          2,
          rangesOfWork(kKernels) +
              fmt::format("SELECT s.name, {}, s.pid, s.tid, k.name, k.dur_ns, s.id FROM around a "
                          "JOIN v_slice s ON s.id = a.slice_id JOIN v_kernel k ON k.id = a.work_id "
                          "WHERE s.{} AND k.dur_ns IS NOT NULL",
                          "CASE s.kind WHEN 'range' THEN 'StartEnd' ELSE 'PushPop' END",
                          "category IN ('nvtx', 'annotation', 'torch', 'user_annotation') AND "
                          "s.kind <> 'mark' AND s.dur_ns IS NOT NULL"),
          columns};
}

// A range projected onto the devices: from the begin of the first work that was launched in it to
// the end of the last.
SummarySpec projectionSum() {
  Columns columns = {{"Range", From::Label, 0},
                     {"Style", From::Label, 1},
                     {"Total Proj Time (ns)", From::Total, 0},
                     {"Total Range Time (ns)", From::Total, 1},
                     {"Range Instances", From::Count}};
  addSpread(columns, 0, "Proj ");
  columns.push_back({"Total GPU Ops", From::Total, 2});
  columns.push_back({"Avg GPU Ops", From::Average, 2});
  columns.push_back({"Avg Range Lvl", From::Average, 3});
  return {"nvtx_gpu_proj_sum",
          "NVTX GPU Projection Summary",
          2,
          4,
          rangesOfWork(kAllWork) +
              "SELECT s.name, CASE s.kind WHEN 'range' THEN 'StartEnd' ELSE 'PushPop' END, "
              "max(w.end_ns) - min(w.start_ns), s.dur_ns, count(*), s.depth FROM around a "
              "JOIN v_slice s ON s.id = a.slice_id JOIN (SELECT id, 'kernel' AS owner, start_ns, "
              "end_ns FROM v_kernel UNION ALL SELECT id, 'copy', start_ns, end_ns FROM v_copy) w "
              "ON w.id = a.work_id AND w.owner = a.owner WHERE s.category IN ('nvtx', "
              "'annotation', 'torch', 'user_annotation') AND s.kind <> 'mark' AND "
              "s.dur_ns IS NOT NULL GROUP BY s.id",
          columns};
}

SummarySpec callSum(std::string_view name, std::string_view title, std::string_view condition) {
  return {
      name,
      title,
      1,
      1,
      fmt::format("SELECT name, dur_ns FROM v_slice WHERE {} AND dur_ns IS NOT NULL", condition),
      timeColumns("Num Calls", {"Name"})};
}

}  // namespace

const std::vector<SummarySpec>& summarySpecs() {
  static const std::vector<SummarySpec> kSpecs = {
      rangeSum("nvtx_sum", "NVTX Range Summary", ""),
      rangeSum("nvtx_pushpop_sum", "NVTX Push/Pop Range Summary", "PushPop"),
      rangeSum("nvtx_startend_sum", "NVTX Start/End Range Summary", "StartEnd"),
      callSum("osrt_sum", "OS Runtime Summary", "kind IN ('io', 'wait')"),
      callSum("mpi_event_sum", "MPI Event Summary", "category = 'mpi'"),
      apiSum(),
      kernelSum(),
      memoryTimeSum(),
      memorySizeSum(),
      deviceSum(),
      kernelExecSum(),
      rangeKernelSum(),
      projectionSum(),
  };
  return kSpecs;
}

}  // namespace sonde::engine::metrics
