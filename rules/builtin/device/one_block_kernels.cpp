#include "analysis/store/communication_kernels.h"
#include "analysis/store/read_rows.h"
#include "rules/builtin/device/device_judge.h"
#include "rules/builtin/device/device_rules.h"

#include <fmt/format.h>

#include <map>
#include <optional>

namespace sonde::rules {
namespace {

// Kernels of one name of a process.
struct NamedKernelsRow {
  std::int64_t processId = 0;
  std::optional<std::int64_t> rank;
  std::int64_t pid = 0;
  std::string name;
  std::int64_t ns = 0;
  std::int64_t known = 0;  // with a grid
  std::int64_t small = 0;  // of one block
  std::int64_t smallNs = 0;

  SONDE_COLUMNS(processId, rank, pid, name, ns, known, small, smallNs)
};

constexpr std::string_view kKernelsByName =
    "SELECT s.process_id, p.rank, p.pid, n.text AS name, sum(k.dur_ns) AS ns,"
    " count(k.grid_x) AS known,"
    " count(*) FILTER (WHERE k.grid_x * k.grid_y * k.grid_z = 1) AS small,"
    " coalesce(sum(k.dur_ns) FILTER (WHERE k.grid_x * k.grid_y * k.grid_z = 1), 0) AS small_ns"
    " FROM kernel k JOIN stream s ON s.id = k.stream_id JOIN process p ON p.id = s.process_id"
    " JOIN string n ON n.id = k.name_id GROUP BY s.process_id, k.name_id"
    " ORDER BY p.rank, s.process_id, small_ns DESC";

struct SmallKernels {
  std::string entity;
  std::int64_t ns = 0;
  std::int64_t known = 0;
  std::int64_t small = 0;
  std::int64_t smallNs = 0;
  std::string most;  // the name of the small ones that take most time
};

Outcome judgeSmall(const SmallKernels& kernels, const Parameters& parameters) {
  Outcome outcome;
  outcome.samples = kernels.known;
  if (kernels.known == 0) {
    outcome.message = "the trace has no numbers of blocks";
    return outcome;
  }
  const double share =
      kernels.ns > 0 ? static_cast<double>(kernels.smallNs) / static_cast<double>(kernels.ns) : 0;
  decide(outcome, share, parameters.real("max_share"));
  outcome.evidence["kernels"] = kernels.small;
  outcome.evidence["ns"] = kernels.smallNs;
  outcome.message =
      fmt::format("{} of {} kernels have one block; they take {:.1f} % of the kernels' time",
                  kernels.small,
                  kernels.known,
                  100 * share);
  if (kernels.small == 0)
    return outcome;
  outcome.evidence["kernel"] = kernels.most;
  outcome.query =
      "SELECT name, count(*), sum(dur_ns) FROM v_kernel WHERE grid_x * grid_y * grid_z = 1 GROUP "
      "BY "
      "name ORDER BY 3 DESC";
  return outcome;
}

// Kernels that communicate have few blocks on purpose: they are left out.
Result<std::vector<Finding>> judgeSmallKernels(Facts& facts, const Parameters& parameters) {
  SONDE_TRY_ASSIGN(const store::Database* const trace, facts.recent());
  SONDE_TRY_ASSIGN(const auto communication, store::CommunicationKernels::read(*trace));
  std::map<std::int64_t, SmallKernels> byProcess;
  SONDE_TRY(
      store::forEach<NamedKernelsRow>(*trace, kKernelsByName, [&](const NamedKernelsRow& row) {
        SmallKernels& kernels = byProcess[row.processId];
        kernels.entity =
            row.rank ? fmt::format("rank {}", *row.rank) : fmt::format("process {}", row.pid);
        if (communication.holds(row.name))
          return;
        kernels.ns += row.ns;
        kernels.known += row.known;
        kernels.small += row.small;
        kernels.smallNs += row.smallNs;
        if (kernels.most.empty() && row.small > 0)
          kernels.most = row.name;
      }));
  std::vector<Finding> findings;
  for (const auto& [process, kernels] : byProcess)
    findings.push_back({kernels.entity, judgeSmall(kernels, parameters)});
  return findings;
}

}  // namespace

RuleInfo oneBlockKernels() {
  RuleInfo info;
  info.name = "one-block-kernels";
  info.profile = Profile::Performance;
  info.summary = "kernels of one block, which use one multiprocessor, take much of the time";
  info.details =
      "Fires if kernels of one block, without those that communicate, take more than `max_share` "
      "of the "
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
