#include "analysis/engine/metrics/file_calls.h"

#include "analysis/store/each_row.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace sonde::engine::metrics {
namespace {

using store::Statement;

constexpr std::string_view kCallSql =
    "SELECT v.process_id, s.thread_id, v.call, coalesce(v.served_by, ''), s.start_ns, "
    "coalesce(s.dur_ns, 0), coalesce(v.bytes, 0), coalesce(v.disk_bytes, 0) FROM v_io v JOIN slice "
    "s ON s.id = v.slice_id";

// The rank that each process works for: its own, or that with its rank number.
Result<std::map<std::int64_t, std::size_t>> ranksOfProcesses(
    const store::Database& trace, const std::vector<RankProcess>& ranks) {
  std::map<std::int64_t, std::size_t> rankOf;
  SONDE_TRY(store::forEachRow(trace,
                              "SELECT id, rank FROM process WHERE rank IS NOT NULL",
                              [&](const Statement& row) -> Result<void> {
                                for (std::size_t at = 0; at < ranks.size(); ++at)
                                  if (ranks[at].rank == row.integer(1))
                                    rankOf.try_emplace(row.integer(0), at);
                                return {};
                              }));
  for (std::size_t at = 0; at < ranks.size(); ++at)
    rankOf[ranks[at].processId] = at;
  return rankOf;
}

}  // namespace

Result<std::vector<FileCalls>> fileCallsOf(const store::Database& trace,
                                           const std::vector<RankProcess>& ranks) {
  SONDE_TRY_ASSIGN(const auto rankOf, ranksOfProcesses(trace, ranks));
  std::set<std::int64_t> driving;
  std::vector<Intervals> counted;
  counted.reserve(ranks.size());
  for (const RankProcess& rank : ranks) {
    counted.push_back(countedOf(rank));
    SONDE_TRY_ASSIGN(const std::vector<std::int64_t> threads, iterationThreads(trace, rank));
    driving.insert(threads.begin(), threads.end());
  }
  std::map<std::tuple<std::size_t, std::string, std::string, std::string>, FileCalls> sums;
  SONDE_TRY(store::forEachRow(trace, kCallSql, [&](const Statement& row) -> Result<void> {
    const auto found = rankOf.find(row.integer(0));
    if (found == rankOf.end())
      return {};
    const RankProcess& rank = ranks[found->second];
    if (!holds(counted[found->second], row.integer(4)))
      return {};
    const char* const by = row.integer(0) != rank.processId   ? "helpers"
                           : driving.contains(row.integer(1)) ? "iterations"
                                                              : "threads";
    FileCalls& sum = sums[{found->second, by, std::string(row.text(2)), std::string(row.text(3))}];
    ++sum.calls;
    sum.ns += std::max<std::int64_t>(row.integer(5), 0);
    sum.bytes += row.integer(6);
    sum.diskBytes += row.integer(7);
    return {};
  }));
  std::vector<std::pair<std::size_t, FileCalls>> sorted;
  for (auto& [key, sum] : sums) {
    const RankProcess& rank = ranks[std::get<0>(key)];
    sum.rank = rank.rank;
    sum.process = rank.name;
    std::tie(std::ignore, sum.by, sum.call, sum.servedBy) = key;
    sorted.emplace_back(std::get<0>(key), std::move(sum));
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first, b.second.ns) < std::tie(b.first, a.second.ns);
  });
  std::vector<FileCalls> rows;
  rows.reserve(sorted.size());
  for (auto& [rank, row] : sorted)
    rows.push_back(std::move(row));
  return rows;
}

}  // namespace sonde::engine::metrics
