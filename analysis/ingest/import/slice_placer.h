// Nests complete slices of a thread: finds parent, depth, lane and scope of each.
//
// For imported slices, which come in any order and may overlap without nesting. ThreadTrack does
// the same for live begins and ends. A plain object of one thread; a span takes logarithmic time in
// the number of open spans.
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
    bool isRange = false;  // may begin and end anywhere: contains nothing, and nothing contains it
    bool isFlat = false;   // contains nothing
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

  // Starts another thread.
  void reset();

  // Requires: spans by start; of two that start together the longer first. The parent is the
  // innermost span that contains this one. The lane is the parent's, or a free one further out if
  // this span overlaps another on that lane without nesting. A range has a lane of its own, never
  // lane 0, and the scope in which it begins.
  Place place(const Span& span);

  // The innermost span open at this instant: begins no later and ends no earlier. 0: none.
  // Requires: no placed span begins later.
  std::int64_t innermostAt(std::int64_t ns) const noexcept;
  // The scope that is open at this instant. Requires: as innermostAt().
  std::int64_t scopeAt(std::int64_t ns) const noexcept;
  // The last span placed on this line, if no other replaced it. 0: none.
  std::int64_t openAt(const Line& line) const noexcept;

 private:
  struct Entry {
    Span span;
    std::int64_t depth = 0;
    std::int64_t lane = 0;
    std::int64_t scope = 0;  // itself, or the scope around it
  };
  using Lane = std::vector<Entry>;                     // nested spans, outermost first
  using Busy = std::pair<std::int64_t, std::int64_t>;  // end time, lane

  const Entry* holderOf(std::int64_t endNs) const noexcept;
  bool isInnermostOfLane(const Entry& holder, std::int64_t startNs);
  std::int64_t takeLane(std::int64_t from, const Span& span);
  void put(const Entry& entry);

  std::vector<Lane> lanes_;
  std::set<std::int64_t> free_;  // lanes on which nothing is open
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy_;
  // Spans that may contain the next one: each ends later than those after it.
  std::vector<Entry> holders_;
};

}  // namespace sonde::ingest
