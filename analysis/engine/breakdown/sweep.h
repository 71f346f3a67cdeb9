// How long each set of labels was active, over any number of tracks. Pure functions; any thread.
//
// One pass over the begins and ends of all tracks in the order of time. A label that is active on
// several tracks counts once. O(n log k) for n spans on k tracks, whatever the sets' sizes.
//
// Source: the sweep that RL-Scope describes (Gleeson et al., MLSys 2021, section 3.4). A tree of
// losers (Knuth, volume 3, section 5.4.1) replaces its scan over all tracks. Counts per label keep
// overlapping events from counting twice.
#pragma once

#include "analysis/engine/breakdown/active_sets.h"
#include "analysis/engine/breakdown/track.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sonde::engine::breakdown {

// SweepResult::forEachSet() reports its labels.
struct ActiveSet {
  std::int64_t ns = 0;       // how long exactly these were active
  std::int64_t firstNs = 0;  // the first and the last instant of that time
  std::int64_t lastNs = 0;
};

// One set was active, and directly after it another.
struct Transition {
  std::size_t from = 0;  // in SweepResult::sets
  std::size_t to = 0;
  std::int64_t count = 0;
};

struct SweepResult {
  // The sets that were active for some time, ordered by first instant. `sets[0]` is the empty set:
  // the time between the first begin and the last end in which nothing was active.
  std::vector<ActiveSet> sets;
  std::vector<Transition> transitions;

  // Calls toggle(label, isActive) for one label at a time, and visit(at) when exactly the labels of
  // `sets[at]` are active. Visits each set once, in any order. O(1) per set.
  template <typename Toggle, typename Visit>
  void forEachSet(Toggle toggle, Visit visit) const;

  static constexpr std::size_t kNotThere = ~std::size_t{0};
  std::vector<ActiveSets::Made> made;  // all sets that occurred, even for no time
  std::vector<std::size_t> places;     // of these in `sets`, or kNotThere
};

SweepResult sweep(const std::vector<Track>& tracks);

// Walks through the tree in which each set is the child of the set it was made from.
template <typename Toggle, typename Visit>
void SweepResult::forEachSet(Toggle toggle, Visit visit) const {
  using Set = ActiveSets::Set;
  constexpr Set kNone = ActiveSets::kEmpty;  // child of no set
  std::vector<Set> first(made.size(), kNone);
  std::vector<Set> next(made.size(), kNone);
  Label labels = 0;
  for (std::size_t set = made.size() - 1; set > 0; --set) {
    next[set] = std::exchange(first[made[set].from], static_cast<Set>(set));
    labels = std::max(labels, made[set].label + 1);
  }
  std::vector<bool> isActive(labels, false);
  const auto change = [&](Set set) {
    const Label label = made[set].label;
    isActive[label] = !isActive[label];
    toggle(label, isActive[label]);
  };
  const auto enter = [&](Set set) {
    change(set);
    if (places[set] != kNotThere)
      visit(places[set]);
  };
  visit(places[ActiveSets::kEmpty]);
  for (Set set = first[ActiveSets::kEmpty]; set != kNone;) {
    enter(set);
    if (first[set] != kNone) {
      set = first[set];
      continue;
    }
    for (change(set); next[set] == kNone && made[set].from != kNone; change(set))
      set = made[set].from;
    set = next[set];
  }
}

}  // namespace sonde::engine::breakdown
