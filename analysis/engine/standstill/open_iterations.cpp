#include "analysis/engine/standstill/open_iterations.h"

#include "analysis/store/each_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace sonde::engine::standstill {
namespace {

using store::Statement;

// The outermost one of each process. A running process is known up to its watermark, another one
// up to its end.
constexpr std::string_view kOpenIterations =
    "SELECT o.process_id, o.start_ns, max(o.seen_ns, coalesce(CASE WHEN v.state = 'running' THEN"
    " v.watermark_ns - v.start_ns + p.start_ns ELSE p.end_ns END, 0)), p.rank, min(o.depth)"
    " FROM open_call o JOIN v_process v ON v.id = o.process_id JOIN process p ON p.id ="
    " o.process_id WHERE o.kind = 'iteration' GROUP BY o.process_id";
constexpr std::string_view kHasOpenCalls =
    "SELECT count(*) FROM sqlite_schema WHERE name = 'open_call'";

constexpr std::string_view kEnds =
    "SELECT s.start_ns + s.dur_ns AS ns FROM thread t JOIN slice s ON s.thread_id = t.id WHERE"
    " t.process_id = ?1 AND s.start_ns >= ?2 AND s.dur_ns IS NOT NULL AND s.kind IN ('phase',"
    " 'operation', 'micro_step', 'forward', 'backward', 'optimizer', 'data_load', 'checkpoint',"
    " 'evaluation', 'module', 'operator', 'collective')"
    " UNION ALL SELECT k.start_ns + k.dur_ns FROM stream r JOIN kernel k ON k.stream_id = r.id"
    " WHERE r.process_id = ?1 AND k.start_ns >= ?2 AND k.dur_ns IS NOT NULL"
    " UNION ALL SELECT k.start_ns + k.dur_ns FROM stream r JOIN copy k ON k.stream_id = r.id"
    " WHERE r.process_id = ?1 AND k.start_ns >= ?2 AND k.dur_ns IS NOT NULL"
    " UNION ALL SELECT start_ns + dur_ns FROM collective WHERE process_id = ?1 AND start_ns >= ?2"
    " AND dur_ns IS NOT NULL ORDER BY ns";

struct Opening {
  std::int64_t startNs = 0;
  std::int64_t untilNs = 0;
  std::optional<std::int64_t> rank;
};

// By process.
Result<std::map<std::int64_t, Opening>> readOpenings(const store::Database& trace) {
  std::map<std::int64_t, Opening> found;
  SONDE_TRY_ASSIGN(const std::int64_t hasTable, trace.queryInteger(kHasOpenCalls));
  if (hasTable == 0)
    return found;
  SONDE_TRY(store::forEachRow(trace, kOpenIterations, [&](const Statement& row) -> Result<void> {
    if (row.integer(2) > row.integer(1))
      found[row.integer(0)] = {row.integer(1), row.integer(2), row.optionalInteger(3)};
    return {};
  }));
  return found;
}

Result<std::vector<std::int64_t>> readEnds(const store::Database& trace,
                                           std::int64_t processId,
                                           std::int64_t fromNs) {
  std::vector<std::int64_t> ends;
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare(kEnds));
  rows.bind(1, processId);
  rows.bind(2, fromNs);
  while (true) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      return ends;
    ends.push_back(rows.integer(0));
  }
}

// The ends after `fromNs` and up to `toNs`, from `fromNs` on.
std::vector<std::int64_t> endsIn(const std::vector<std::int64_t>& ends,
                                 std::int64_t fromNs,
                                 std::int64_t toNs) {
  std::vector<std::int64_t> found;
  for (auto end = std::upper_bound(ends.begin(), ends.end(), fromNs);
       end != ends.end() && *end <= toNs;
       ++end)
    found.push_back(*end - fromNs);
  return found;
}

// `opening`: nullptr: none.
Result<void> readIterations(const store::Database& trace,
                            const metrics::RankProcess& rank,
                            const Opening* opening,
                            RankProgress& progress) {
  const auto& all = rank.iterations;
  if (all.empty() && opening == nullptr)
    return {};
  const std::size_t first = all.size() > kPastIterations ? all.size() - kPastIterations : 0;
  SONDE_TRY_ASSIGN(
      const std::vector<std::int64_t> ends,
      readEnds(trace, rank.processId, all.empty() ? opening->startNs : all[first].startNs));
  for (std::size_t at = first; at < all.size(); ++at) {
    PastIteration& past = progress.past.emplace_back();
    past.number = all[at].number;
    past.durNs = all[at].durNs;
    past.endedNs = endsIn(ends, all[at].startNs, all[at].startNs + all[at].durNs);
    past.endedNs.push_back(past.durNs);
  }
  if (opening != nullptr)
    progress.open = {all.empty() ? 0 : all.back().number + 1,
                     opening->startNs,
                     opening->untilNs - opening->startNs,
                     endsIn(ends, opening->startNs, opening->untilNs)};
  return {};
}

// Ranks that have not ended an iteration yet, where others have: they are not among `ranks`.
std::vector<metrics::RankProcess> inFirstIteration(const std::map<std::int64_t, Opening>& openings,
                                                   const std::vector<metrics::RankProcess>& ranks) {
  std::vector<metrics::RankProcess> found;
  for (const auto& [processId, opening] : openings) {
    const bool isKnown = std::any_of(
        ranks.begin(), ranks.end(), [&](const auto& rank) { return rank.processId == processId; });
    if (isKnown || !opening.rank)
      continue;
    metrics::RankProcess& rank = found.emplace_back();
    rank.processId = processId;
    rank.rank = opening.rank;
    rank.name = fmt::format("rank {}", *opening.rank);
  }
  return found;
}

}  // namespace

Result<std::vector<RankProgress>> readProgress(const store::Database& trace,
                                               const std::vector<metrics::RankProcess>& ranks) {
  SONDE_TRY_ASSIGN(const auto openings, readOpenings(trace));
  std::vector<RankProgress> all;
  for (const metrics::RankProcess& rank : ranks) {
    RankProgress& progress = all.emplace_back();
    progress.processId = rank.processId;
    progress.name = rank.name;
    const auto opening = openings.find(rank.processId);
    if (!openings.empty())
      SONDE_TRY(readIterations(
          trace, rank, opening == openings.end() ? nullptr : &opening->second, progress));
  }
  for (const metrics::RankProcess& rank : inFirstIteration(openings, ranks)) {
    RankProgress& progress = all.emplace_back();
    progress.processId = rank.processId;
    progress.name = rank.name;
    SONDE_TRY(readIterations(trace, rank, &openings.at(rank.processId), progress));
  }
  return all;
}

}  // namespace sonde::engine::standstill
