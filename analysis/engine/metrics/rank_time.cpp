#include "analysis/engine/metrics/rank_time.h"

#include "analysis/model/words.h"
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
    "SELECT s.thread_id, s.kind, s.start_ns, s.start_ns + s.dur_ns FROM thread t"
    " JOIN slice s ON s.thread_id = t.id WHERE t.process_id = ?1 AND s.dur_ns IS NOT NULL AND "
    "s.kind IN"
    " ('forward', 'backward', 'optimizer', 'evaluation', 'module', 'operator',"
    " 'data_load', 'collective', 'io', 'wait')";

bool interrupts(std::string_view kind) {
  return kind == "data_load" || kind == "collective" || kind == "io" || kind == "wait";
}

Result<std::map<std::int64_t, ThreadActivity>> readActivity(const store::Database& trace,
                                                            std::int64_t process) {
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare(kActivitySql));
  rows.bind(1, process);
  std::map<std::int64_t, ThreadActivity> threads;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return threads;
    ThreadActivity& thread = threads[rows.integer(0)];
    const Interval time{rows.integer(2), rows.integer(3)};
    (interrupts(rows.text(1)) ? thread.interruptions : thread.computing).push_back(time);
    if (rows.text(1) == "backward")
      thread.backwards.push_back(time);
  }
}

struct DeviceActivity {
  std::string name;
  Intervals kernels;      // but those of collectives
  Intervals collectives;  // kernels of collectives
  Intervals copies;
};

Result<Intervals> readIntervals(const store::Database& trace,
                                std::string_view sql,
                                std::int64_t process) {
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare(sql));
  rows.bind(1, process);
  Intervals intervals;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return normalise(std::move(intervals));
    intervals.push_back({rows.integer(0), rows.integer(1)});
  }
}

// The names of its devices that did something; none: none did.
Result<std::optional<std::string>> deviceNames(const store::Database& trace, std::int64_t process) {
  SONDE_TRY_ASSIGN(
      Statement names,
      trace.prepare("SELECT group_concat(name, ', ') FROM (SELECT DISTINCT d.kind || ' ' || "
                    "d.ordinal AS name FROM stream s JOIN device d ON d.id = s.device_id "
                    "WHERE s.process_id = ?1 AND (EXISTS (SELECT 1 FROM kernel WHERE stream_id = "
                    "s.id) OR EXISTS (SELECT 1 FROM copy WHERE stream_id = s.id)) ORDER BY 1)"));
  names.bind(1, process);
  SONDE_TRY(names.step());
  return names.optionalText(0);
}

// A kernel is a collective's by its name, or because a collective says so.
Result<void> readKernels(const store::Database& trace,
                         std::int64_t process,
                         DeviceActivity& devices) {
  SONDE_TRY_ASSIGN(
      Statement rows,
      trace.prepare(
          "SELECT k.start_ns, k.start_ns + k.dur_ns, k.name_id, n.text, k.id IN (SELECT "
          "kernel_id FROM collective WHERE process_id = ?1 AND kernel_id IS NOT NULL) "
          "FROM stream s JOIN kernel k ON k.stream_id = s.id LEFT JOIN string n ON n.id = "
          "k.name_id WHERE s.process_id = ?1 AND k.dur_ns IS NOT NULL"));
  rows.bind(1, process);
  std::unordered_map<std::int64_t, bool> byName;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      break;
    const auto [name, isNew] = byName.try_emplace(rows.integer(2));
    if (isNew)
      name->second = model::isCollectiveKernel(rows.text(3));
    const bool communicates = name->second || rows.integer(4) != 0;
    (communicates ? devices.collectives : devices.kernels)
        .push_back({rows.integer(0), rows.integer(1)});
  }
  devices.kernels = normalise(std::move(devices.kernels));
  devices.collectives = normalise(std::move(devices.collectives));
  return {};
}

// Nothing of a process whose devices did nothing. Collectives that no kernel runs are the host's.
Result<std::optional<DeviceActivity>> readDevices(const store::Database& trace,
                                                  std::int64_t process) {
  SONDE_TRY_ASSIGN(std::optional<std::string> names, deviceNames(trace, process));
  if (!names)
    return std::optional<DeviceActivity>();
  DeviceActivity devices;
  devices.name = *std::move(names);
  SONDE_TRY(readKernels(trace, process, devices));
  SONDE_TRY_ASSIGN(const Intervals onHost,
                   readIntervals(trace,
                                 "SELECT start_ns, start_ns + dur_ns FROM collective WHERE "
                                 "process_id = ?1 AND dur_ns IS NOT NULL AND kernel_id IS NULL",
                                 process));
  devices.collectives = unite(devices.collectives, onHost);
  SONDE_TRY_ASSIGN(devices.copies,
                   readIntervals(trace,
                                 "SELECT c.start_ns, c.start_ns + c.dur_ns FROM stream s JOIN copy "
                                 "c ON c.stream_id = s.id WHERE s.process_id = ?1 AND c.dur_ns IS "
                                 "NOT NULL",
                                 process));
  return std::optional(std::move(devices));
}

// By start; not normalised, because each collective's own start matters. Where there are no rows of
// them, as in files of other tools, the outermost slices that are collectives.
Result<Intervals> readCollectives(const store::Database& trace, std::int64_t process) {
  SONDE_TRY_ASSIGN(
      Statement rows,
      trace.prepare("SELECT start_ns, start_ns + dur_ns FROM collective"
                    " WHERE process_id = ?1 AND dur_ns IS NOT NULL "
                    "UNION ALL "
                    "SELECT s.start_ns, s.start_ns + s.dur_ns FROM thread t"
                    " JOIN slice s ON s.thread_id = t.id LEFT JOIN slice p ON p.id = s.parent_id"
                    " WHERE t.process_id = ?1 AND s.kind = 'collective' AND s.dur_ns IS NOT NULL"
                    " AND p.kind IS NOT 'collective'"
                    " AND NOT EXISTS (SELECT 1 FROM collective WHERE process_id = ?1) "
                    "ORDER BY 1"));
  rows.bind(1, process);
  Intervals collectives;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return collectives;
    collectives.push_back({rows.integer(0), rows.integer(1)});
  }
}

Result<Intervals> hostCompute(const store::Database& trace,
                              std::int64_t process,
                              const Intervals& collectives) {
  SONDE_TRY_ASSIGN(const auto threads, readActivity(trace, process));
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

Result<RankActivity> readRankActivity(const store::Database& trace, std::int64_t processId) {
  RankActivity activity;
  SONDE_TRY_ASSIGN(const Intervals collectives, readCollectives(trace, processId));
  for (const Interval& collective : collectives) {
    activity.collectiveBegins.push_back(collective.begin);
    activity.collectiveEnds.push_back(collective.end);
  }
  std::sort(activity.collectiveEnds.begin(), activity.collectiveEnds.end());
  SONDE_TRY_ASSIGN(auto devices, readDevices(trace, processId));
  if (devices) {
    activity.device = std::move(devices->name);
    activity.computeKnown = true;
    activity.computing = std::move(devices->kernels);
    activity.copying = std::move(devices->copies);
    activity.communicating = std::move(devices->collectives);
    return activity;
  }
  SONDE_TRY_ASSIGN(activity.computing, hostCompute(trace, processId, collectives));
  activity.computeKnown = !activity.computing.empty();
  activity.communicating = normalise(collectives);
  return activity;
}

RankTime timeIn(const RankActivity& activity, Interval window) {
  const Intervals computing = clip(activity.computing, window);
  const Intervals copying = clip(activity.copying, window);
  const Intervals communicating = clip(activity.communicating, window);
  RankTime time;
  time.device = activity.device;
  time.computeKnown = activity.computeKnown;
  time.windowNs = std::max<std::int64_t>(window.end - window.begin, 0);
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
  SONDE_TRY_ASSIGN(const RankActivity activity, readRankActivity(trace, rank.processId));
  return timeIn(activity, rank.window);
}

Result<IterationParts> partsOf(const store::Database& trace,
                               const RankProcess& rank,
                               const IterationTime& iteration) {
  SONDE_TRY_ASSIGN(
      Statement rows,
      trace.prepare("SELECT s.kind, s.start_ns, s.start_ns + s.dur_ns FROM thread t JOIN slice s "
                    "ON s.thread_id = t.id"
                    " WHERE t.process_id = ?1 AND (?2 = 0 OR t.id = ?2) AND s.dur_ns IS NOT NULL"
                    " AND s.start_ns < ?4 AND s.start_ns + s.dur_ns > ?3"
                    " AND s.kind IN ('data_load', 'forward', 'backward', 'optimizer')"
                    " ORDER BY s.depth DESC, s.lane DESC"));
  const std::int64_t end = iteration.startNs + iteration.durNs;
  rows.bindAll(rank.processId, iteration.threadId, iteration.startNs, end);
  IterationParts parts;
  parts.number = iteration.number;
  parts.durNs = iteration.durNs;
  const std::map<std::string_view, std::int64_t*> byKind = {{"data_load", &parts.dataLoadNs},
                                                            {"forward", &parts.forwardNs},
                                                            {"backward", &parts.backwardNs},
                                                            {"optimizer", &parts.optimizerNs}};
  Intervals taken;  // by what is further inside
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      break;
    const Intervals slice =
        normalise({{std::max(rows.integer(1), iteration.startNs), std::min(rows.integer(2), end)}});
    *byKind.at(rows.text(0)) += totalLength(subtract(slice, taken));
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
