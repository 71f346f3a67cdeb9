#include "analysis/engine/summaries/summary_specs.h"

#include "analysis/engine/summaries/own_specs.h"
#include "analysis/engine/summaries/spec_parts.h"

#include <fmt/format.h>

#include <utility>

namespace sonde::engine::metrics {
namespace {

// Nsight's names for the kinds of a row of v_copy. A copy of managed memory has an ordinary kind;
// only its name shows it.
constexpr std::string_view kOperation =
    "CASE kind WHEN 'set' THEN '[CUDA memset]' ELSE '[CUDA memcpy ' || "
    "iif(name GLOB 'Memcpy Unified *', 'Unified ', '') || CASE kind "
    "WHEN 'host_to_device' THEN 'Host-to-Device' WHEN 'device_to_host' THEN 'Device-to-Host' "
    "WHEN 'device_to_device' THEN 'Device-to-Device' WHEN 'host_to_host' THEN 'Host-to-Host' "
    "WHEN 'peer_to_peer' THEN 'Peer-to-Peer' ELSE 'other' END || ']' END";

// Ranges that a program names: NVTX, Sonde's own annotations and hooks, record_function. `row`: the
// alias of a row of slice or v_slice.
std::string isRange(std::string_view row) {
  return fmt::format(
      "({0}.category IN ('nvtx', 'annotation', 'torch', 'user_annotation') AND {0}.kind <> 'mark' "
      "AND {0}.dur_ns IS NOT NULL)",
      row);
}

std::string styleOf(std::string_view row) {
  return fmt::format("CASE {}.kind WHEN 'range' THEN 'StartEnd' ELSE 'PushPop' END", row);
}

// The name of a row of v_slice. NVTX ranges have the domain before the name; the default domain is
// empty. Imported slices have their arguments as one text.
std::string rangeNameOf(std::string_view row) {
  return fmt::format(
      "CASE {0}.category WHEN 'nvtx' THEN coalesce((SELECT value FROM v_arg WHERE owner = 'slice' "
      "AND owner_id = {0}.id AND key = 'domain'), (SELECT CASE WHEN json_valid(value) THEN "
      "json_extract(value, '$.domain') END FROM v_arg WHERE owner = 'slice' AND owner_id = {0}.id "
      "AND key = 'args'), '') || ':' || {0}.name ELSE {0}.name END",
      row);
}

// Calls of the CUDA or ROCm API, by the categories of probes and importers.
constexpr std::string_view kIsDeviceApi =
    "kind = 'api' AND (category = 'cuda' OR category GLOB 'cuda_*' OR category GLOB '*_runtime' OR "
    "category GLOB '*_driver' OR category = 'Runtime')";

// The launches of device work (`work`) and ranges: the input of makeHeldSlices().
std::string launchesAndRanges(std::string_view work) {
  return fmt::format(
      "SELECT launch_slice_id AS id, 0 AS is_range FROM ({}) WHERE launch_slice_id IS NOT NULL "
      "UNION ALL SELECT id, 1 FROM slice s WHERE {}",
      work,
      isRange("s"));
}

std::string kernels(const Limits& limits) {
  return fmt::format(
      "SELECT id, launch_slice_id, {} AS dur_ns, name FROM v_kernel "
      "WHERE dur_ns IS NOT NULL AND {}",
      limits.partOfRow(),
      limits.includeRow());
}
std::string allWork(const Limits& limits) {
  return fmt::format(
      "SELECT launch_slice_id, {0} AS start_ns, {1} AS end_ns FROM v_kernel "
      "WHERE dur_ns IS NOT NULL AND {2} UNION ALL "
      "SELECT launch_slice_id, {0}, {1} FROM v_copy WHERE dur_ns IS NOT NULL AND {2}",
      limits.begin(),
      limits.end(),
      limits.includeRow());
}

SummarySpec apiSum(const Limits& limits) {
  return {"cuda_api_sum",
          "CUDA API Summary",
          1,
          1,
          fmt::format("SELECT name, {} FROM v_slice WHERE {} AND dur_ns IS NOT NULL AND {}",
                      limits.partOfRow(),
                      kIsDeviceApi,
                      limits.includeRow()),
          timeColumns("Num Calls", {"Name"})};
}

SummarySpec kernelSum(const Limits& limits) {
  return {"cuda_gpu_kern_sum",
          "CUDA GPU Kernel Summary",
          1,
          1,
          fmt::format("SELECT name, {} FROM v_kernel WHERE dur_ns IS NOT NULL AND {}",
                      limits.partOfRow(),
                      limits.includeRow()),
          timeColumns("Instances", {"Name"})};
}

SummarySpec memoryTimeSum(const Limits& limits) {
  return {"cuda_gpu_mem_time_sum",
          "CUDA GPU MemOps Summary (by Time)",
          1,
          1,
          fmt::format("SELECT {}, {} FROM v_copy WHERE dur_ns IS NOT NULL AND {}",
                      kOperation,
                      limits.partOfRow(),
                      limits.includeRow()),
          timeColumns("Count", {"Operation"})};
}

// Without a known end, a copy counts at its begin.
SummarySpec memorySizeSum(const Limits& limits) {
  Columns columns = {{"Total (MB)", From::Total, 0, kMega}, {"Count", From::Count}};
  addSpread(columns, 0, "", "MB", kMega);
  columns.push_back({"Operation"});
  return {"cuda_gpu_mem_size_sum",
          "CUDA GPU MemOps Summary (by Size)",
          1,
          1,
          fmt::format("SELECT {}, bytes FROM v_copy WHERE bytes IS NOT NULL AND {}",
                      kOperation,
                      limits.include("start_ns", "coalesce(end_ns, start_ns)")),
          columns};
}

SummarySpec deviceSum(const Limits& limits) {
  Columns columns = timeColumns("Instances", {"Category", "Operation"});
  return {"cuda_gpu_sum",
          "CUDA GPU Summary (Kernels/MemOps)",
          2,
          1,
          fmt::format("SELECT 'CUDA_KERNEL', name, {1} FROM v_kernel WHERE dur_ns IS NOT NULL AND "
                      "{2} UNION ALL SELECT 'MEMORY_OPER', {0}, {1} FROM v_copy "
                      "WHERE dur_ns IS NOT NULL AND {2}",
                      kOperation,
                      limits.partOfRow(),
                      limits.includeRow()),
          columns};
}

// From launch to end: the call (A); the queue from its end to the kernel's begin (Q; absent if the
// kernel began before the call returned); the kernel (K); and all of it (T), to the later end of
// call and kernel. Counts in a range of time if all of it shares time with that.
SummarySpec kernelExecSum(const Limits& limits) {
  const std::string end = "max(k.end_ns, s.end_ns)";
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
          6,
          4,
          fmt::format("SELECT s.pid, s.tid, k.device, s.name, k.name, s.thread_id, {}, {}, "
                      "CASE WHEN k.start_ns > s.end_ns THEN {} END, {} "
                      "FROM v_kernel k JOIN v_slice s ON s.id = k.launch_slice_id "
                      "WHERE k.dur_ns IS NOT NULL AND s.dur_ns IS NOT NULL AND {}",
                      limits.partOf("s.start_ns", end),
                      limits.partOfRow("s."),
                      limits.partOf("s.end_ns", "k.start_ns"),
                      limits.partOfRow("k."),
                      limits.include("s.start_ns", end)),
          columns};
}

SummarySpec rangeSum(const Limits& limits,
                     std::string_view name,
                     std::string_view title,
                     std::string_view style) {
  const bool all = style.empty();
  return {name,
          title,
          all ? 2U : 1U,
          1,
          fmt::format("SELECT {}{}, {} FROM v_slice r WHERE {} AND {}{}",
                      all ? styleOf("r") + ", " : "",
                      rangeNameOf("r"),
                      limits.partOfRow("r."),
                      isRange("r"),
                      limits.includeRow("r."),
                      all ? "" : fmt::format(" AND {} = '{}'", styleOf("r"), style)),
          all ? timeColumns("Instances", {"Style", "Range"}) : timeColumns("Instances", {"Range"})};
}

// CROSS JOIN keeps the order of the tables. SQLite does not know the sizes of temporary ones, and
// would read all of one for each row of another.
SummarySpec rangeKernelSum(const Limits& limits) {
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
          6,
          2,
          fmt::format("SELECT {}, {}, r.pid, r.tid, w.name, r.thread_id, w.dur_ns, r.id "
                      "FROM ({}) w CROSS JOIN held h ON h.slice_id = w.launch_slice_id "
                      "CROSS JOIN v_slice r ON r.id = h.range_id",
                      rangeNameOf("r"),
                      styleOf("r"),
                      kernels(limits)),
          columns,
          launchesAndRanges(kernels(limits))};
}

// A range projected onto the devices: from the begin of the first work launched in it to the end of
// the last. Its level counts the ranges around it; its children are one level deeper.
SummarySpec projectionSum(const Limits& limits) {
  Columns columns = {{"Range", From::Label, 0},
                     {"Style", From::Label, 1},
                     {"Total Proj Time (ns)", From::Total, 0},
                     {"Total Range Time (ns)", From::Total, 1},
                     {"Range Instances", From::Count}};
  addSpread(columns, 0, "Proj ");
  columns.push_back({"Total GPU Ops", From::Total, 2});
  columns.push_back({"Avg GPU Ops", From::Average, 2});
  columns.push_back({"Avg Range Lvl", From::Average, 3});
  columns.push_back({"Avg Num Child", From::Average, 4});
  return {"nvtx_gpu_proj_sum",
          "NVTX GPU Projection Summary",
          2,
          5,
          fmt::format("SELECT {}, {}, max(w.end_ns) - min(w.start_ns), {}, count(*), "
                      "held_range.level, held_range.children FROM ({}) w CROSS JOIN held h "
                      "ON h.slice_id = w.launch_slice_id CROSS JOIN held_range "
                      "ON held_range.id = h.range_id CROSS JOIN v_slice r ON r.id = h.range_id "
                      "GROUP BY r.id",
                      rangeNameOf("r"),
                      styleOf("r"),
                      limits.partOfRow("r."),
                      allWork(limits)),
          columns,
          launchesAndRanges(allWork(limits))};
}

SummarySpec systemSum(const Limits& limits) {
  return {"osrt_sum",
          "OS Runtime Summary",
          1,
          1,
          fmt::format("SELECT name, {} FROM v_slice WHERE kind IN ('io', 'wait') AND "
                      "dur_ns IS NOT NULL AND {}",
                      limits.partOfRow(),
                      limits.includeRow()),
          timeColumns("Num Calls", {"Name"})};
}

// The source is Nsight's class of a call.
SummarySpec mpiSum(const Limits& limits) {
  return {"mpi_event_sum",
          "MPI Event Summary",
          2,
          1,
          fmt::format(
              "SELECT CASE WHEN name GLOB 'MPI_Wait*' OR name GLOB 'MPI_Start*' THEN 'start_wait' "
              "WHEN kind <> 'collective' THEN 'other' WHEN name GLOB '*[Ss]end*' OR "
              "name GLOB '*[Rr]ecv*' THEN 'p2p' ELSE 'collectives' END, name, {} "
              "FROM v_slice WHERE category = 'mpi' AND dur_ns IS NOT NULL AND {}",
              limits.partOfRow(),
              limits.includeRow()),
          timeColumns("Instances", {"Source", "Name"})};
}

}  // namespace

std::vector<SummarySpec> summarySpecs(const std::optional<Interval>& within) {
  const Limits limits(within);
  std::vector<SummarySpec> specs = {
      rangeSum(limits, "nvtx_sum", "NVTX Range Summary", ""),
      rangeSum(limits, "nvtx_pushpop_sum", "NVTX Push/Pop Range Summary", "PushPop"),
      rangeSum(limits, "nvtx_startend_sum", "NVTX Start/End Range Summary", "StartEnd"),
      systemSum(limits),
      mpiSum(limits),
      apiSum(limits),
      kernelSum(limits),
      memoryTimeSum(limits),
      memorySizeSum(limits),
      deviceSum(limits),
      kernelExecSum(limits),
      rangeKernelSum(limits),
      projectionSum(limits),
  };
  for (SummarySpec& own : ownSpecs(limits))
    specs.push_back(std::move(own));
  return specs;
}

}  // namespace sonde::engine::metrics
