// How long each set of labels was active at once, over any number of tracks. Pure functions; any
// thread.
//
// One pass over the begins and ends of all tracks in the order of time. A label that several tracks
// have at an instant is active once. O(n log k) for n spans on k tracks, and for each set that
// occurs, and in memory, as much as it has labels.
//
// Source: the sweep that RL-Scope describes (Gleeson et al., MLSys 2021, section 3.4), with a
// tree of losers (Knuth, volume 3, section 5.4.1) in place of its scan over all tracks, and counts,
// so that what overlaps itself is not counted twice.
#pragma once

#include "analysis/engine/breakdown/track.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::engine::breakdown {

struct ActiveSet {
  std::vector<Label> labels;  // ascending, each once
  std::int64_t ns = 0;        // that exactly these were active
  std::int64_t firstNs = 0;   // the first and the last instant of that
  std::int64_t lastNs = 0;
};

// That one set was active and then, at once, another.
struct Transition {
  std::size_t from = 0;  // in SweepResult::sets
  std::size_t to = 0;
  std::int64_t count = 0;
};

struct SweepResult {
  // Those that were active for some time, in the order of their first instants. `sets[0]` is the
  // empty one, of the time between the first begin and the last end in which nothing was.
  std::vector<ActiveSet> sets;
  std::vector<Transition> transitions;
};

SweepResult sweep(const std::vector<Track>& tracks);

}  // namespace sonde::engine::breakdown
