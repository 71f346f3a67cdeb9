#include "cli/report/report_usage_tables.h"

#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <string>
#include <utility>

namespace sonde::cli {
namespace {

namespace metrics = engine::metrics;
using Row = std::vector<Cell>;

Cell shareOf(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? Cell(static_cast<double>(part) / static_cast<double>(whole)) : Cell();
}

Table withColumns(std::vector<Column> first, std::vector<Column> more) {
  first.insert(
      first.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return {std::move(first), {}};
}

Row joined(Row first, Row more) {
  first.insert(
      first.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return first;
}

std::vector<Column> memoryColumns() {
  return {rankColumn(),
          textColumn("process", "process"),
          textColumn("place", "memory of"),
          textColumn("allocator", "allocator")};
}
Row memoryPlace(const metrics::MemoryUse& use) {
  return {orNone(use.rank), use.process, use.place, use.allocator};
}

Table memoryTable(const UsageReport& usage, std::int64_t originNs) {
  Table table = withColumns(memoryColumns(),
                            {countColumn("blocks", "blocks"),
                             bytesColumn("allocated_bytes", "allocated"),
                             bytesColumn("base_bytes", "before"),
                             bytesColumn("peak_bytes", "peak"),
                             durationColumn("peak_ns", "at"),
                             {"peak_iteration", "in step", ColumnKind::Number},
                             bytesColumn("end_bytes", "at the end"),
                             bytesColumn("sampled_peak_bytes", "sampled")});
  for (const metrics::MemoryUse& use : usage.memory)
    table.rows.push_back(joined(memoryPlace(use),
                                {use.blocks,
                                 use.allocatedBytes,
                                 use.baseBytes,
                                 use.peak.bytes,
                                 use.peak.ns - originNs,
                                 orNone(use.peakIteration),
                                 use.endBytes,
                                 orNone(use.sampledPeakBytes)}));
  return table;
}

Table holderTable(const UsageReport& usage, std::int64_t) {
  Table table = withColumns(memoryColumns(),
                            {textColumn("operation_kind", "kind"),
                             textColumn("operation", "operation"),
                             textColumn("scope_kind", "within"),
                             textColumn("scope", "scope"),
                             countColumn("blocks", "blocks"),
                             bytesColumn("bytes", "held"),
                             shareColumn("share", "share")});
  for (const metrics::MemoryUse& use : usage.memory) {
    for (const metrics::MemoryHolder& holder : use.holders)
      table.rows.push_back(joined(memoryPlace(use),
                                  {holder.operationKind,
                                   holder.operation,
                                   holder.scopeKind,
                                   holder.scope,
                                   holder.blocks,
                                   holder.bytes,
                                   shareOf(holder.bytes, use.peak.bytes)}));
  }
  return table;
}

Table memoryOperationTable(const UsageReport& usage, std::int64_t) {
  Table table = withColumns(memoryColumns(),
                            {textColumn("kind", "kind"),
                             textColumn("name", "operation"),
                             countColumn("count", "count"),
                             bytesColumn("peak_bytes", "highest"),
                             countColumn("blocks", "blocks"),
                             bytesColumn("allocated_bytes", "allocated"),
                             bytesColumn("kept_bytes", "kept"),
                             bytesColumn("freed_bytes", "freed")});
  for (const metrics::MemoryUse& use : usage.memory) {
    for (const metrics::MemoryOperation& each : use.operations)
      table.rows.push_back(joined(memoryPlace(use),
                                  {each.kind,
                                   each.name,
                                   each.count,
                                   each.peakBytes,
                                   each.blocks,
                                   each.allocatedBytes,
                                   each.keptBytes,
                                   each.freedBytes}));
  }
  return table;
}

Table stallTable(const UsageReport& usage, std::int64_t) {
  Table table{{rankColumn(),
               textColumn("cause", "waiting for"),
               countColumn("count", "stalls"),
               durationColumn("threshold_ns", "threshold"),
               countColumn("above", "above"),
               countColumn("iterations", "in steps"),
               durationColumn("ns", "total"),
               durationColumn("p50_ns", "p50"),
               durationColumn("p95_ns", "p95"),
               durationColumn("max_ns", "max"),
               shareColumn("share", "share"),
               durationColumn("wait_ns", "in waits"),
               durationColumn("file_ns", "in files"),
               durationColumn("device_idle_ns", "device idle"),
               durationColumn("first_half_ns", "a step: first half"),
               durationColumn("second_half_ns", "second half"),
               textColumn("trend", "trend")},
              {}};
  for (const metrics::RankStalls& rank : usage.stalls)
    for (const metrics::StallTime& each : rank.causes)
      table.rows.push_back(
          {orNone(rank.rank),
           std::string(metrics::kStallCauseNames[static_cast<std::size_t>(each.cause)]),
           each.count,
           rank.thresholdNs,
           each.above,
           each.iterations,
           each.ns,
           each.p50Ns,
           each.p95Ns,
           each.maxNs,
           each.share,
           orNone(each.waitNs),
           each.fileNs,
           orNone(each.deviceIdleNs),
           orNone(each.firstHalfNs),
           orNone(each.secondHalfNs),
           std::string(metrics::kTrendNames[static_cast<std::size_t>(each.trend)])});
  return table;
}

Table fileTable(const UsageReport& usage, std::int64_t) {
  Table table{{rankColumn(),
               textColumn("by", "by"),
               textColumn("call", "call"),
               textColumn("served_by", "served by"),
               countColumn("calls", "calls"),
               durationColumn("ns", "time"),
               bytesColumn("bytes", "bytes"),
               bytesColumn("disk_bytes", "from disks")},
              {}};
  for (const metrics::FileCalls& each : usage.files)
    table.rows.push_back({orNone(each.rank),
                          each.by,
                          each.call,
                          each.servedBy.empty() ? Cell() : Cell(each.servedBy),
                          each.calls,
                          each.ns,
                          each.bytes,
                          each.diskBytes});
  return table;
}

Table changeTable(const UsageReport& usage, std::int64_t originNs) {
  Table table{{rankColumn(),
               {"number", "from step", ColumnKind::Number},
               durationColumn("at_ns", "at"),
               countColumn("iterations_before", "steps before"),
               countColumn("iterations_after", "after"),
               durationColumn("before_ns", "a step before"),
               durationColumn("after_ns", "after"),
               shareColumn("change", "change"),
               durationColumn("low_ns", "by at least"),
               durationColumn("high_ns", "at most"),
               textColumn("moved", "what moved most")},
              {}};
  for (const auto& rank : usage.changes)
    for (const auto& each : rank.changes) {
      std::string moved;
      if (!each.operations.empty())
        moved = fmt::format("{} {} {}{}",
                            engine::diff::word(each.operations[0].kind),
                            each.operations[0].name,
                            each.operations[0].byNs() > 0 ? "+" : "",
                            humanDuration(each.operations[0].byNs()));
      table.rows.push_back({orNone(rank.rank),
                            each.number,
                            each.atNs - originNs,
                            each.iterationsBefore,
                            each.iterationsAfter,
                            each.beforeNs,
                            each.afterNs,
                            shareOf(each.afterNs - each.beforeNs, each.beforeNs),
                            each.lowNs,
                            each.highNs,
                            std::move(moved)});
    }
  return table;
}

Table energyTable(const UsageReport& usage, std::int64_t) {
  Table table{{textColumn("meter", "meter"),
               textColumn("place", "of"),
               countColumn("readings", "readings"),
               durationColumn("longest_ns", "apart at most"),
               durationColumn("measured_ns", "measured"),
               realColumn("joules", "J"),
               realColumn("watts", "W"),
               realColumn("joules_per_iteration", "J a step"),
               realColumn("samples_per_joule", "samples/J"),
               realColumn("tokens_per_joule", "tokens/J"),
               realColumn("idle_joules", "J idle"),
               realColumn("idle_low", "at least"),
               realColumn("idle_high", "at most")},
              {}};
  for (const auto& use : usage.energy)
    table.rows.push_back({use.meter,
                          use.place,
                          static_cast<std::int64_t>(use.energy.readings),
                          use.energy.longestNs,
                          use.energy.measured.end - use.energy.measured.begin,
                          use.energy.joules,
                          orNone(use.watts),
                          orNone(use.joulesPerIteration),
                          orNone(use.samplesPerJoule),
                          orNone(use.tokensPerJoule),
                          use.energy.idle.joules,
                          use.energy.idle.low,
                          use.energy.idle.high});
  return table;
}

Table energyOperationTable(const UsageReport& usage, std::int64_t) {
  Table table{{textColumn("meter", "meter"),
               textColumn("place", "of"),
               textColumn("operation", "operation"),
               durationColumn("active_ns", "active"),
               realColumn("joules", "J"),
               realColumn("low", "at least"),
               realColumn("high", "at most"),
               shareColumn("share", "share")},
              {}};
  for (const auto& use : usage.energy)
    for (const auto& each : use.operations)
      table.rows.push_back(
          {use.meter,
           use.place,
           each.name,
           each.share.activeNs,
           each.share.joules,
           each.share.low,
           each.share.high,
           use.energy.joules > 0 ? Cell(each.share.joules / use.energy.joules) : Cell()});
  return table;
}

Table boundTable(const UsageReport& usage, std::int64_t) {
  Table table{{rankColumn(),
               textColumn("device", "device"),
               durationColumn("window_ns", "window"),
               durationColumn("kernel_ns", "kernels"),
               durationColumn("busy_ns", "busy"),
               shareColumn("busy", "share"),
               shareColumn("sampled_busy", "sampler"),
               durationColumn("sampled_ns", "over"),
               shareColumn("filled_at_most", "filled at most"),
               durationColumn("bound_ns", "GPU-bound"),
               durationColumn("overlap_ns", "both work"),
               durationColumn("host_ns", "host-bound"),
               durationColumn("useless_ns", "wait for nothing")},
              {}};
  for (const RankBound& rank : usage.bound)
    for (const auto& each : rank.devices) {
      const auto ifKnown = [&](std::int64_t ns) { return each.hostKnown ? Cell(ns) : Cell(); };
      table.rows.push_back({orNone(rank.rank),
                            each.device,
                            each.windowNs,
                            each.kernelNs,
                            each.busyNs,
                            shareOf(each.busyNs, each.windowNs),
                            orNone(each.sampledBusy),
                            each.sampledNs,
                            orNone(each.filledAtMost),
                            ifKnown(each.boundNs),
                            ifKnown(each.overlapNs),
                            ifKnown(each.hostNs),
                            ifKnown(each.uselessNs)});
    }
  return table;
}

}  // namespace

const std::vector<UsageTable>& usageTables() {
  static const std::vector<UsageTable> kTables = {
      {"bound",
       "Devices and their hosts: who waits for whom (GPU-bound, both work, host-bound and waits "
       "for "
       "nothing sum to the window)",
       boundTable,
       nullptr},
      {"stalls", "Iterations held up by data loaders, checkpoints and files", stallTable, nullptr},
      {"file_calls", "Calls on files, in the window", fileTable, nullptr},
      {"changes", "Iterations that became longer or shorter", changeTable, nullptr},
      {"memory", "Memory", memoryTable, "Memory: not recorded (--sources +memory, or cuda)"},
      {"memory_holders", "Memory at its peak, by who had allocated it", holderTable, nullptr},
      {"memory_operations", "Memory, by operation", memoryOperationTable, nullptr},
      {"energy",
       "Energy, in the window",
       energyTable,
       "Energy: not recorded (no meter that the sampler may read)"},
      {"energy_operations", "Energy, by operation", energyOperationTable, nullptr},
  };
  return kTables;
}

}  // namespace sonde::cli
