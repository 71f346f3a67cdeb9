#include "analysis/engine/diff/ledger.h"

#include "analysis/engine/metrics/intervals.h"
#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/statement.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace sonde::engine::diff {

Amount amountOf(const std::vector<std::int64_t>& byClock) {
  const std::int64_t raw = byClock.front();
  return {static_cast<double>(byClock.size() > 1 ? byClock[1] : raw),
          static_cast<double>(raw),
          metrics::standardError(byClock)};
}

Result<Ledger> Ledger::open(const store::Database& trace,
                            const std::vector<metrics::Clock>& clocks) {
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
      SONDE_TRY(ledger.addProcess(process.processId, process.rank, std::move(found), clocks));
  }
  return ledger;
}

Result<void> Ledger::addProcess(std::int64_t id,
                                std::optional<std::int64_t> rank,
                                std::vector<Row> rows,
                                const std::vector<metrics::Clock>& clocks) {
  RankTimes times;
  times.rank = rank;
  const auto probes = [](const Row& row) {
    return std::popcount(static_cast<std::uint64_t>(row.probes));
  };
  const auto most = std::max_element(
      rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return probes(a) < probes(b); });
  const std::int64_t all = most->probes;
  times.partial = std::erase_if(rows, [all](const Row& row) { return row.probes != all; });
  const Place process{ranks_.size(), 0};
  placeOfProcess_.emplace(id, process.process);
  ranks_.push_back(std::move(times));
  std::vector<std::int64_t>& numbers = ranks_.back().iterations;
  std::vector<Window> windows;
  std::vector<std::int64_t> byClock(clocks.size());
  std::vector<std::pair<std::size_t, Amount>> amounts;
  for (const Row& row : rows) {
    if (numbers.empty() || numbers.back() != row.number)
      numbers.push_back(row.number);
    SONDE_TRY_ASSIGN(const metrics::Interval time, metrics::intervalOf(row.begin, row.ns));
    for (std::size_t at = 0; at < clocks.size(); ++at)
      byClock[at] = clocks[at].ofProcess(id, time.end) - clocks[at].ofProcess(id, time.begin);
    amounts.emplace_back(numbers.size() - 1, amountOf(byClock));
    windows.push_back({time.begin, time.end, numbers.size() - 1});
  }
  for (const auto& [iteration, amount] : amounts)
    add({process.process, iteration}, Subject{}, amount);
  std::sort(windows.begin(), windows.end(), [](const Window& a, const Window& b) {
    return a.begin < b.begin;
  });
  windows_.push_back(std::move(windows));
  return {};
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

void Ledger::add(Place place, const Subject& subject, const Amount& amount) {
  RankTimes& rank = ranks_[place.process];
  const auto addTo = [&](Times& into, double ns) {
    std::vector<double>& times = into[subject];
    times.resize(rank.iterations.size(), 0);
    times[place.iteration] += ns;
  };
  addTo(rank.times, amount.ns);
  addTo(rank.raw, amount.rawNs);
  // Errors of one cause go together: they add up.
  addTo(rank.errors, amount.errorNs);
}

}  // namespace sonde::engine::diff
