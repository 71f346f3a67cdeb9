#include "gui/models/memory/memory_values.h"

#include "analysis/engine/align/job_clock.h"
#include "analysis/engine/metrics/ranks.h"
#include "gui/trace/qtext.h"

#include <QCoreApplication>

#include <algorithm>
#include <utility>

namespace sonde::gui {
namespace {

using engine::metrics::MemoryHolder;
using engine::metrics::MemoryLevel;
using engine::metrics::MemoryOperation;
using engine::metrics::MemoryUse;

QString tr(const char* text) {
  return QCoreApplication::translate("Memory", text);
}

QVariant integer(std::int64_t value) {
  return QVariant::fromValue<qlonglong>(value);
}

// "backward: loss.backward"; a scope that has the name of its kind, once.
QString scopeText(const std::string& kind, const std::string& name) {
  if (kind.empty())
    return tr("(outside of all)");
  return kind == name ? qtext(name) : qtext(kind) + QStringLiteral(": ") + qtext(name);
}

std::vector<MemoryPoint> byJob(const std::vector<MemoryLevel>& levels,
                               const engine::align::HostClock& clock) {
  std::vector<MemoryPoint> points;
  points.reserve(levels.size());
  for (const MemoryLevel& level : levels)
    points.push_back({level.ns, clock.toJob(level.ns), level.bytes});
  return points;
}

}  // namespace

Result<std::vector<MemoryLine>> readMemory(const store::Database& trace,
                                           const std::optional<engine::metrics::Interval>& within) {
  namespace metrics = engine::metrics;
  SONDE_TRY_ASSIGN(const auto ranks, metrics::readRanks(trace));
  SONDE_TRY_ASSIGN(std::vector<MemoryUse> uses, metrics::memoryUses(trace, ranks, within));
  SONDE_TRY_ASSIGN(const auto reserved, metrics::reservedLevels(trace, metrics::kMemoryStretches));
  SONDE_TRY_ASSIGN(const auto clocks, engine::align::readProcessClocks(trace));
  std::vector<MemoryLine> lines;
  for (MemoryUse& use : uses) {
    const engine::align::HostClock& clock = clocks.at(use.processId);
    MemoryLine& line = lines.emplace_back();
    line.levels = byJob(use.series, clock);
    line.peak = {use.peak.ns, clock.toJob(use.peak.ns), use.peak.bytes};
    if (const auto found = reserved.find({use.processId, use.place});
        found != reserved.end() && use.allocator == "torch")
      line.reserved = byJob(found->second, clock);
    line.use = std::move(use);
  }
  std::stable_sort(lines.begin(), lines.end(), [](const MemoryLine& a, const MemoryLine& b) {
    return a.peak.bytes > b.peak.bytes;
  });
  return lines;
}

Result<std::vector<MemoryHolder>> readHolders(const store::Database& trace,
                                              const MemoryUse& use,
                                              std::int64_t hostNs) {
  return engine::metrics::memoryHolders(
      trace, {use.processId, use.deviceId, use.place, use.allocator}, hostNs);
}

QString titleOf(const MemoryUse& use) {
  return QStringLiteral("%1, %2, %3")
      .arg(qtext(use.process), qtext(use.place), qtext(use.allocator));
}

std::vector<ValueColumn> memoryColumns() {
  return {{tr("process")},
          {tr("place")},
          {tr("allocator")},
          {tr("peak"), ValueKind::Bytes},
          {tr("at the end"), ValueKind::Bytes},
          {tr("allocations"), ValueKind::Integer},
          {tr("sampled peak"),
           ValueKind::Bytes,
           tr("of the device, or of the process, whoever held the memory")}};
}

std::vector<ValueRow> memoryRows(const std::vector<MemoryLine>& lines) {
  std::vector<ValueRow> rows;
  for (const MemoryLine& line : lines) {
    const MemoryUse& use = line.use;
    rows.push_back(
        {{qtext(use.process),
          qtext(use.place),
          qtext(use.allocator),
          integer(use.peak.bytes),
          integer(use.endBytes),
          integer(use.blocks),
          use.sampledPeakBytes ? integer(*use.sampledPeakBytes) : QVariant()},
         {.span = Span{line.peak.jobNs, line.peak.jobNs + 1'000'000}, .rank = use.rank}});
  }
  return rows;
}

std::vector<ValueColumn> holderColumns() {
  return {{tr("operation")},
          {tr("in"), ValueKind::Text, tr("innermost module, operator or other scope")},
          {tr("code"), ValueKind::Text, tr("sonde run --sources +stack,+memory --stacks-at alloc")},
          {tr("bytes"), ValueKind::Bytes},
          {tr("share"), ValueKind::Share, tr("of all that is held")},
          {tr("blocks"), ValueKind::Integer}};
}

std::vector<ValueRow> holderRows(const std::vector<MemoryHolder>& holders, std::int64_t bytes) {
  std::vector<ValueRow> rows;
  rows.reserve(holders.size());
  for (const MemoryHolder& each : holders)
    rows.push_back(
        {{scopeText(each.operationKind, each.operation),
          scopeText(each.scopeKind, each.scope),
          qtext(each.site),
          integer(each.bytes),
          bytes > 0 ? QVariant(static_cast<double>(each.bytes) / static_cast<double>(bytes))
                    : QVariant(),
          integer(each.blocks)},
         {.operation = qtext(each.operation)}});
  return rows;
}

std::vector<ValueColumn> memoryOperationColumns() {
  return {{tr("operation")},
          {tr("count"), ValueKind::Integer},
          {tr("peak"), ValueKind::Bytes, tr("of all memory, while it was open")},
          {tr("allocations"), ValueKind::Integer},
          {tr("allocated"), ValueKind::Bytes, tr("by all of them together")},
          {tr("kept"), ValueKind::Bytes, tr("still held at its end")},
          {tr("freed"), ValueKind::Bytes, tr("while it was open, whoever had allocated it")}};
}

std::vector<ValueRow> memoryOperationRows(const MemoryUse& use) {
  std::vector<ValueRow> rows;
  for (const MemoryOperation& each : use.operations)
    rows.push_back({{scopeText(each.kind, each.name),
                     integer(each.count),
                     integer(each.peakBytes),
                     integer(each.blocks),
                     integer(each.allocatedBytes),
                     integer(each.keptBytes),
                     integer(each.freedBytes)},
                    {.rank = use.rank, .name = qtext(each.name)}});
  return rows;
}

}  // namespace sonde::gui
