#include "analysis/engine/breakdown/iteration_spans.h"

#include "analysis/engine/breakdown/event_times.h"
#include "analysis/engine/iterations/iterations.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sonde::engine::breakdown {
namespace {

void inherit(TraceEvents& events) {
  std::unordered_map<std::int64_t, const ProcessEvents*> processes;
  for (const ProcessEvents& process : events.processes)
    processes.emplace(process.id, &process);
  for (ProcessEvents& process : events.processes) {
    const ProcessEvents* from = &process;
    // At most one step per process: in a damaged file parents may form a circle.
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
  SONDE_TRY_ASSIGN(const auto iterations, iterations::Iterations::read(trace));
  std::unordered_map<std::int64_t, std::vector<IterationSpan>> spans;  // by process
  for (const iterations::Iteration& each : iterations.all()) {
    // An iteration whose end was lost ends where the next begins, at the latest.
    const auto duration = each.durNs ? each.durNs : each.atMostNs;
    const std::int64_t end = duration ? endOf(each.startNs, *duration) : kOpenEnd;
    events.negative += duration.value_or(0) < 0 ? 1 : 0;
    SONDE_TRY(checkTimes(each.startNs, end));
    if (!each.isInner())
      spans[each.processId].push_back({each.id, each.number, each.isMasked, each.startNs, end});
  }
  for (ProcessEvents& process : events.processes)
    if (const auto own = spans.find(process.id); own != spans.end())
      process.iterations = std::move(own->second);
  inherit(events);
  return {};
}

std::optional<RepeatedNumbers> repeatedNumbers(const TraceEvents& events) {
  std::optional<RepeatedNumbers> repeated;
  for (const ProcessEvents& process : events.processes) {
    std::map<std::int64_t, std::int64_t> times;  // by number
    for (const IterationSpan& span : process.iterations)
      times[span.number] += span.masked ? 0 : 1;
    std::erase_if(times, [](const auto& each) { return each.second < 2; });
    if (times.empty())
      continue;
    if (!repeated)
      repeated = {0, times.begin()->first, times.rbegin()->first};
    repeated->first = std::min(repeated->first, times.begin()->first);
    repeated->last = std::max(repeated->last, times.rbegin()->first);
    for (const auto& [number, count] : times)
      repeated->times = std::max(repeated->times, count);
  }
  return repeated;
}

}  // namespace sonde::engine::breakdown
