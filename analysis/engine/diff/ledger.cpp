#include "analysis/engine/diff/ledger.h"

#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/statement.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace sonde::engine::diff {

Result<Ledger> Ledger::open(const store::Database& trace) {
  Ledger ledger;
  SONDE_TRY_ASSIGN(const std::vector<metrics::RankProcess> processes, metrics::readRanks(trace));
  SONDE_TRY_ASSIGN(store::Statement rows,
                   trace.prepare("SELECT number, start_ns, dur_ns, probe_mask FROM iteration WHERE "
                                 "process_id = ?1 AND dur_ns >= 0 ORDER BY number, start_ns"));
  for (const metrics::RankProcess& process : processes) {
    rows.reset();
    rows.bind(1, process.processId);
    std::vector<Row> found;
    while (true) {
      SONDE_TRY_ASSIGN(const bool row, rows.step());
      if (!row)
        break;
      found.push_back({rows.integer(0), rows.integer(1), rows.integer(2), rows.integer(3)});
    }
    if (!found.empty())
      ledger.addProcess(process.processId, process.rank, std::move(found));
  }
  return ledger;
}

void Ledger::addProcess(std::int64_t id, std::optional<std::int64_t> rank, std::vector<Row> rows) {
  RankTimes times{rank, {}, {}, 0};
  const auto probes = [](const Row& row) {
    return std::popcount(static_cast<std::uint64_t>(row.probes));
  };
  const auto most = std::max_element(
      rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return probes(a) < probes(b); });
  const std::int64_t all = most->probes;
  times.partial = std::erase_if(rows, [all](const Row& row) { return row.probes != all; });
  std::vector<double>& own = times.times[Subject{}];
  std::vector<Window> windows;
  for (const Row& row : rows) {
    if (times.iterations.empty() || times.iterations.back() != row.number) {
      times.iterations.push_back(row.number);
      own.push_back(0);
    }
    own.back() += static_cast<double>(row.ns);
    std::int64_t end = 0;
    if (__builtin_add_overflow(row.begin, row.ns, &end))
      end = std::numeric_limits<std::int64_t>::max();
    windows.push_back({row.begin, end, own.size() - 1});
  }
  std::sort(windows.begin(), windows.end(), [](const Window& a, const Window& b) {
    return a.begin < b.begin;
  });
  placeOfProcess_.emplace(id, ranks_.size());
  ranks_.push_back(std::move(times));
  windows_.push_back(std::move(windows));
}

std::optional<Place> Ledger::byNumber(std::int64_t processId, std::int64_t number) const {
  const auto process = placeOfProcess_.find(processId);
  if (process == placeOfProcess_.end())
    return std::nullopt;
  const std::vector<std::int64_t>& numbers = ranks_[process->second].iterations;
  const auto found = std::lower_bound(numbers.begin(), numbers.end(), number);
  if (found == numbers.end() || *found != number)
    return std::nullopt;
  return Place{process->second, static_cast<std::size_t>(found - numbers.begin())};
}

std::optional<Place> Ledger::byTime(std::int64_t processId, std::int64_t ns) const {
  const auto process = placeOfProcess_.find(processId);
  if (process == placeOfProcess_.end())
    return std::nullopt;
  const std::vector<Window>& windows = windows_[process->second];
  const auto after = std::upper_bound(
      windows.begin(), windows.end(), ns, [](std::int64_t time, const Window& window) {
        return time < window.begin;
      });
  if (after == windows.begin() || ns >= std::prev(after)->end)
    return std::nullopt;
  return Place{process->second, std::prev(after)->iteration};
}

void Ledger::add(Place place, const Subject& subject, double ns) {
  RankTimes& rank = ranks_[place.process];
  std::vector<double>& times = rank.times[subject];
  times.resize(rank.iterations.size(), 0);
  times[place.iteration] += ns;
}

}  // namespace sonde::engine::diff
