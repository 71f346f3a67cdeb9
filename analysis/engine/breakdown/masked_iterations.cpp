#include "analysis/engine/breakdown/masked_iterations.h"

#include "analysis/engine/breakdown/event_times.h"
#include "analysis/model/words.h"
#include "analysis/store/each_row.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sonde::engine::breakdown {
namespace {

using store::Statement;

struct Recorded {
  IterationSpan span;
  std::int64_t probes;  // a bit each
};

// 0: the trace does not say, or says several things, of several runs.
Result<std::int64_t> probesAskedFor(const store::Database& trace) {
  auto words = trace.queryText("SELECT value FROM meta WHERE key = 'sources'");
  if (!words)
    return words.error().code == ErrorCode::NotFound ? Result<std::int64_t>(0) : words.error();
  std::int64_t probes = 0;
  for (std::string_view rest = *words; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::int64_t bit = model::probeBit(rest.substr(0, comma));
    if (bit == 0)
      return 0;
    probes |= bit;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return probes;
}

// What all of a process's iterations with all probes have.
std::int64_t allOf(const std::vector<Recorded>& iterations, std::int64_t askedFor) {
  std::int64_t seen = 0;
  for (const Recorded& each : iterations)
    seen |= each.probes;
  // Those that no run can be asked for by name are on unless they are switched off.
  const std::int64_t unnamed = model::probeBit("process") | model::probeBit("plugin");
  const bool isOfThisRun = (seen & ~unnamed & ~askedFor) == 0;
  return isOfThisRun ? askedFor | seen : seen;
}

// In the order of their begins.
std::vector<IterationSpan> masked(const std::vector<Recorded>& iterations, std::int64_t askedFor) {
  const std::int64_t all = allOf(iterations, askedFor);
  std::vector<IterationSpan> spans;
  std::int64_t before = all;
  for (const Recorded& each : iterations) {
    const bool isFull = (each.probes & all) == all;
    // Before one that follows others in outline nothing was switched.
    const bool wasSwitched = before != 0 && (before & all) != all;
    spans.push_back(each.span);
    spans.back().masked = !isFull || wasSwitched;
    before = each.probes;
  }
  return spans;
}

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
  SONDE_TRY_ASSIGN(const std::int64_t askedFor, probesAskedFor(trace));
  std::unordered_map<std::int64_t, std::vector<Recorded>> iterations;  // by process
  const auto add = [&](const Statement& row) -> Result<void> {
    const std::int64_t begin = row.integer(2);
    const std::int64_t end = row.isNull(3) ? kOpenEnd : endOf(begin, row.integer(3));
    events.negative += row.integer(3) < 0 ? 1 : 0;
    SONDE_TRY(checkTimes(begin, end));
    iterations[row.integer(0)].push_back({{row.integer(1), false, begin, end}, row.integer(4)});
    return {};
  };
  SONDE_TRY(store::forEachRow(trace,
                              "SELECT process_id, number, start_ns, dur_ns, probe_mask FROM "
                              "iteration ORDER BY start_ns, id",
                              add));
  for (ProcessEvents& process : events.processes)
    if (const auto own = iterations.find(process.id); own != iterations.end())
      process.iterations = masked(own->second, askedFor);
  inherit(events);
  return {};
}

}  // namespace sonde::engine::breakdown
