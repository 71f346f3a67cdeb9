#include "analysis/store/read_rows.h"
#include "rules/builtin/device/device_judge.h"
#include "rules/builtin/device/device_rules.h"

#include <fmt/format.h>

namespace sonde::rules {
namespace {

struct SmallKernelRow {
  std::optional<std::int64_t> rank;
  std::int64_t pid = 0;
  std::int64_t ns = 0;       // of all kernels
  std::int64_t kernels = 0;  // with a known grid
  std::int64_t small = 0;    // of these: of one block
  std::int64_t smallNs = 0;
  std::string longest;  // name of the longest small kernel

  SONDE_COLUMNS(rank, pid, ns, kernels, small, smallNs, longest)
};

constexpr std::string_view kSmallKernels =
    "SELECT p.rank, p.pid, sum(k.dur_ns) AS ns, count(k.grid_x) AS kernels,"
    " count(*) FILTER (WHERE k.grid_x * k.grid_y * k.grid_z = 1) AS small,"
    " coalesce(sum(k.dur_ns) FILTER (WHERE k.grid_x * k.grid_y * k.grid_z = 1), 0) AS small_ns,"
    " '' AS longest FROM kernel k JOIN stream s ON s.id = k.stream_id"
    " JOIN process p ON p.id = s.process_id GROUP BY p.id ORDER BY p.rank, p.id";

Result<std::vector<Finding>> judgeSmallKernels(Facts& facts, const Parameters& parameters) {
  SONDE_TRY_ASSIGN(const auto rows, store::readAll<SmallKernelRow>(facts.trace(), kSmallKernels));
  std::vector<Finding> findings;
  for (const SmallKernelRow& row : rows) {
    Finding finding{
        row.rank ? fmt::format("rank {}", *row.rank) : fmt::format("process {}", row.pid), {}};
    Outcome& outcome = finding.outcome;
    outcome.samples = row.kernels;
    if (row.kernels == 0) {
      outcome.message = "the trace has no numbers of blocks";
    } else {
      const double share =
          row.ns > 0 ? static_cast<double>(row.smallNs) / static_cast<double>(row.ns) : 0;
      decide(outcome, share, parameters.real("max_share"));
      outcome.evidence["kernels"] = row.small;
      outcome.evidence["ns"] = row.smallNs;
      outcome.query =
          "SELECT name, count(*), sum(dur_ns) FROM v_kernel WHERE grid_x * grid_y * grid_z = 1 "
          "GROUP "
          "BY name ORDER BY 3 DESC";
      outcome.message = fmt::format(
          "{} of {} kernels have one block; they take {:.1f} % of the "
          "kernels' time",
          row.small,
          row.kernels,
          100 * share);
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

RuleInfo oneBlockKernels() {
  RuleInfo info;
  info.name = "one-block-kernels";
  info.profile = Profile::Performance;
  info.summary = "kernels of one block, which use one multiprocessor, take much of the time";
  info.details =
      "Fires if kernels whose grid has a single block take more than `max_share` of the "
      "time of all kernels.";
  info.needs = "cuda";
  info.hint =
      "use a larger batch, fuse the operator with its neighbours, or run it beside others on "
      "a stream of its own";
  info.next = {
      "sonde sql TRACE \"SELECT name, count(*), sum(dur_ns) FROM v_kernel WHERE grid_x * "
      "grid_y * grid_z = 1 GROUP BY name ORDER BY 3 DESC\""};
  info.parameters = {{"max_share", 0.05, "largest healthy share of the kernels' time", 0, 1}};
  info.judge = judgeIfDevices(judgeSmallKernels);
  return info;
}

}  // namespace sonde::rules
