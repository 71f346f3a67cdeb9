#include "analysis/engine/breakdown/iteration_spans.h"

#include "analysis/engine/breakdown/event_times.h"
#include "analysis/engine/iterations/masked_iterations.h"
#include "analysis/store/each_row.h"

#include <unordered_map>
#include <utility>
#include <vector>

namespace sonde::engine::breakdown {
namespace {

using store::Statement;

void inherit(TraceEvents& events) {
  std::unordered_map<std::int64_t, const ProcessEvents*> processes;
  for (const ProcessEvents& process : events.processes)
    processes.emplace(process.id, &process);
  for (ProcessEvents& process : events.processes) {
    const ProcessEvents* from = &process;
    // No longer than there are processes, lest a damaged file's lead back to themselves.
    for (std::size_t step = 0; step < processes.size() && from->iterations.empty(); ++step) {
      const auto parent = from->parentId ? processes.find(*from->parentId) : processes.end();
      if (parent == processes.end())
        break;
      from = parent->second;
    }
    if (from == &process)
      continue;
    process.inheritedFrom = from->id;
    for (const IterationSpan& span : from->iterations)
      if (span.masked)
        process.inherited.push_back(span);
  }
}

}  // namespace

Result<void> readIterations(const store::Database& trace, TraceEvents& events) {
  SONDE_TRY_ASSIGN(const auto masked, iterations::MaskedIterations::read(trace));
  std::unordered_map<std::int64_t, std::vector<IterationSpan>> spans;  // by process
  const auto add = [&](const Statement& row) -> Result<void> {
    const std::int64_t begin = row.integer(2);
    const std::int64_t end = row.isNull(3) ? kOpenEnd : endOf(begin, row.integer(3));
    events.negative += row.integer(3) < 0 ? 1 : 0;
    SONDE_TRY(checkTimes(begin, end));
    spans[row.integer(0)].push_back({row.integer(1), masked.contains(row.integer(4)), begin, end});
    return {};
  };
  SONDE_TRY(store::forEachRow(trace,
                              "SELECT process_id, number, start_ns, dur_ns, id FROM iteration "
                              "ORDER BY start_ns, id",
                              add));
  for (ProcessEvents& process : events.processes)
    if (const auto own = spans.find(process.id); own != spans.end())
      process.iterations = std::move(own->second);
  inherit(events);
  return {};
}

}  // namespace sonde::engine::breakdown
