#include "analysis/engine/diff/run_times.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace sonde::engine::diff {
namespace {

using Names = std::vector<IterationName>;

// The iterations that all ranks have, in the first rank's order. If there are none, because ranks
// number them differently: those that any rank has, rank by rank.
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

// The place of each of `names` in a rank; unset: the rank does not have it.
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

// Maps fields of IterationTimes to those of RunTimes.
using Part = std::pair<Times IterationTimes::*, Times RunTimes::*>;
constexpr Part kParts[] = {{&IterationTimes::times, &RunTimes::times},
                           {&IterationTimes::raw, &RunTimes::raw},
                           {&IterationTimes::errors, &RunTimes::errors}};

// Adds a process's times at each of `places`. `as`: the rank to show it as.
void addTimes(const Times& from,
              std::optional<std::int64_t> as,
              const PlacesInRank& places,
              Times& into) {
  for (const auto& [subject, times] : from) {
    Subject own = subject;
    own.rank = as;
    std::vector<double>& sums = into[own];
    sums.resize(places.size(), 0);
    for (std::size_t i = 0; i < places.size(); ++i)
      if (places[i])
        sums[i] += times[*places[i]];
  }
}

// The iterations that count. Sets the numbers of those that do, and of those that do not.
Names choose(const Names& all, const IterationChoice& choice, RunTimes& run) {
  const std::size_t first =
      choice.warmUp.value_or(choice.wanted == nullptr ? warmUpOf(all.size()) : 0);
  Names chosen;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (choice.wanted != nullptr && !choice.wanted(all[i]))
      ++run.unwanted;
    else if (i < first)
      ++run.warmUp;
    else
      chosen.push_back(all[i]);
  }
  run.iterations = chosen.size();
  return chosen;
}

void count(const PlacesInRank& places, std::vector<double>& counts) {
  counts.resize(places.size(), 0);
  for (std::size_t i = 0; i < places.size(); ++i)
    counts[i] += places[i] ? 1 : 0;
}

}  // namespace

std::size_t warmUpOf(std::size_t iterations) noexcept {
  if (iterations < 2)
    return 0;
  return std::clamp<std::size_t>((iterations + 9) / 10, 1, 20);
}

RunTimes runOf(const std::vector<IterationTimes>& ranks,
               bool byRank,
               const IterationChoice& choice) {
  RunTimes run;
  run.ranks = ranks.size();
  const Names names = choose(commonIterations(ranks), choice, run);
  // For each iteration the number of processes that have it, by the rank they are shown as.
  std::map<std::optional<std::int64_t>, std::vector<double>> counts;
  for (const IterationTimes& rank : ranks) {
    const auto as = byRank ? rank.rank : std::nullopt;
    const PlacesInRank places = placesIn(rank, names);
    count(places, counts[as]);
    for (const auto& [from, into] : kParts)
      addTimes(rank.*from, as, places, run.*into);
    run.partial += rank.partial;
  }
  run.costs = ranks.front().costs;
  for (const Part& part : kParts)
    for (auto& [subject, times] : run.*part.second)
      for (std::size_t i = 0; i < times.size(); ++i)
        times[i] /= std::max(1.0, counts.at(subject.rank)[i]);
  return run;
}

}  // namespace sonde::engine::diff
