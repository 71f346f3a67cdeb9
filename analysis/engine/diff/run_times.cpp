#include "analysis/engine/diff/run_times.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace sonde::engine::diff {
namespace {

using Names = std::vector<IterationName>;

// Those that all ranks have, in the order of the first one; where there is none, as when ranks
// number them differently, those that any has, one rank after the other.
Names commonIterations(const std::vector<IterationTimes>& ranks) {
  std::map<IterationName, std::size_t> counts;
  Names any;
  for (const IterationTimes& rank : ranks)
    for (const IterationName& each : rank.iterations)
      if (counts[each]++ == 0)
        any.push_back(each);
  Names common;
  std::copy_if(any.begin(), any.end(), std::back_inserter(common), [&](const IterationName& each) {
    return counts.at(each) == ranks.size();
  });
  return common.empty() ? any : common;
}

// Where a rank has each of `names`; nothing: it does not have it.
using PlacesInRank = std::vector<std::optional<std::size_t>>;
PlacesInRank placesIn(const IterationTimes& rank, const Names& names) {
  std::map<IterationName, std::size_t> places;
  for (std::size_t at = 0; at < rank.iterations.size(); ++at)
    places.emplace(rank.iterations[at], at);
  PlacesInRank found;
  found.reserve(names.size());
  for (const IterationName& name : names) {
    const auto place = places.find(name);
    found.push_back(place == places.end() ? std::nullopt : std::optional(place->second));
  }
  return found;
}

// Where times of IterationTimes go to.
using Part = std::pair<Times IterationTimes::*, Times RunTimes::*>;
constexpr Part kParts[] = {{&IterationTimes::times, &RunTimes::times},
                           {&IterationTimes::raw, &RunTimes::raw},
                           {&IterationTimes::errors, &RunTimes::errors}};

// Adds the part that one rank has at each of `places`; `as` is the rank that it is shown as.
void addRank(const IterationTimes& rank,
             const Part& part,
             std::optional<std::int64_t> as,
             const PlacesInRank& places,
             RunTimes& run) {
  Times& into = run.*part.second;
  for (const auto& [subject, times] : rank.*part.first) {
    Subject own = subject;
    own.rank = as;
    std::vector<double>& sums = into[own];
    sums.resize(places.size(), 0);
    for (std::size_t i = 0; i < places.size(); ++i)
      if (places[i])
        sums[i] += times[*places[i]];
  }
}

}  // namespace

std::size_t warmUpOf(std::size_t iterations) noexcept {
  if (iterations < 2)
    return 0;
  return std::clamp<std::size_t>((iterations + 9) / 10, 1, 20);
}

RunTimes runOf(const std::vector<IterationTimes>& ranks,
               bool byRank,
               std::optional<std::size_t> warmUp) {
  const Names all = commonIterations(ranks);
  RunTimes run;
  run.ranks = ranks.size();
  run.warmUp = std::min(warmUp.value_or(warmUpOf(all.size())), all.size());
  const Names names(all.begin() + static_cast<std::ptrdiff_t>(run.warmUp), all.end());
  run.iterations = names.size();
  std::vector<double> counts(names.size(), 0);  // of the ranks that have each of them
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i);
    const auto shown = byRank ? std::optional(ranks[i].rank.value_or(place)) : std::nullopt;
    const PlacesInRank places = placesIn(ranks[i], names);
    for (const Part& part : kParts)
      addRank(ranks[i], part, shown, places, run);
    for (std::size_t at = 0; at < places.size(); ++at)
      counts[at] += places[at] ? 1 : 0;
    run.partial += ranks[i].partial;
  }
  run.costs = ranks.front().costs;
  if (byRank)
    return run;
  for (const Part& part : kParts)
    for (auto& [subject, times] : run.*part.second)
      for (std::size_t i = 0; i < times.size(); ++i)
        times[i] /= counts[i];
  return run;
}

}  // namespace sonde::engine::diff
