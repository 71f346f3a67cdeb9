#include "analysis/engine/align/difference_constraints.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace sonde::engine::align {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kTolerance = 1e-3;  // ns; below it doubles may disagree
constexpr double kGrowth = 1.05;     // bounds the number of rounds
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Bellman and Ford's algorithm.
class ShortestPaths {
 public:
  // `isReversed`: paths go from `one` to `other`.
  ShortestPaths(std::size_t variables,
                const std::vector<Constraint>& constraints,
                bool isReversed,
                double raisedBy)
      : constraints_(constraints),
        isReversed_(isReversed),
        raisedBy_(raisedBy),
        lengths_(variables, kInfinity),
        reachedBy_(variables, kNone) {
    lengths_[0] = 0;
  }

  // Returns a cycle of negative length, if there is one.
  std::optional<std::vector<Constraint>> run() {
    constexpr std::size_t kLookEvery = 4;  // looking for cycles takes time, too
    for (std::size_t round = 1;; ++round) {
      if (!shorten())
        return std::nullopt;
      if (round % kLookEvery == 0 || round >= lengths_.size())
        if (auto cycle = findCycle())
          return cycle;
    }
  }
  const std::vector<double>& lengths() const noexcept { return lengths_; }

 private:
  std::uint32_t fromOf(const Constraint& each) const { return isReversed_ ? each.one : each.other; }
  std::uint32_t toOf(const Constraint& each) const { return isReversed_ ? each.other : each.one; }

  bool shorten() {
    bool isShorter = false;
    for (std::size_t at = 0; at < constraints_.size(); ++at) {
      const Constraint& each = constraints_[at];
      const double length = lengths_[fromOf(each)] + each.limit + raisedBy_;
      if (length < lengths_[toOf(each)] - kTolerance) {
        lengths_[toOf(each)] = length;
        reachedBy_[toOf(each)] = at;
        isShorter = true;
      }
    }
    return isShorter;
  }

  // A cycle of the ways by which the variables were reached has negative length.
  std::optional<std::vector<Constraint>> findCycle() const {
    std::vector<std::size_t> seenFrom(lengths_.size(), kNone);
    for (std::size_t start = 0; start < lengths_.size(); ++start) {
      std::size_t at = start;
      while (seenFrom[at] == kNone && reachedBy_[at] != kNone) {
        seenFrom[at] = start;
        at = fromOf(constraints_[reachedBy_[at]]);
      }
      if (seenFrom[at] == start && reachedBy_[at] != kNone)
        return cycleThrough(at);
    }
    return std::nullopt;
  }
  std::vector<Constraint> cycleThrough(std::size_t variable) const {
    std::vector<Constraint> cycle;
    std::size_t at = variable;
    do {
      cycle.push_back(constraints_[reachedBy_[at]]);
      at = fromOf(cycle.back());
    } while (at != variable);
    return cycle;
  }

  const std::vector<Constraint>& constraints_;
  bool isReversed_;
  double raisedBy_;
  std::vector<double> lengths_;
  std::vector<std::size_t> reachedBy_;  // the constraint by which the path came
};

double meanOf(const std::vector<Constraint>& cycle) {
  double sum = 0;
  for (const Constraint& each : cycle)
    sum += each.limit;
  return sum / static_cast<double>(cycle.size());
}

}  // namespace

bool Range::isBounded() const noexcept {
  return std::isfinite(lowest) && std::isfinite(highest);
}

// Raises the limits by the mean of one negative cycle after the other, until none is left.
Ranges solve(std::size_t variables, const std::vector<Constraint>& constraints) {
  Ranges found;
  for (;;) {
    ShortestPaths highest(variables, constraints, false, found.raisedBy);
    ShortestPaths lowest(variables, constraints, true, found.raisedBy);
    auto cycle = highest.run();
    if (!cycle)
      cycle = lowest.run();
    if (!cycle) {
      for (std::size_t at = 0; at < variables; ++at)
        found.ranges.push_back({-lowest.lengths()[at], highest.lengths()[at]});
      return found;
    }
    found.raisedBy = std::max(found.raisedBy * kGrowth, -meanOf(*cycle)) + 2 * kTolerance;
    found.contradiction = *std::move(cycle);
  }
}

}  // namespace sonde::engine::align
