#include "analysis/engine/device/stragglers.h"

#include "analysis/engine/statistics/distributions.h"
#include "analysis/model/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace sonde::engine::device {
namespace {

using metrics::IterationTime;
using metrics::RankProcess;

// The iteration's number, and how many iterations had it before. The same on all ranks, also if
// each epoch counts from 0.
using IterationName = std::pair<std::int64_t, std::int64_t>;

// Lags in one iteration, by process.
using Lags = std::map<std::int64_t, std::int64_t>;

std::int64_t medianArrival(const JoinedCollective& collective) {
  std::vector<std::int64_t> begins;
  for (const Arrival& arrival : collective.arrivals)
    begins.push_back(arrival.beginNs);
  std::sort(begins.begin(), begins.end());
  const std::size_t middle = begins.size() / 2;
  return begins.size() % 2 == 1 ? begins[middle]
                                : begins[middle - 1] + (begins[middle] - begins[middle - 1]) / 2;
}

class Finder {
 public:
  explicit Finder(const std::vector<RankProcess>& processes) {
    for (const RankProcess& process : processes)
      addProcess(process);
  }

  void add(const JoinedCollective& collective) {
    if (!model::isRendezvous(collective.op) || !collective.isJoined())
      return;
    ++collectives_;
    if (!collective.fits)
      return;
    const std::int64_t median = medianArrival(collective);
    const auto iteration = iterationOf(collective);
    for (std::size_t at = 0; at < collective.arrivals.size(); ++at) {
      const Arrival& arrival = collective.arrivals[at];
      RankLag& rank = ranks_[arrival.processId];
      rank.processId = arrival.processId;
      rank.rank = arrival.rank;
      ++rank.collectives;
      rank.lastIn += at == collective.last ? 1 : 0;
      if (iteration)
        byIteration_[*iteration][arrival.processId] += arrival.beginNs - median;
    }
  }

  // Numbers that restart do so in another occurrence.
  std::vector<IterationLags> lags() const {
    std::map<IterationName, IterationLags> inTime;
    for (const auto& [name, lags] : byIteration_)
      if (lags.size() >= 2)
        inTime[{name.second, name.first}] = {name.first, lags};
    std::vector<IterationLags> all;
    for (auto& [name, lags] : inTime)
      all.push_back(std::move(lags));
    return all;
  }

  StragglerVerdict verdict(const ClockCheck& clocks) {
    for (const auto& [name, lags] : byIteration_)
      addIteration(lags);
    const std::int64_t iterationNs = spreadOf(durations_).p50;
    StragglerVerdict verdict;
    for (auto& [id, rank] : ranks_) {
      judge(rank, iterationNs);
      verdict.ranks.push_back(rank);
    }
    std::stable_sort(
        verdict.ranks.begin(), verdict.ranks.end(), [](const RankLag& a, const RankLag& b) {
          return a.medianLagNs != b.medianLagNs ? a.medianLagNs > b.medianLagNs
                                                : a.lastIn > b.lastIn;
        });
    verdict.reason = decide(verdict, clocks);
    return verdict;
  }

 private:
  void addProcess(const RankProcess& process) {
    iterations_[process.processId] = process.iterations;
    for (const IterationTime& iteration : process.iterations)
      durations_.push_back(iteration.durNs);
  }

  // The last iteration that some rank had begun when the collective began; a device may run it
  // later.
  std::optional<IterationName> iterationOf(const JoinedCollective& collective) const {
    for (const Arrival& arrival : collective.arrivals) {
      const auto own = iterations_.find(arrival.processId);
      if (own == iterations_.end() || own->second.empty())
        continue;
      const auto after = std::upper_bound(
          own->second.begin(),
          own->second.end(),
          arrival.hostBeginNs,
          [](std::int64_t at, const IterationTime& iteration) { return at < iteration.startNs; });
      if (after != own->second.begin())
        return IterationName{std::prev(after)->number, std::prev(after)->occurrence};
    }
    return std::nullopt;
  }

  void addIteration(const Lags& lags) {
    if (lags.size() < 2)
      return;
    const auto greatest = std::max_element(
        lags.begin(), lags.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto ties = std::count_if(lags.begin(), lags.end(), [&](const auto& each) {
      return each.second == greatest->second;
    });
    mostRanks_ = std::max(mostRanks_, lags.size());
    for (const auto& [process, lag] : lags) {
      RankLag& rank = ranks_[process];
      ++rank.iterations;
      rank.greatestIn += process == greatest->first && ties == 1 ? 1 : 0;
      lagsOf_[process].push_back(lag);
    }
  }

  void judge(RankLag& rank, std::int64_t iterationNs) {
    if (rank.iterations == 0)
      return;
    rank.medianLagNs = spreadOf(lagsOf_[rank.processId]).p50;
    if (iterationNs > 0)
      rank.share = static_cast<double>(rank.medianLagNs) / static_cast<double>(iterationNs);
    const auto ranks = static_cast<double>(mostRanks_);
    const double tail = statistics::binomialTail(rank.greatestIn, rank.iterations, 1 / ranks);
    rank.chance = std::min(1.0, ranks * tail);
  }

  std::string decide(StragglerVerdict& verdict, const ClockCheck& clocks) const {
    if (collectives_ == 0)
      return "no collective that synchronises its ranks has more than one rank in these traces";
    if (!clocks.agree)
      return fmt::format(
          "ranks leave collectives {:.3g} ms apart, after they entered {:.3g} ms apart: their "
          "clocks differ, or some calls were not recorded",
          static_cast<double>(clocks.endSpreadNs) / 1e6,
          static_cast<double>(clocks.arrivalSpreadNs) / 1e6);
    if (static_cast<std::int64_t>(byIteration_.size()) < kLeastIterations)
      return fmt::format("{} iterations with collectives are needed to detect one, and {} {} here",
                         kLeastIterations,
                         byIteration_.size(),
                         byIteration_.size() == 1 ? "is" : "are");
    bool isLateByChance = false;
    for (std::size_t at = 0; at < verdict.ranks.size(); ++at) {
      RankLag& rank = verdict.ranks[at];
      const bool isLarge = rank.share >= kLeastShare;
      rank.isStraggler = isLarge && rank.chance < kMostChance;
      isLateByChance = isLateByChance || (isLarge && !rank.isStraggler);
      if (rank.isStraggler)
        verdict.stragglers.push_back(at);
    }
    if (!verdict.stragglers.empty())
      return "later than the others more often than by chance, and by enough to matter";
    return isLateByChance ? "no rank is late more often than by chance"
                          : "no rank is late by 1 % of an iteration";
  }

  std::map<std::int64_t, std::vector<IterationTime>> iterations_;  // by process
  std::vector<std::int64_t> durations_;
  std::map<IterationName, Lags> byIteration_;
  std::map<std::int64_t, RankLag> ranks_;  // by process
  std::map<std::int64_t, std::vector<std::int64_t>> lagsOf_;
  std::size_t mostRanks_ = 2;
  std::int64_t collectives_ = 0;
};

}  // namespace

std::vector<IterationLags> lagsByIteration(const std::vector<JoinedCollective>& collectives,
                                           const std::vector<RankProcess>& processes) {
  Finder finder(processes);
  for (const JoinedCollective& collective : collectives)
    finder.add(collective);
  return finder.lags();
}

StragglerVerdict findStragglers(const std::vector<JoinedCollective>& collectives,
                                const std::vector<RankProcess>& processes) {
  Finder finder(processes);
  for (const JoinedCollective& collective : collectives)
    finder.add(collective);
  return finder.verdict(checkClocks(collectives));
}

}  // namespace sonde::engine::device
