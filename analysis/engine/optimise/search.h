// Finds the fastest combination of choices, by branch and bound. Plain functions; they call the
// space on the caller's thread.
//
// First each choice is tried alone. Then choices are combined greedily, so that a good combination
// is known early. Then a depth-first search over all combinations leaves out those that cannot be
// faster than the best one so far, as their bound says.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace sonde::engine::optimise {

// By family: which of its choices is taken, from 1; 0: none, all stays as it is.
using Picks = std::vector<std::uint32_t>;

struct Space {
  std::vector<std::uint32_t> choices;  // by family, without "none"
  // nullopt: the picks are not possible together. Times are in ns, and above 0.
  std::function<Result<std::optional<double>>(const Picks& picks)> timeNs;
  // A time that no picks undercut that differ from these only in families that are open. nullopt:
  // none is known. May be empty: none ever is.
  std::function<Result<std::optional<double>>(const Picks& picks, const std::vector<bool>& isOpen)>
      boundNs;
  // Asked before each call of the other two. May be empty: never.
  std::function<bool()> isToStop;
};

// Two times that differ by less than this, relative to the longer one, count as equal. The search
// need not find the fastest of them.
inline constexpr double kSameTime = 0.001;

struct SearchResult {
  Picks picks;    // the fastest ones that were found; of equal ones those with the fewest choices
  double ns = 0;  // infinite: no picks are possible
  double asIsNs = 0;  // without any choice; infinite: that is not possible
  // By family and choice, without "none": that choice alone. nullopt: it is not possible, or the
  // search was stopped before.
  std::vector<std::vector<std::optional<double>>> aloneNs;
  bool isComplete = false;  // nothing is faster; false: it was stopped
  std::int64_t times = 0;   // calls of timeNs and boundNs
  std::int64_t bounds = 0;
};

// Errors are those of the space.
Result<SearchResult> search(const Space& space);

}  // namespace sonde::engine::optimise
