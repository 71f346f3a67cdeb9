#include "analysis/engine/diff/ledger.h"

#include <algorithm>
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
  for (const metrics::RankProcess& process : processes)
    if (process.iterates())
      ledger.addProcess(process, clocks);
  return ledger;
}

void Ledger::addProcess(const metrics::RankProcess& rank,
                        const std::vector<metrics::Clock>& clocks) {
  IterationTimes times;
  times.rank = rank.rank;
  times.partial = static_cast<std::size_t>(rank.maskedCount);
  const std::size_t process = ranks_.size();
  placeOfProcess_.emplace(rank.processId, process);
  ranks_.push_back(std::move(times));
  for (Times IterationTimes::*const each :
       {&IterationTimes::times, &IterationTimes::raw, &IterationTimes::errors})
    (ranks_.back().*each)[Subject{}];  // even if none counts
  for (const metrics::IterationTime& each : rank.iterations)
    ranks_.back().iterations.push_back({each.number, each.occurrence});
  std::vector<Window>& windows = windows_.emplace_back();
  std::vector<std::int64_t> byClock(clocks.size());
  for (std::size_t iteration = 0; iteration < rank.iterations.size(); ++iteration) {
    const metrics::IterationTime& each = rank.iterations[iteration];
    const std::int64_t end = each.startNs + each.durNs;
    for (std::size_t at = 0; at < clocks.size(); ++at)
      byClock[at] = clocks[at].ofProcess(rank.processId, end) -
                    clocks[at].ofProcess(rank.processId, each.startNs);
    const Place place{process, iteration};
    placeOfRow_.emplace(each.id, place);
    add(place, Subject{}, amountOf(byClock));
    windows.push_back({each.startNs, end, iteration});
  }
}

std::optional<Place> Ledger::byRow(std::int64_t processId, std::int64_t iterationId) const {
  // A process that only marks the iterations of another one has no time in them.
  if (!placeOfProcess_.contains(processId))
    return std::nullopt;
  const auto found = placeOfRow_.find(iterationId);
  return found == placeOfRow_.end() ? std::nullopt : std::optional(found->second);
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
  IterationTimes& rank = ranks_[place.process];
  const auto addTo = [&](Times& into, double ns) {
    std::vector<double>& times = into[subject];
    times.resize(rank.iterations.size(), 0);
    times[place.iteration] += ns;
  };
  addTo(rank.times, amount.ns);
  addTo(rank.raw, amount.rawNs);
  // Errors from one cause are correlated: they add up.
  addTo(rank.errors, amount.errorNs);
}

}  // namespace sonde::engine::diff
