#include "analysis/engine/hta/hta_trace.h"

#include "analysis/store/statement.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

namespace sonde::engine::hta {
namespace {

using store::Statement;

constexpr std::string_view kKernelSql =
    "SELECT s.number, n.text, w.start_ns, w.dur_ns, c.text, l.start_ns, l.dur_ns FROM stream s "
    "CROSS JOIN kernel w ON w.stream_id = s.id LEFT JOIN string n ON n.id = w.name_id LEFT JOIN "
    "slice l ON l.id = w.launch_slice_id LEFT JOIN string c ON c.id = l.name_id WHERE "
    "s.process_id = ?1 AND w.dur_ns IS NOT NULL";
// The bandwidth that torch.profiler recorded for a copy; else bytes per nanosecond, the same unit.
constexpr std::string_view kCopySql =
    "SELECT s.number, n.text, w.start_ns, w.dur_ns, c.text, l.start_ns, l.dur_ns, coalesce((SELECT "
    "json_extract(a.value, '$.\"memory bandwidth (GB/s)\"') FROM arg a JOIN string k ON k.id = "
    "a.key_id WHERE a.owner = 'copy' AND a.owner_id = w.id AND k.text = 'args' AND "
    "json_valid(a.value)), 1.0 * w.bytes / nullif(w.dur_ns, 0)) FROM stream s CROSS JOIN copy w ON "
    "w.stream_id = s.id LEFT JOIN string n ON n.id = w.name_id LEFT JOIN slice l ON l.id = "
    "w.launch_slice_id LEFT JOIN string c ON c.id = l.name_id WHERE s.process_id = ?1 AND w.dur_ns "
    "IS NOT NULL";
// Synchronisations of a stream; the stream's number is -1 for those of a whole device.
constexpr std::string_view kSyncSql =
    "SELECT s.number, w.kind, w.start_ns, w.dur_ns, c.text, l.start_ns, l.dur_ns FROM stream s "
    "CROSS JOIN sync w ON w.stream_id = s.id LEFT JOIN slice l ON l.id = (SELECT x.id FROM slice x "
    "JOIN thread t ON t.id = x.thread_id WHERE x.correlation_id = w.correlation_id AND "
    "t.process_id = ?1 LIMIT 1) LEFT JOIN string c ON c.id = l.name_id WHERE s.process_id = ?1 AND "
    "w.dur_ns IS NOT NULL AND w.kind <> 'record' AND s.number <> -1";
constexpr std::string_view kSliceSql =
    "SELECT s.start_ns, s.start_ns + s.dur_ns FROM thread t CROSS JOIN slice s ON s.thread_id = "
    "t.id WHERE t.process_id = ?1 AND s.dur_ns IS NOT NULL AND s.kind <> 'range'";
constexpr std::string_view kBaseSql =
    "SELECT a.value FROM arg a JOIN string k ON k.id = a.key_id WHERE a.owner = 'process' AND "
    "a.owner_id = ?1 AND k.text = 'sonde.base_ns'";

// Rounds nanoseconds to whole microseconds.
class Rounding {
 public:
  explicit Rounding(std::optional<std::int64_t> baseNs) : baseNs_(baseNs) {}

  std::pair<std::int64_t, std::int64_t> span(std::int64_t startNs, std::int64_t durNs) const {
    const std::int64_t own = startNs - baseNs_.value_or(0);
    const auto [begin, end] = baseNs_ ? asDoubles(own, durNs) : exactly(own, durNs);
    return {begin, std::max(begin, end)};
  }

 private:
  static std::pair<std::int64_t, std::int64_t> exactly(std::int64_t startNs, std::int64_t durNs) {
    constexpr std::int64_t kMicro = 1000;
    const auto floor = [](std::int64_t ns) { return ns / kMicro - (ns % kMicro < 0 ? 1 : 0); };
    return {-floor(-startNs), floor(startNs + durNs)};
  }
  // As a JSON reader parses a number with a point: the nearest double.
  static double nearest(std::int64_t ns) {
    return static_cast<double>(static_cast<long double>(ns) / 1000.0L);
  }
  static std::pair<std::int64_t, std::int64_t> asDoubles(std::int64_t startNs, std::int64_t durNs) {
    const double start = nearest(startNs);
    const double end = start + nearest(durNs);
    return {static_cast<std::int64_t>(std::ceil(start)),
            static_cast<std::int64_t>(std::floor(end))};
  }

  std::optional<std::int64_t> baseNs_;  // base of the times in its file; unset: no file
};

std::string syncName(std::string_view kind) {
  if (kind == "wait")
    return "Stream Wait Event";
  return kind == "event" ? "Event Sync" : kind == "context" ? "Context Sync" : "Stream Sync";
}

// The place of the step that contains an instant. Requires: `steps` are sorted by start.
std::optional<std::size_t> placeOf(const std::vector<metrics::IterationTime>& steps,
                                   std::int64_t atNs) {
  const auto after = std::upper_bound(
      steps.begin(), steps.end(), atNs, [](std::int64_t at, const metrics::IterationTime& step) {
        return at < step.startNs;
      });
  if (after == steps.begin() || atNs >= std::prev(after)->startNs + std::prev(after)->durNs)
    return std::nullopt;
  return static_cast<std::size_t>(after - steps.begin()) - 1;
}

class Reader {
 public:
  Reader(const store::Database& trace, RankEvents& rank)
      : trace_(trace), rank_(rank), rounding_(std::nullopt) {}

  Result<void> read() {
    SONDE_TRY(each(kBaseSql, [&](const Statement& row) { rounding_ = Rounding(row.integer(0)); }));
    SONDE_TRY(each(kKernelSql, [&](const Statement& row) {
      Event& event = add(row);
      event.name = row.text(1);
      event.type = typeOf(event.name);
    }));
    SONDE_TRY(each(kCopySql, [&](const Statement& row) {
      constexpr int kBandwidth = 7;
      Event& event = add(row);
      event.name = row.text(1);
      event.type = typeOf(event.name);
      event.gigabytesPerSecond = row.optionalReal(kBandwidth);
    }));
    SONDE_TRY(each(kSyncSql, [&](const Statement& row) {
      Event& event = add(row);
      event.name = syncName(row.text(1));
      event.isSync = true;
    }));
    SONDE_TRY(readSteps());
    std::stable_sort(rank_.events.begin(), rank_.events.end(), [](const Event& a, const Event& b) {
      return a.begin < b.begin;
    });
    return {};
  }

 private:
  template <typename Use>
  Result<void> each(std::string_view sql, Use use) {
    SONDE_TRY_ASSIGN(Statement rows, trace_.prepare(sql));
    rows.bindAll(rank_.process.processId);
    while (true) {
      SONDE_TRY_ASSIGN(const bool row, rows.step());
      if (!row)
        return {};
      use(rows);
    }
  }

  Result<void> readSteps() {
    const std::vector<metrics::IterationTime>& steps = rank_.process.iterations;
    SONDE_TRY_ASSIGN(const std::vector<std::int64_t> last, lastEnds(steps));
    for (std::size_t at = 0; at < steps.size(); ++at) {
      const auto [begin, end] = rounding_.span(steps[at].startNs, steps[at].durNs);
      const std::int64_t untilLast = last[at] - steps[at].startNs;
      rank_.steps.push_back(
          {steps[at].number, begin, end, rounding_.span(steps[at].startNs, untilLast).second});
    }
    return {};
  }

  // The last end of what the host began in each step, by start.
  Result<std::vector<std::int64_t>> lastEnds(const std::vector<metrics::IterationTime>& steps) {
    std::vector<std::int64_t> last;
    last.reserve(steps.size());
    for (const metrics::IterationTime& step : steps)
      last.push_back(step.startNs + step.durNs);
    SONDE_TRY(each(kSliceSql, [&](const Statement& row) {
      if (const auto at = placeOf(steps, row.integer(0)))
        last[*at] = std::max(last[*at], row.integer(1));
    }));
    return last;
  }

  Event& add(const Statement& row) {
    Event& event = rank_.events.emplace_back();
    event.stream = row.integer(0);
    std::tie(event.begin, event.end) = rounding_.span(row.integer(2), row.integer(3));
    if (!row.isNull(5)) {
      Call& call = event.call.emplace();
      call.name = row.text(4);
      std::tie(call.begin, call.end) = rounding_.span(row.integer(5), row.integer(6));
    }
    return event;
  }

  const store::Database& trace_;
  RankEvents& rank_;
  Rounding rounding_;
};

// Drops the last step, what began in it, and what has no known launch before it.
void dropLastStep(RankEvents& rank) {
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (const Step& step : rank.steps)
    last = std::max(last, step.begin);
  if (rank.steps.empty())
    return;
  std::erase_if(rank.steps, [&](const Step& step) { return step.begin >= last; });
  std::erase_if(rank.events,
                [&](const Event& event) { return !event.call || event.call->begin >= last; });
}

bool isMemory(std::string_view name) {
  const std::string_view own = name.starts_with("hip") ? name.substr(3) : name;
  return own.starts_with("Memcpy") || own.starts_with("Memset") || name.starts_with("dma");
}

bool isNoComputation(std::string_view name) {
  for (const std::string_view part : {"Memcpy", "Memset", "dma", "Sync"})
    if (name.find(part) != std::string_view::npos)
      return true;
  for (const std::string_view start : {"Stream Wait Event",
                                       "runFunction",
                                       "job_exe",
                                       "packet",
                                       "pe_exe",
                                       "cpum_exe_subgraph",
                                       "collective_subgraph_execution"})
    if (name.starts_with(start))
      return true;
  return name.starts_with("cuda") && name.find("LaunchKernel") != std::string_view::npos;
}

}  // namespace

std::string_view word(EventType type) noexcept {
  switch (type) {
    case EventType::Computation:
      return "COMPUTATION";
    case EventType::Communication:
      return "COMMUNICATION";
    case EventType::Memory:
      return "MEMORY";
    case EventType::Other:
      break;
  }
  return "OTHER";
}

EventType typeOf(std::string_view name) noexcept {
  if (name.starts_with("nccl") || name.starts_with("hip") || name.starts_with("hccl") ||
      name.find("ncclKernel") != std::string_view::npos)
    return EventType::Communication;
  if (isMemory(name))
    return EventType::Memory;
  return isNoComputation(name) ? EventType::Other : EventType::Computation;
}

Result<std::vector<RankEvents>> readEvents(const store::Database& trace) {
  SONDE_TRY_ASSIGN(std::vector<metrics::RankProcess> processes, metrics::readRanks(trace));
  std::vector<RankEvents> ranks;
  std::set<std::int64_t> steps;
  for (metrics::RankProcess& process : processes) {
    RankEvents& rank = ranks.emplace_back();
    rank.process = std::move(process);
    SONDE_TRY(Reader(trace, rank).read());
    for (const Step& step : rank.steps)
      steps.insert(step.number);
  }
  if (steps.size() > 1)
    for (RankEvents& rank : ranks)
      dropLastStep(rank);
  return ranks;
}

}  // namespace sonde::engine::hta
