// Nests the slices of a thread that are known whole: parent, depth, lane and scope of each.
//
// For what was recorded elsewhere, where slices come in any order and may overlap without nesting;
// ThreadTrack does the same for what begins and ends under its eyes. A plain object of one thread;
// a span costs the logarithm of how many are open.
#pragma once

#include "analysis/model/event.h"

#include <queue>

#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <utility>
#include <vector>

namespace sonde::ingest {

class SlicePlacer {
 public:
  static constexpr std::int64_t kOpen = std::numeric_limits<std::int64_t>::max();

  struct Span {
    std::int64_t id = 0;
    std::int64_t startNs = 0;
    std::int64_t endNs = 0;  // kOpen: it did not end
    bool isScope = false;
    bool isRange = false;  // begins and ends wherever it likes: holds nothing, nests in nothing
  };
  struct Place {
    std::int64_t parent = 0;  // 0: none
    std::int64_t depth = 0;
    std::int64_t lane = 0;
    std::int64_t scope = 0;
  };

  struct Line {
    std::int64_t lane = 0;
    std::int64_t depth = 0;
  };

  // Begins another thread.
  void reset();

  // Requires: spans come by start, and of two that start together the longer first. The parent is
  // the innermost span that holds this one, and its lane is the parent's, unless it overlaps a span
  // there without lying in it: then it is a free one further out. A range has a lane of its own,
  // never lane 0, and the scope that it begins in.
  Place place(const Span& span);

  // The innermost span that holds this instant: begins no later and does not end before. 0: none.
  // Requires: nothing was placed that begins later.
  std::int64_t innermostAt(std::int64_t ns) const noexcept;
  // The scope that is open at this instant. Requires: as innermostAt().
  std::int64_t scopeAt(std::int64_t ns) const noexcept;
  // The span of this line that was placed last, if none has taken its place. 0: none.
  std::int64_t openAt(const Line& line) const noexcept;

 private:
  struct Entry {
    Span span;
    std::int64_t depth = 0;
    std::int64_t lane = 0;
    std::int64_t scope = 0;  // itself, or the scope it is in
  };
  using Lane = std::vector<Entry>;  // the spans that hold each other, outermost first
  using Busy = std::pair<std::int64_t, std::int64_t>;  // until when, lane

  const Entry* holderOf(std::int64_t endNs) const noexcept;
  bool isInnermostOfLane(const Entry& holder, std::int64_t startNs);
  std::int64_t takeLane(std::int64_t from, const Span& span);
  void put(const Entry& entry);

  std::vector<Lane> lanes_;
  std::set<std::int64_t> free_;  // lanes on which nothing is open
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy_;
  // What could hold a span that comes: each ends later than those after it.
  std::vector<Entry> holders_;
};

}  // namespace sonde::ingest
