#include "analysis/engine/optimise/search.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>

namespace sonde::engine::optimise {
namespace {

// A bound costs as much as a time, so it is not asked for so few combinations.
constexpr double kTooFew = 8;

class Search {
 public:
  explicit Search(const Space& space) : space_(space), isOpen_(space.choices.size(), false) {}

  Result<SearchResult> run() {
    found_.picks.assign(space_.choices.size(), 0);
    SONDE_TRY_ASSIGN(const auto asIs, timeNs(found_.picks));
    found_.asIsNs = found_.ns = asIs.value_or(std::numeric_limits<double>::infinity());
    SONDE_TRY(tryAlone());
    SONDE_TRY(combineGreedily());
    Picks picks(space_.choices.size(), 0);
    isOpen_.assign(space_.choices.size(), true);
    SONDE_TRY(descend(picks, 0));
    found_.isComplete = !isStopped_;
    return std::move(found_);
  }

 private:
  // nullopt, too: the search has to stop.
  Result<std::optional<double>> timeNs(const Picks& picks) {
    if (const auto known = known_.find(picks); known != known_.end())
      return known->second;
    if (isToStop())
      return std::optional<double>();
    ++found_.times;
    SONDE_TRY_ASSIGN(const std::optional<double> ns, space_.timeNs(picks));
    known_.emplace(picks, ns);
    return ns;
  }

  bool isToStop() {
    isStopped_ = isStopped_ || (!known_.empty() && space_.isToStop && space_.isToStop());
    return isStopped_;
  }

  static std::size_t countOf(const Picks& picks) {
    return picks.size() - static_cast<std::size_t>(std::count(picks.begin(), picks.end(), 0U));
  }

  void offer(const Picks& picks, double ns) {
    const bool isSame = ns < found_.ns * (1 + kSameTime) && ns > found_.ns * (1 - kSameTime);
    const bool isBetter = isSame ? countOf(picks) < countOf(found_.picks) : ns < found_.ns;
    if (!isBetter)
      return;
    found_.picks = picks;
    found_.ns = ns;
  }

  Result<void> tryAlone() {
    found_.aloneNs.resize(space_.choices.size());
    for (std::size_t family = 0; family < space_.choices.size(); ++family)
      for (std::uint32_t choice = 1; choice <= space_.choices[family]; ++choice) {
        Picks picks(space_.choices.size(), 0);
        picks[family] = choice;
        SONDE_TRY_ASSIGN(const auto ns, timeNs(picks));
        found_.aloneNs[family].push_back(ns);
        if (ns)
          offer(picks, *ns);
      }
    order_.resize(space_.choices.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [this](std::size_t a, std::size_t b) {
      return fastest(a) < fastest(b);
    });
    return {};
  }

  double fastest(std::size_t family) const {
    double least = found_.asIsNs;
    for (const auto& ns : found_.aloneNs[family])
      least = std::min(least, ns.value_or(least));
    return least;
  }

  Result<void> combineGreedily() {
    Picks picks = found_.picks;
    for (const std::size_t family : order_) {
      if (picks[family] != 0)
        continue;
      for (std::uint32_t choice = 1; choice <= space_.choices[family]; ++choice) {
        picks[family] = choice;
        SONDE_TRY_ASSIGN(const auto ns, timeNs(picks));
        if (ns)
          offer(picks, *ns);
      }
      picks = found_.picks;
    }
    return {};
  }

  // Choices of a family, the fastest alone first; "none" comes last.
  std::vector<std::uint32_t> choicesOf(std::size_t family) const {
    std::vector<std::uint32_t> choices(space_.choices[family] + 1);
    std::iota(choices.begin(), choices.end(), 0U);
    const auto ns = [&](std::uint32_t choice) {
      return choice == 0 ? found_.asIsNs
                         : found_.aloneNs[family][choice - 1].value_or(
                               std::numeric_limits<double>::infinity());
    };
    std::stable_sort(choices.begin(), choices.end(), [&](std::uint32_t a, std::uint32_t b) {
      return ns(a) < ns(b);
    });
    return choices;
  }

  double openCombinations() const {
    double combinations = 1;
    for (std::size_t family = 0; family < isOpen_.size(); ++family)
      if (isOpen_[family])
        combinations *= 1.0 + space_.choices[family];
    return combinations;
  }

  // Nothing that differs from the picks in open families is faster than the best so far.
  Result<bool> isHopeless(const Picks& picks) {
    if (!space_.boundNs || openCombinations() <= kTooFew || isToStop())
      return isStopped_;
    ++found_.times;
    ++found_.bounds;
    SONDE_TRY_ASSIGN(const std::optional<double> bound, space_.boundNs(picks, isOpen_));
    return bound && *bound > found_.ns * (1 - kSameTime);
  }

  Result<void> descend(Picks& picks, std::size_t depth) {
    if (depth == order_.size()) {
      SONDE_TRY_ASSIGN(const auto ns, timeNs(picks));
      if (ns)
        offer(picks, *ns);
      return {};
    }
    SONDE_TRY_ASSIGN(const bool hopeless, isHopeless(picks));
    if (hopeless)
      return {};
    const std::size_t family = order_[depth];
    isOpen_[family] = false;
    for (const std::uint32_t choice : choicesOf(family)) {
      picks[family] = choice;
      SONDE_TRY(descend(picks, depth + 1));
    }
    picks[family] = 0;
    isOpen_[family] = true;
    return {};
  }

  const Space& space_;
  SearchResult found_;
  std::map<Picks, std::optional<double>> known_;
  std::vector<std::size_t> order_;  // families, the most promising first
  std::vector<bool> isOpen_;        // by family
  bool isStopped_ = false;
};

}  // namespace

Result<SearchResult> search(const Space& space) {
  return Search(space).run();
}

}  // namespace sonde::engine::optimise
