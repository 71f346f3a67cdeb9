#include "analysis/engine/callpaths/launched_work.h"

#include "analysis/store/each_row.h"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::engine::callpaths {

using store::Statement;

Result<WorkReader> WorkReader::prepare(const store::Database& trace, const PathFilter& filter) {
  SONDE_TRY_ASSIGN(const align::JobClock clock, align::JobClock::read(trace));
  WorkReader reader(trace);
  const auto& only = filter.processes;
  const auto add = [&](const Statement& row) -> Result<void> {
    const bool isOne =
        only.empty() || std::find(only.begin(), only.end(), row.integer(1)) != only.end();
    if (isOne && (!filter.rank || row.optionalInteger(3) == filter.rank))
      reader.streams_.emplace(row.integer(0), clock.clockOf(row.integer(2)));
    return {};
  };
  SONDE_TRY(store::forEachRow(trace,
                              "SELECT s.id, p.id, p.host_id, p.rank FROM stream s JOIN process p "
                              "ON p.id = s.process_id",
                              add));
  return reader;
}

Result<void> WorkReader::visit(const std::optional<metrics::Interval>& range,
                               const Visit& visit) const {
  SONDE_TRY(visitTable(Instance::Table::Kernel, range, visit));
  return visitTable(Instance::Table::Copy, range, visit);
}

Result<void> WorkReader::visitTable(Instance::Table table,
                                    const std::optional<metrics::Interval>& range,
                                    const Visit& visit) const {
  const auto read = [&](const Statement& row) -> Result<void> {
    const auto clock = streams_.find(row.integer(1));
    if (clock == streams_.end())
      return {};
    LaunchedWork work;
    const std::int64_t beginNs = clock->second.toJob(row.integer(3));
    work.event = {
        table, row.integer(0), beginNs, beginNs + std::max<std::int64_t>(row.integer(4), 0)};
    if (range && (work.event.beginNs >= range->end || work.event.endNs <= range->begin))
      return {};
    work.nameId = row.integer(2);
    work.launchId = row.integer(5);
    work.scopeId = row.integer(6);
    work.launchNs = beginNs - row.integer(7);
    return visit(work);
  };
  return store::forEachRow(
      *trace_,
      fmt::format("SELECT id, stream_id, name_id, start_ns, dur_ns, launch_slice_id, scope_id, "
                  "coalesce(launch_delay_ns, start_ns - (SELECT s.start_ns FROM slice s WHERE s.id "
                  "= launch_slice_id)) FROM {} WHERE dur_ns IS NOT NULL",
                  table == Instance::Table::Kernel ? "kernel" : "copy"),
      read);
}

}  // namespace sonde::engine::callpaths
