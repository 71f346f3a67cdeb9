#include "analysis/engine/metrics/rank_time.h"

#include "analysis/model/words.h"
#include "analysis/store/communication_kernels.h"
#include "analysis/store/statement.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace sonde::engine::metrics {
namespace {

using store::Statement;

constexpr std::string_view kActivitySql =
    "SELECT s.start_ns, s.dur_ns, s.thread_id, s.kind FROM thread t"
    " JOIN slice s ON s.thread_id = t.id WHERE t.process_id = ?1 AND s.dur_ns IS NOT NULL AND "
    "s.kind IN"
    " ('forward', 'backward', 'optimizer', 'evaluation', 'module', 'operator',"
    " 'data_load', 'collective', 'io', 'wait')";

bool interrupts(std::string_view kind) {
  return kind == "data_load" || kind == "collective" || kind == "io" || kind == "wait";
}

// Columns 0 and 1 of the row are begin and length; column 2 is the id for `of`.
using ClockOf = std::int64_t (Clock::*)(std::int64_t, std::int64_t) const;
Result<Interval> timeOfRow(const Statement& row, const Clock& clock, ClockOf of) {
  SONDE_TRY_ASSIGN(const Interval recorded, intervalOf(row.integer(0), row.integer(1)));
  return Interval{(clock.*of)(row.integer(2), recorded.begin),
                  (clock.*of)(row.integer(2), recorded.end)};
}

Result<std::map<std::int64_t, ThreadActivity>> readActivity(const store::Database& trace,
                                                            std::int64_t process,
                                                            const Clock& clock) {
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare(kActivitySql));
  rows.bind(1, process);
  std::map<std::int64_t, ThreadActivity> threads;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return threads;
    ThreadActivity& thread = threads[rows.integer(2)];
    SONDE_TRY_ASSIGN(const Interval time, timeOfRow(rows, clock, &Clock::ofThread));
    (interrupts(rows.text(3)) ? thread.interruptions : thread.computing).push_back(time);
    if (rows.text(3) == "backward")
      thread.backwards.push_back(time);
  }
}

struct DeviceActivity {
  std::string name;
  Intervals kernels;      // except those of collectives
  Intervals collectives;  // kernels of collectives
  Intervals copies;
};

// Rows: begin, length and stream.
Result<Intervals> readWork(const store::Database& trace,
                           std::string_view sql,
                           std::int64_t process,
                           const Clock& clock) {
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare(sql));
  rows.bind(1, process);
  Intervals intervals;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return normalise(std::move(intervals));
    SONDE_TRY_ASSIGN(const Interval time, timeOfRow(rows, clock, &Clock::ofStream));
    intervals.push_back(time);
  }
}

// Uses the clock of the collective's thread if known, else the process's. Rows: begin, length,
// thread or null.
Result<Intervals> readCalls(const store::Database& trace,
                            std::string_view sql,
                            std::int64_t process,
                            const Clock& clock) {
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare(sql));
  rows.bind(1, process);
  Intervals calls;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return calls;
    if (rows.isNull(2)) {
      SONDE_TRY_ASSIGN(const Interval time, intervalOf(rows.integer(0), rows.integer(1)));
      calls.push_back({clock.ofProcess(process, time.begin), clock.ofProcess(process, time.end)});
    } else {
      SONDE_TRY_ASSIGN(const Interval time, timeOfRow(rows, clock, &Clock::ofThread));
      calls.push_back(time);
    }
  }
}

// The names of its devices that did something; unset: none did.
Result<std::optional<std::string>> deviceNames(const store::Database& trace, std::int64_t process) {
  SONDE_TRY_ASSIGN(
      Statement names,
      trace.prepare("SELECT group_concat(name, ', ') FROM (SELECT DISTINCT d.kind || ' ' || "
                    "d.ordinal AS name FROM stream s JOIN device d ON d.id = s.device_id "
                    "WHERE s.process_id = ?1 AND (EXISTS (SELECT 1 FROM kernel WHERE stream_id = "
                    "s.id) OR EXISTS (SELECT 1 FROM copy WHERE stream_id = s.id)) ORDER BY 1)"));
  names.bind(1, process);
  SONDE_TRY(names.step());
  return names.isNull(0) ? std::nullopt : std::optional(std::string(names.text(0)));
}

// A kernel is a collective's by its name, or because a collective refers to it.
Result<void> readKernels(const store::Database& trace,
                         std::int64_t process,
                         const Clock& clock,
                         DeviceActivity& devices) {
  SONDE_TRY_ASSIGN(
      Statement rows,
      trace.prepare(
          "SELECT k.start_ns, k.dur_ns, k.stream_id, k.name_id, n.text, k.id IN (SELECT "
          "kernel_id FROM collective WHERE process_id = ?1 AND kernel_id IS NOT NULL) "
          "FROM stream s JOIN kernel k ON k.stream_id = s.id LEFT JOIN string n ON n.id = "
          "k.name_id WHERE s.process_id = ?1 AND k.dur_ns IS NOT NULL"));
  rows.bind(1, process);
  SONDE_TRY_ASSIGN(const auto communication, store::CommunicationKernels::read(trace));
  std::unordered_map<std::int64_t, bool> byName;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      break;
    const auto [name, isNew] = byName.try_emplace(rows.integer(3));
    if (isNew)
      name->second = communication.holds(rows.text(4));
    const bool communicates = name->second || rows.integer(5) != 0;
    SONDE_TRY_ASSIGN(const Interval time, timeOfRow(rows, clock, &Clock::ofStream));
    (communicates ? devices.collectives : devices.kernels).push_back(time);
  }
  devices.kernels = normalise(std::move(devices.kernels));
  devices.collectives = normalise(std::move(devices.collectives));
  return {};
}

// Unset for a process whose devices did nothing. Collectives without a kernel run on the host.
Result<std::optional<DeviceActivity>> readDevices(const store::Database& trace,
                                                  std::int64_t process,
                                                  const Clock& clock) {
  SONDE_TRY_ASSIGN(std::optional<std::string> names, deviceNames(trace, process));
  if (!names)
    return std::optional<DeviceActivity>();
  DeviceActivity devices;
  devices.name = *std::move(names);
  SONDE_TRY(readKernels(trace, process, clock, devices));
  SONDE_TRY_ASSIGN(Intervals onHost,
                   readCalls(trace,
                             "SELECT c.start_ns, c.dur_ns, s.thread_id FROM collective c LEFT "
                             "JOIN slice s ON s.id = c.slice_id WHERE c.process_id = ?1 AND "
                             "c.dur_ns IS NOT NULL AND c.kernel_id IS NULL",
                             process,
                             clock));
  devices.collectives = unite(devices.collectives, onHost);
  SONDE_TRY_ASSIGN(devices.copies,
                   readWork(trace,
                            "SELECT c.start_ns, c.dur_ns, s.id FROM stream s JOIN copy c ON "
                            "c.stream_id = s.id WHERE s.process_id = ?1 AND c.dur_ns IS NOT NULL",
                            process,
                            clock));
  return std::optional(std::move(devices));
}

// By start; not normalised, because each collective's own start matters. If the trace has no rows
// for them, as from other tools, uses the outermost slices that are collectives.
Result<Intervals> readCollectives(const store::Database& trace,
                                  std::int64_t process,
                                  const Clock& clock) {
  SONDE_TRY_ASSIGN(
      Intervals collectives,
      readCalls(trace,
                "SELECT c.start_ns, c.dur_ns, s.thread_id FROM collective c LEFT JOIN slice s ON "
                "s.id = c.slice_id WHERE c.process_id = ?1 AND c.dur_ns IS NOT NULL "
                "UNION ALL "
                "SELECT s.start_ns, s.dur_ns, s.thread_id FROM thread t"
                " JOIN slice s ON s.thread_id = t.id LEFT JOIN slice p ON p.id = s.parent_id"
                " WHERE t.process_id = ?1 AND s.kind = 'collective' AND s.dur_ns IS NOT NULL"
                " AND p.kind IS NOT 'collective'"
                " AND NOT EXISTS (SELECT 1 FROM collective WHERE process_id = ?1)",
                process,
                clock));
  std::sort(collectives.begin(), collectives.end(), [](const Interval& a, const Interval& b) {
    return a.begin < b.begin;
  });
  return collectives;
}

Result<Intervals> hostCompute(const store::Database& trace,
                              std::int64_t process,
                              const Intervals& collectives,
                              const Clock& clock) {
  SONDE_TRY_ASSIGN(const auto threads, readActivity(trace, process, clock));
  Intervals computing;
  for (const auto& [id, thread] : threads)
    computing = unite(computing, computeOf(thread, collectives));
  return computing;
}

}  // namespace

Intervals computeOf(const ThreadActivity& thread, const Intervals& collectives) {
  Intervals interruptions = thread.interruptions;
  for (const Interval& backward : thread.backwards) {
    const auto before = [](const Interval& collective, std::int64_t at) {
      return collective.begin < at;
    };
    const auto first =
        std::lower_bound(collectives.begin(), collectives.end(), backward.begin, before);
    const auto end = std::lower_bound(first, collectives.end(), backward.end, before);
    if (first == end)
      continue;
    const auto latest = std::max_element(
        first, end, [](const Interval& a, const Interval& b) { return a.end < b.end; });
    interruptions.push_back({std::prev(end)->begin, std::min(backward.end, latest->end)});
  }
  return subtract(normalise(thread.computing), normalise(std::move(interruptions)));
}

namespace {

// Removes the time of iterations of which less was recorded.
void leaveOut(const Intervals& masked, RankActivity& activity) {
  activity.masked = masked;
  for (Intervals* const each : {&activity.computing, &activity.copying, &activity.communicating})
    *each = subtract(*each, masked);
}

}  // namespace

Result<RankActivity> readRankActivity(const store::Database& trace,
                                      const RankProcess& rank,
                                      const Clock& clock) {
  RankActivity activity;
  const Intervals masked = byClock(rank, clock).masked;
  SONDE_TRY_ASSIGN(Intervals collectives, readCollectives(trace, rank.processId, clock));
  std::erase_if(collectives, [&](const Interval& each) { return holds(masked, each.begin); });
  for (const Interval& collective : collectives) {
    activity.collectiveBegins.push_back(collective.begin);
    activity.collectiveEnds.push_back(collective.end);
  }
  std::sort(activity.collectiveEnds.begin(), activity.collectiveEnds.end());
  SONDE_TRY_ASSIGN(auto devices, readDevices(trace, rank.processId, clock));
  if (devices) {
    activity.device = std::move(devices->name);
    activity.computeKnown = true;
    activity.computing = std::move(devices->kernels);
    activity.copying = std::move(devices->copies);
    activity.communicating = std::move(devices->collectives);
  } else {
    SONDE_TRY_ASSIGN(activity.computing, hostCompute(trace, rank.processId, collectives, clock));
    activity.computeKnown = !activity.computing.empty();
    activity.communicating = normalise(std::move(collectives));
  }
  leaveOut(masked, activity);
  return activity;
}

RankTime timeIn(const RankActivity& activity, Interval window) {
  const Intervals computing = clip(activity.computing, window);
  const Intervals copying = clip(activity.copying, window);
  const Intervals communicating = clip(activity.communicating, window);
  RankTime time;
  time.device = activity.device;
  time.computeKnown = activity.computeKnown;
  time.windowNs = std::max<std::int64_t>(window.end - window.begin, 0) -
                  totalLength(clip(activity.masked, window));
  time.computeNs = totalLength(computing);
  time.copyNs = totalLength(copying);
  time.commNs = totalLength(communicating);
  time.hiddenNs = totalLength(intersect(communicating, computing));
  time.exposedNs = time.commNs - time.hiddenNs;
  const Intervals working = unite(computing, communicating);
  time.exposedCopyNs = totalLength(subtract(copying, working));
  time.idleNs = time.windowNs - totalLength(working) - time.exposedCopyNs;
  const auto begun = std::lower_bound(
      activity.collectiveBegins.begin(), activity.collectiveBegins.end(), window.end);
  const auto ended = std::upper_bound(
      activity.collectiveEnds.begin(), activity.collectiveEnds.end(), window.begin);
  time.collectives = std::max<std::ptrdiff_t>(
      (begun - activity.collectiveBegins.begin()) - (ended - activity.collectiveEnds.begin()), 0);
  return time;
}

Result<RankTime> timeOf(const store::Database& trace, const RankProcess& rank) {
  SONDE_TRY_ASSIGN(const RankActivity activity, readRankActivity(trace, rank));
  return timeIn(activity, rank.window);
}

Result<IterationParts> partsOf(const store::Database& trace,
                               const RankProcess& rank,
                               const IterationTime& iteration,
                               const Clock& clock) {
  SONDE_TRY_ASSIGN(
      Statement rows,
      trace.prepare("SELECT s.start_ns, s.dur_ns, s.thread_id, s.kind FROM thread t JOIN slice s "
                    "ON s.thread_id = t.id"
                    " WHERE t.process_id = ?1 AND (?2 = 0 OR t.id = ?2) AND s.dur_ns IS NOT NULL"
                    " AND s.start_ns < ?4 AND s.start_ns + s.dur_ns > ?3"
                    " AND s.kind IN ('data_load', 'forward', 'backward', 'optimizer')"
                    " ORDER BY s.depth DESC, s.lane DESC"));
  const std::int64_t recordedEnd = iteration.startNs + iteration.durNs;
  rows.bindAll(rank.processId, iteration.threadId, iteration.startNs, recordedEnd);
  const Interval whole{clock.ofProcess(rank.processId, iteration.startNs),
                       clock.ofProcess(rank.processId, recordedEnd)};
  IterationParts parts;
  parts.number = iteration.number;
  parts.durNs = whole.end - whole.begin;
  const std::map<std::string_view, std::int64_t*> byKind = {{"data_load", &parts.dataLoadNs},
                                                            {"forward", &parts.forwardNs},
                                                            {"backward", &parts.backwardNs},
                                                            {"optimizer", &parts.optimizerNs}};
  Intervals taken;  // by inner slices
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      break;
    SONDE_TRY_ASSIGN(const Interval time, timeOfRow(rows, clock, &Clock::ofThread));
    const Intervals slice =
        normalise({{std::max(time.begin, whole.begin), std::min(time.end, whole.end)}});
    *byKind.at(rows.text(3)) += totalLength(subtract(slice, taken));
    taken = unite(taken, slice);
  }
  parts.otherNs = parts.durNs - totalLength(taken);
  return parts;
}

std::optional<IterationTime> medianIteration(const RankProcess& rank) {
  if (rank.iterations.empty())
    return std::nullopt;
  std::vector<IterationTime> sorted = rank.iterations;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
  std::nth_element(
      sorted.begin(), middle, sorted.end(), [](const IterationTime& a, const IterationTime& b) {
        return std::pair(a.durNs, a.number) < std::pair(b.durNs, b.number);
      });
  return *middle;
}

}  // namespace sonde::engine::metrics
