#include "analysis/engine/stragglers/stragglers.h"

#include "analysis/engine/replay/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace sonde::engine::stragglers {
namespace {

using graph::NodeIndex;

constexpr double kLeastShare = 0.02;  // of a step, that the job loses by a straggler
// Where a process's memory happens to lie makes the same work on processors 15 to 20 % slower in
// one process than in another, for as long as it runs.
constexpr double kLeastNoisyShare = 0.05;
constexpr double kMostHostRatio = 0.8;  // of the peers' time to the rank's own
constexpr double kLeastExcess = 0.005;  // of a step, that a rank must lose to be looked at
constexpr double kStandardErrors = 4;
constexpr double kChanceErrors = 2;
constexpr std::size_t kMostRanks = 8;       // that are replayed
constexpr std::size_t kMostOperations = 8;  // of each

// A rank's time for one kind of work, by step.
using Times = std::vector<double>;

double meanOf(const Times& times) {
  double sum = 0;
  for (const double each : times)
    sum += each;
  return times.empty() ? 0 : sum / static_cast<double>(times.size());
}

// The standard error of the mean of a series whose steps depend on each other, as those of a loader
// that works ahead do (Newey and West, Econometrica 55, 1987; with 4 lags).
double standardErrorOf(const Times& times) {
  if (times.size() < 2)
    return 0;
  const double centre = meanOf(times);
  const auto covariance = [&](std::size_t lag) {
    double sum = 0;
    for (std::size_t i = lag; i < times.size(); ++i)
      sum += (times[i] - centre) * (times[i - lag] - centre);
    return sum;
  };
  constexpr std::size_t kLags = 4;
  constexpr std::size_t kLeastSteps = 4 * kLags;  // fewer do not show how they depend
  const double alone = covariance(0);
  double variance = alone;
  if (times.size() >= kLeastSteps)
    for (std::size_t lag = 1; lag <= kLags; ++lag)
      variance += 2 * (1 - static_cast<double>(lag) / (kLags + 1)) * covariance(lag);
  const auto count = static_cast<double>(times.size());
  return std::sqrt(std::max(variance, alone / 4) / (count - 1) / count);
}

// Work that takes a rank longer than its peers.
struct Excess {
  std::uint32_t rank;
  std::uint32_t what;
  double ratio;  // of the reference to the rank's own time
  double meanNs;
  Times byStep;
};

class Finder {
 public:
  explicit Finder(const Work& work) : work_(work) {}

  std::vector<Straggler> find() {
    sum();
    compare();
    compareMessages();
    base_ = stepTimes({work_.graph.durNs, work_.graph.lagNs});
    stepNs_ = meanOf(base_);
    std::vector<Straggler> found;
    const std::vector<std::uint32_t> ranks = candidates();
    for (const std::uint32_t rank : ranks)
      if (auto one = judge(rank, ranks))
        found.push_back(std::move(*one));
    std::stable_sort(found.begin(), found.end(), [](const Straggler& a, const Straggler& b) {
      return a.ns > b.ns;
    });
    shareConfidence(found);
    return found;
  }

  PeerTimes peers() {
    sum();
    compare();
    compareMessages();
    Edits all;
    for (auto& [rank, excesses] : excesses_) {
      std::erase_if(excesses, [](const Excess& each) {
        return each.meanNs < kChanceErrors * standardErrorOf(each.byStep);
      });
      all.push_back({rank, std::nullopt});
    }
    return timesWith(all);
  }

 private:
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // what, rank

  void sum() {
    for (const WorkPart& part : work_.parts) {
      const std::uint32_t step = work_.stepOf[part.node];
      if (step == kNoStep)
        continue;
      Times& times = times_[{part.what, part.rank}];
      times.resize(work_.steps.size(), 0);
      times[step] += static_cast<double>(part.ns);
    }
  }

  void compare() {
    findRegular();
    for (auto first = times_.begin(); first != times_.end();) {
      const auto last = times_.upper_bound({first->first.first, kNoStep});
      if (std::next(first) != last)
        comparePeers(first, last);
      else if (isRegular_[first->first.second])
        addExcess(first->first, first->second, Times(first->second.size(), 0));
      first = last;
    }
  }

  // A rank is regular if it does mostly what others do, too. Another one, such as a parameter
  // server, has a role of its own, so its own work is no loss.
  void findRegular() {
    std::map<std::uint32_t, std::size_t> holders;  // by kind of work
    for (const auto& [key, times] : times_)
      ++holders[key.first];
    std::vector<double> shared(work_.ranks.size(), 0);
    std::vector<double> alone(work_.ranks.size(), 0);
    for (const auto& [key, times] : times_)
      (holders[key.first] > 1 ? shared : alone)[key.second] += meanOf(times);
    for (std::size_t rank = 0; rank < work_.ranks.size(); ++rank)
      isRegular_.push_back(shared[rank] > alone[rank]);
  }

  struct Sent {
    Times ns;     // by step
    Times count;  // by step
    double meanNs() const { return meanOf(ns) / meanOf(count); }
  };

  // A rank's messages are slow if they take longer than those of other ranks.
  void compareMessages() {
    std::map<std::uint32_t, std::map<std::uint32_t, Sent>> sent;  // by what and rank
    for (const WorkMessage& each : work_.messages) {
      const std::uint32_t step = work_.stepOf[each.to];
      if (step == kNoStep)
        continue;
      Sent& of = sent[each.what][each.rank];
      of.ns.resize(work_.steps.size(), 0);
      of.count.resize(work_.steps.size(), 0);
      of.ns[step] += static_cast<double>(work_.graph.lagNs[each.edge]);
      ++of.count[step];
    }
    for (const auto& [what, ranks] : sent) {
      std::vector<double> means;
      for (const auto& [rank, of] : ranks)
        means.push_back(of.meanNs());
      std::sort(means.begin(), means.end());
      const double typical = means[(means.size() - 1) / 2];
      for (const auto& [rank, of] : ranks) {
        Times reference = of.count;
        for (double& each : reference)
          each *= typical;
        if (isRegular_[rank])
          addExcess({what, rank}, of.ns, reference);
      }
    }
  }

  void addExcess(const Key& of, const Times& own, const Times& typical) {
    const double mean = meanOf(own);
    const double reference = meanOf(typical);
    if (mean <= reference)
      return;
    Excess excess{of.second, of.first, reference / mean, mean - reference, {}};
    for (std::size_t step = 0; step < own.size(); ++step)
      excess.byStep.push_back(own[step] - typical[step]);
    excesses_[of.second].push_back(std::move(excess));
  }

  template <typename Place>
  void comparePeers(Place first, Place last) {
    std::vector<std::pair<double, Place>> peers;
    for (Place each = first; each != last; ++each)
      peers.emplace_back(meanOf(each->second), each);
    std::sort(
        peers.begin(), peers.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const Times& typical = peers[(peers.size() - 1) / 2].second->second;
    for (const auto& [mean, own] : peers)
      addExcess(own->first, own->second, typical);
  }

  // Ranks that lose enough, those that lose most first.
  std::vector<std::uint32_t> candidates() {
    std::vector<std::pair<double, std::uint32_t>> ranks;
    for (auto& [rank, all] : excesses_) {
      std::sort(all.begin(), all.end(), [](const Excess& a, const Excess& b) {
        return a.meanNs > b.meanNs;
      });
      const Times total = totalOf(all);
      const double mean = meanOf(total);
      if (mean >= kLeastExcess * stepNs_ && mean >= kStandardErrors * standardErrorOf(total))
        ranks.emplace_back(-mean, rank);
    }
    std::sort(ranks.begin(), ranks.end());
    std::vector<std::uint32_t> found;
    for (std::size_t i = 0; i < std::min(kMostRanks, ranks.size()); ++i)
      found.push_back(ranks[i].second);
    return found;
  }

  static Times totalOf(const std::vector<Excess>& all) {
    Times total(all.front().byStep.size(), 0);
    for (const Excess& each : all)
      for (std::size_t step = 0; step < total.size(); ++step)
        total[step] += each.byStep[step];
    return total;
  }

  // Work that is to take a rank no longer than its peers; `what` none: all of its work.
  struct Edit {
    std::uint32_t rank;
    std::optional<std::uint32_t> what;
  };
  using Edits = std::vector<Edit>;

  PeerTimes timesWith(const Edits& edits) const {
    std::map<Key, double> ratios;
    for (const Edit& edit : edits)
      for (const Excess& each : excesses_.at(edit.rank))
        if (!edit.what || each.what == *edit.what)
          ratios[{each.what, edit.rank}] = each.ratio;
    PeerTimes times{work_.graph.durNs, work_.graph.lagNs};
    for (const WorkPart& part : work_.parts)
      if (const auto ratio = ratios.find({part.what, part.rank}); ratio != ratios.end())
        times.durNs[part.node] -= std::llround(static_cast<double>(part.ns) * (1 - ratio->second));
    for (const WorkMessage& each : work_.messages)
      if (const auto ratio = ratios.find({each.what, each.rank}); ratio != ratios.end())
        times.lagNs[each.edge] =
            static_cast<std::uint32_t>(std::llround(times.lagNs[each.edge] * ratio->second));
    return times;
  }

  // The time that each step gains by `edits`, if `before` had been made already.
  Times gainsOf(const Edits& edits, const Edits& before) const {
    Edits all = before;
    all.insert(all.end(), edits.begin(), edits.end());
    const Times from = before.empty() ? base_ : stepTimes(timesWith(before));
    Times gains = stepTimes(timesWith(all));
    for (std::size_t step = 0; step < gains.size(); ++step)
      gains[step] = from[step] - gains[step];
    return gains;
  }

  // If two ranks are equally slow, the job gains nothing without one of them. So a rank's loss is
  // the mean of two gains: without it alone, and without it where all others are as fast as their
  // peers.
  std::optional<Straggler> judge(std::uint32_t rank,
                                 const std::vector<std::uint32_t>& ranks) const {
    Edits others;
    for (const std::uint32_t other : ranks)
      if (other != rank)
        others.push_back({other, std::nullopt});
    Times gains = gainsOf({{rank, std::nullopt}}, {});
    const Times last = others.empty() ? gains : gainsOf({{rank, std::nullopt}}, others);
    for (std::size_t step = 0; step < gains.size(); ++step)
      gains[step] = (gains[step] + last[step]) / 2;
    const double mean = meanOf(gains);
    if (mean < kLeastShare * stepNs_ || mean < kStandardErrors * standardErrorOf(gains))
      return std::nullopt;
    Straggler found;
    found.rank = work_.ranks[rank];
    found.ns = std::llround(mean);
    found.share = mean / stepNs_;
    double most = -1;
    double ratio = 0;
    const std::vector<Excess>& all = excesses_.at(rank);
    for (std::size_t i = 0; i < std::min(kMostOperations, all.size()); ++i) {
      const double gain = meanOf(gainsOf({{rank, all[i].what}}, others));
      if (gain > most) {
        most = gain;
        ratio = all[i].ratio;
        found.operation = work_.what[all[i].what].name;
        found.cause = work_.what[all[i].what].cause;
      }
    }
    const bool isHost = found.cause == critical::PathCause::Host;
    const bool isNoisy = isHost || found.cause == critical::PathCause::Transfer;
    const bool isChance =
        (isNoisy && found.share < kLeastNoisyShare) || (isHost && ratio > kMostHostRatio);
    return isChance ? std::nullopt : std::optional(std::move(found));
  }

  // Two ranks by which the job loses as much share the blame.
  static void shareConfidence(std::vector<Straggler>& found) {
    double sum = 0;
    for (const Straggler& each : found)
      sum += static_cast<double>(each.ns);
    for (Straggler& each : found)
      each.confidence = static_cast<double>(each.ns) / sum;
  }

  Times stepTimes(const PeerTimes& with) const {
    const std::vector<std::int64_t>& durNs = with.durNs;
    const std::vector<std::int64_t> begin =
        replay::replay(work_.graph, {durNs, work_.gapNs, &with.lagNs});
    Times times;
    for (const WorkStep& step : work_.steps) {
      double sum = 0;
      for (std::size_t i = 0; i < step.lasts.size(); ++i) {
        const NodeIndex last = step.lasts[i];
        const NodeIndex first = step.firsts[std::min(i, step.firsts.size() - 1)];
        sum += static_cast<double>(begin[last] + durNs[last] - begin[first]);
      }
      times.push_back(sum / static_cast<double>(step.lasts.size()));
    }
    return times;
  }

  const Work& work_;
  std::map<Key, Times> times_;
  std::vector<bool> isRegular_;                            // by rank
  std::map<std::uint32_t, std::vector<Excess>> excesses_;  // by rank
  Times base_;
  double stepNs_ = 0;
};

}  // namespace

std::string whyNoneCanBeNamed(const Work& work) {
  std::set<std::int64_t> ranks;
  for (const graph::Lane& lane : work.graph.lanes)
    if (lane.rank >= 0)
      ranks.insert(lane.rank);
  if (ranks.size() < 2 || work.steps.size() >= kLeastSteps)
    return "";
  return fmt::format("stragglers need {} iterations of one structure; the trace has {}",
                     kLeastSteps,
                     work.steps.size());
}

std::vector<Straggler> findStragglers(const Work& work) {
  return work.steps.size() < kLeastSteps ? std::vector<Straggler>() : Finder(work).find();
}

PeerTimes timesOfPeers(const Work& work) {
  return Finder(work).peers();
}

}  // namespace sonde::engine::stragglers
