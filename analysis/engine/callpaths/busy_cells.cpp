#include "analysis/engine/callpaths/busy_cells.h"

#include "analysis/engine/callpaths/launched_work.h"
#include "analysis/engine/callpaths/path_trees.h"
#include "analysis/engine/iterations/iterations.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace sonde::engine::callpaths {
namespace {

using model::SliceKind;

// The process of the filter's rank, or of the lowest one, that has iterations, with its host; none:
// 0.
Result<std::pair<std::int64_t, std::int64_t>> iteratingProcess(
    const store::Database& trace, const std::optional<std::int64_t>& rank) {
  SONDE_TRY_ASSIGN(
      store::Statement rows,
      trace.prepare("SELECT p.id, p.host_id FROM process p WHERE (?1 IS NULL OR p.rank = ?1) AND "
                    "EXISTS (SELECT 1 FROM iteration i WHERE i.process_id = p.id) "
                    "ORDER BY p.rank IS NULL, p.rank, p.id"));
  rows.bindAll(rank);
  SONDE_TRY_ASSIGN(const bool any, rows.step());
  return any ? std::pair(rows.integer(0), rows.integer(1))
             : std::pair<std::int64_t, std::int64_t>();
}

Result<std::vector<CellColumn>> readColumns(const store::Database& trace,
                                            const PathFilter& filter) {
  SONDE_TRY_ASSIGN(const auto process, iteratingProcess(trace, filter.rank));
  SONDE_TRY_ASSIGN(const align::JobClock clock, align::JobClock::read(trace));
  SONDE_TRY_ASSIGN(const auto iterations, iterations::Iterations::read(trace));
  std::vector<CellColumn> columns;
  for (const iterations::Iteration& each : iterations.all())
    if (each.processId == process.first && !each.isInner() && each.durNs.value_or(0) > 0) {
      const std::int64_t beginNs = clock.toJob(process.second, each.startNs);
      columns.push_back({each.number, beginNs, beginNs + *each.durNs});
    }
  return columns;
}

// Adds stretches of time to the cells that they share time with.
class CellSums {
 public:
  explicit CellSums(BusyCells& cells) : cells_(cells) {}

  // Requires: no column begins before an earlier one ends, or else a time counts in the later ones.
  void add(std::int64_t beginNs, std::int64_t endNs, int sign = 1) {
    forEachColumn(beginNs, endNs, [&](std::size_t column, std::int64_t begin, std::int64_t end) {
      for (std::int64_t at = begin; at < end;) {
        const std::int64_t row = at / cells_.cellNs;
        const std::int64_t next = std::min(end, (row + 1) * cells_.cellNs);
        cellOf(static_cast<std::size_t>(row), column) += sign * (next - at);
        at = next;
      }
    });
  }
  void addAt(std::int64_t atNs, std::int64_t value) {
    forEachColumn(atNs, atNs + 1, [&](std::size_t column, std::int64_t begin, std::int64_t) {
      cellOf(static_cast<std::size_t>(begin / cells_.cellNs), column) += value;
    });
  }

 private:
  std::int64_t& cellOf(std::size_t row, std::size_t column) {
    return cells_.values[row * cells_.columns.size() + column];
  }
  // With the part of the time since the column's begin.
  template <typename Each>
  void forEachColumn(std::int64_t beginNs, std::int64_t endNs, Each each) {
    const auto& columns = cells_.columns;
    auto at = std::partition_point(columns.begin(), columns.end(), [&](const CellColumn& column) {
      return column.endNs <= beginNs;
    });
    for (; at != columns.end() && at->beginNs < endNs; ++at) {
      const std::int64_t begin = std::max(beginNs, at->beginNs) - at->beginNs;
      const std::int64_t end = std::min(endNs, at->endNs) - at->beginNs;
      if (begin < end)
        each(static_cast<std::size_t>(at - columns.begin()), begin, end);
    }
  }

  BusyCells& cells_;
};

bool onlyGroups(SliceKind kind) {
  return kind == SliceKind::Iteration || kind == SliceKind::MicroStep || kind == SliceKind::Phase;
}

Result<void> addSlices(const store::Database& trace, const PathFilter& filter, CellSums& sums) {
  enum class State : std::uint8_t { Outside, Busy, Waiting };
  SONDE_TRY_ASSIGN(const SliceTable table, SliceTable::read(trace, filter, std::nullopt));
  std::vector<State> states(table.slices().size(), State::Outside);
  table.forEachParentFirst([&](std::size_t place, std::size_t parent) {
    const PathSlice& slice = table.slices()[place];
    const State around = parent == SliceTable::kNone ? State::Outside : states[parent];
    State& state = states[place] = around;
    if (!table.isInside(place) || around == State::Waiting)
      return;
    if (slice.kind == SliceKind::Wait) {
      state = State::Waiting;
      if (around == State::Busy)
        sums.add(slice.beginNs, slice.endNs, -1);
    } else if (around == State::Outside && !onlyGroups(slice.kind)) {
      state = State::Busy;
      sums.add(slice.beginNs, slice.endNs);
    }
  });
  return {};
}

Result<void> addWork(const store::Database& trace, const PathFilter& filter, CellSums& sums) {
  SONDE_TRY_ASSIGN(const WorkReader work, WorkReader::prepare(trace, filter));
  std::optional<SliceTable> slices;  // if it matters which ones launched
  if (!filter.operation.empty() || !filter.threads.empty()) {
    SONDE_TRY_ASSIGN(slices, SliceTable::read(trace, filter, std::nullopt));
  }
  return work.visit(std::nullopt, [&](const LaunchedWork& each) -> Result<void> {
    const std::size_t launch =
        slices ? slices->placeOf(each.launchId != 0 ? each.launchId : each.scopeId)
               : SliceTable::kNone;
    if (!slices || (launch != SliceTable::kNone && slices->isInside(launch)))
      sums.add(each.event.beginNs, each.event.endNs);
    return {};
  });
}

Result<void> addSamples(const store::Database& trace,
                        PathSource source,
                        const PathFilter& filter,
                        CellSums& sums) {
  SONDE_TRY_ASSIGN(const std::vector<PathThread> threads, readThreads(trace, filter));
  std::unordered_set<std::int64_t> selected;
  for (const PathThread& thread : threads)
    selected.insert(thread.id);
  const metrics::StackFilter only{stackClockOf(source), filter.rank, {}, filter.operation, {}};
  return metrics::visitStackSamples(trace, only, [&](const metrics::StackSampleAt& sample) {
    if (!selected.contains(sample.threadId))
      return;
    if (source == PathSource::WaitSamples)
      sums.add(sample.atNs, sample.atNs + sample.ns);
    else
      sums.addAt(sample.atNs, sample.ns);
  });
}

}  // namespace

metrics::Interval BusyCells::timeOf(std::size_t row, std::size_t column) const {
  const CellColumn& iteration = columns[column];
  const std::int64_t beginNs = iteration.beginNs + static_cast<std::int64_t>(row) * cellNs;
  return {std::min(beginNs, iteration.endNs), std::min(beginNs + cellNs, iteration.endNs)};
}

Result<BusyCells> busyCells(const store::Database& trace,
                            PathSource source,
                            const PathFilter& filter,
                            std::size_t rows) {
  BusyCells cells;
  SONDE_TRY_ASSIGN(cells.columns, readColumns(trace, filter));
  if (cells.columns.empty())
    return cells;
  cells.rows = rows;
  for (const CellColumn& column : cells.columns)
    cells.cellNs = std::max(cells.cellNs, column.endNs - column.beginNs);
  const auto count = static_cast<std::int64_t>(rows);
  cells.cellNs = (cells.cellNs + count - 1) / count;
  cells.values.assign(rows * cells.columns.size(), 0);
  CellSums sums(cells);
  if (source == PathSource::Slices)
    SONDE_TRY(addSlices(trace, filter, sums));
  else if (source == PathSource::DeviceWork)
    SONDE_TRY(addWork(trace, filter, sums));
  else
    SONDE_TRY(addSamples(trace, source, filter, sums));
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < cells.columns.size(); ++column) {
      const metrics::Interval time = cells.timeOf(row, column);
      std::int64_t& value = cells.values[row * cells.columns.size() + column];
      value = time.begin < time.end ? std::max<std::int64_t>(value, 0) : BusyCells::kAfterEnd;
    }
  return cells;
}

}  // namespace sonde::engine::callpaths
