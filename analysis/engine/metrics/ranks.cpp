#include "analysis/engine/metrics/ranks.h"

#include "analysis/engine/iterations/iterations.h"
#include "analysis/engine/statistics/statistics.h"
#include "analysis/store/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace sonde::engine::metrics {
namespace {

using store::Statement;

// Signs that a process trains, the surest first.
constexpr std::array<std::string_view, 3> kSubjects = {
    "EXISTS (SELECT 1 FROM iteration i WHERE i.process_id = p.id)",
    "EXISTS (SELECT 1 FROM collective c WHERE c.process_id = p.id) OR EXISTS (SELECT 1 FROM "
    "channel "
    "h WHERE h.process_id = p.id AND h.kind = 'mpi') OR EXISTS (SELECT 1 FROM thread "
    "t"
    " JOIN slice s ON s.thread_id = t.id WHERE t.process_id = p.id AND s.kind IN ('phase', "
    "'operation',"
    " 'micro_step', 'forward', 'backward', 'optimizer', 'evaluation'))",
    "p.id = (SELECT id FROM process ORDER BY start_ns, id LIMIT 1)"};

Result<std::vector<RankProcess>> readSubjects(const store::Database& trace,
                                              std::string_view condition) {
  SONDE_TRY_ASSIGN(Statement rows,
                   trace.prepare(fmt::format("SELECT p.id, p.rank, p.pid FROM process p WHERE {}"
                                             " ORDER BY p.rank IS NULL, p.rank, p.id",
                                             condition)));
  std::vector<RankProcess> ranks;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return ranks;
    RankProcess rank;
    rank.processId = rows.integer(0);
    rank.rank = rows.optionalInteger(1);
    rank.name =
        rank.rank ? fmt::format("rank {}", *rank.rank) : fmt::format("process {}", rows.integer(2));
    // A program that execs has several images of one rank.
    if (!ranks.empty() && rank.rank && ranks.back().rank == rank.rank)
      rank.name += fmt::format(", process {}", rows.integer(2));
    ranks.push_back(std::move(rank));
  }
}

Result<void> addIterations(const iterations::Iterations& iterations, RankProcess& rank) {
  std::unordered_map<std::int64_t, std::int64_t> occurrences;  // by number
  for (const iterations::Iteration& each : iterations.all()) {
    if (each.processId != rank.processId || each.durNs.value_or(-1) < 0)
      continue;
    SONDE_TRY_ASSIGN(const Interval time, intervalOf(each.startNs, *each.durNs));
    if (each.isInner()) {
      rank.holders.emplace(each.id, each.holder);
      continue;
    }
    // Counts masked ones, too: on another rank they may not be masked.
    const std::int64_t occurrence = occurrences[each.number]++;
    if (each.isMasked) {
      rank.masked.push_back(time);
      ++rank.maskedCount;
    } else {
      rank.iterations.push_back(
          {each.number, time.begin, *each.durNs, each.threadId, each.id, occurrence});
    }
  }
  rank.masked = normalise(std::move(rank.masked));
  return {};
}

Result<void> readWindow(const store::Database& trace, RankProcess& rank) {
  if (!rank.iterations.empty()) {
    rank.window = {rank.iterations.front().startNs, 0};
    for (const IterationTime& iteration : rank.iterations) {
      rank.window.begin = std::min(rank.window.begin, iteration.startNs);
      rank.window.end = std::max(rank.window.end, iteration.startNs + iteration.durNs);
    }
    return {};
  }
  SONDE_TRY_ASSIGN(
      Statement span,
      trace.prepare("SELECT coalesce(min(b), 0), coalesce(max(e), 0) FROM ("
                    "SELECT min(s.start_ns) AS b, max(s.start_ns + coalesce(s.dur_ns, 0)) AS e"
                    " FROM thread t JOIN slice s ON s.thread_id = t.id WHERE t.process_id = ?1 "
                    "UNION ALL SELECT min(k.start_ns), max(k.start_ns + coalesce(k.dur_ns, 0))"
                    " FROM stream r JOIN kernel k ON k.stream_id = r.id WHERE r.process_id = ?1 "
                    "UNION ALL SELECT min(c.start_ns), max(c.start_ns + coalesce(c.dur_ns, 0))"
                    " FROM stream r JOIN copy c ON c.stream_id = r.id WHERE r.process_id = ?1)"));
  span.bind(1, rank.processId);
  SONDE_TRY(span.step());
  // SQLite turns a sum beyond 64 bits into a real, whose integer is the largest one.
  SONDE_TRY(intervalOf(span.integer(1), 0));
  SONDE_TRY_ASSIGN(rank.window, intervalOf(span.integer(0), 0));
  rank.window.end = std::max(span.integer(1), rank.window.begin);
  return {};
}

constexpr std::string_view kWorkedSql =
    "SELECT p.id, p.rank FROM process p WHERE EXISTS (SELECT 1 FROM stream r WHERE r.process_id = "
    "p.id AND (EXISTS (SELECT 1 FROM kernel WHERE stream_id = r.id) OR EXISTS (SELECT 1 FROM copy "
    "WHERE stream_id = r.id)))";
// Without a join: for it, SQLite would sort all slices of a trace that has no indexes yet.
constexpr std::string_view kDoesMoreSql =
    "SELECT 1 FROM slice WHERE thread_id IN (SELECT id FROM thread WHERE process_id = ?1) AND kind "
    "NOT IN ('iteration', 'range') LIMIT 1";

// Takes the only process whose devices worked, if `marker` only marks iterations.
Result<void> takeMarked(const store::Database& trace, RankProcess& marker) {
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare(kWorkedSql));
  SONDE_TRY_ASSIGN(const bool any, rows.step());
  if (!any || rows.integer(0) == marker.processId)
    return {};
  const std::int64_t process = rows.integer(0);
  const std::optional<std::int64_t> rank = rows.optionalInteger(1);
  SONDE_TRY_ASSIGN(const bool more, rows.step());
  if (more)
    return {};
  SONDE_TRY_ASSIGN(Statement work, trace.prepare(kDoesMoreSql));
  work.bindAll(marker.processId);
  SONDE_TRY_ASSIGN(const bool doesMore, work.step());
  if (doesMore)
    return {};
  marker.processId = process;
  if (rank)
    marker.rank = rank;
  return {};
}

}  // namespace

Result<std::vector<RankProcess>> readRanks(const store::Database& trace) {
  std::vector<RankProcess> ranks;
  for (const std::string_view condition : kSubjects) {
    SONDE_TRY_ASSIGN(ranks, readSubjects(trace, condition));
    if (!ranks.empty())
      break;
  }
  SONDE_TRY_ASSIGN(const auto iterations, iterations::Iterations::read(trace));
  for (RankProcess& rank : ranks) {
    SONDE_TRY(addIterations(iterations, rank));
    SONDE_TRY(readWindow(trace, rank));
  }
  if (ranks.size() == 1) {
    RankProcess& only = ranks.front();
    if (!only.iterations.empty())
      SONDE_TRY(takeMarked(trace, only));
    only.rank = only.rank.value_or(0);
    only.name = fmt::format("rank {}", *only.rank);
  }
  return ranks;
}

Result<std::vector<std::int64_t>> iterationThreads(const store::Database& trace,
                                                   const RankProcess& rank) {
  SONDE_TRY_ASSIGN(Statement rows,
                   trace.prepare("SELECT id FROM thread WHERE process_id = ?1 ORDER BY id"));
  rows.bind(1, rank.processId);
  std::unordered_set<std::int64_t> driving;
  for (const IterationTime& each : rank.iterations)
    driving.insert(each.threadId);
  std::vector<std::int64_t> all;
  std::vector<std::int64_t> known;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return known.empty() ? all : known;
    all.push_back(rows.integer(0));
    if (driving.contains(all.back()))
      known.push_back(all.back());
  }
}

Intervals countedOf(const RankProcess& rank) {
  return subtract(normalise({rank.window}), rank.masked);
}

RankProcess byClock(RankProcess rank, const Clock& clock) {
  const auto move = [&](Interval time) {
    return Interval{clock.ofProcess(rank.processId, time.begin),
                    clock.ofProcess(rank.processId, time.end)};
  };
  rank.window = move(rank.window);
  for (IterationTime& iteration : rank.iterations) {
    const Interval time = move({iteration.startNs, iteration.startNs + iteration.durNs});
    iteration.startNs = time.begin;
    iteration.durNs = time.end - time.begin;
  }
  std::transform(rank.masked.begin(), rank.masked.end(), rank.masked.begin(), move);
  rank.masked = normalise(std::move(rank.masked));
  return rank;
}

IterationStatistics statisticsOf(const std::vector<IterationTime>& iterations) {
  if (iterations.empty())
    return {};
  std::vector<std::int64_t> sorted;
  sorted.reserve(iterations.size());
  for (const IterationTime& iteration : iterations)
    sorted.push_back(iteration.durNs);
  std::sort(sorted.begin(), sorted.end());
  return {static_cast<std::int64_t>(sorted.size()),
          percentile(sorted, 0.5),
          percentile(sorted, 0.95),
          sorted.front(),
          sorted.back()};
}

}  // namespace sonde::engine::metrics
