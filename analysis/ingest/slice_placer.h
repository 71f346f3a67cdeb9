// Nests the slices of a thread that are known whole: parent, depth, lane and scope of each.
//
// For what was recorded elsewhere, where slices come in any order and may overlap without nesting;
// ThreadTrack does the same for what begins and ends under its eyes. A plain object of one thread.
#pragma once

#include "analysis/model/event.h"

#include <cstdint>
#include <limits>
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
  void reset() noexcept { lanes_.clear(); }

  // Requires: spans come by start, and of two that start together the longer first. A span that
  // overlaps the innermost one of lane 0 without lying in it goes to the first lane where it does
  // not; its parent is the innermost span that holds it there, or else on a lane further in.
  Place place(const Span& span);

  // The innermost span that holds this instant: begins no later and does not end before. 0: none.
  // Requires: nothing was placed that begins later.
  std::int64_t innermostAt(std::int64_t ns) const noexcept;
  // The span of this line that was placed last, if none has taken its place. 0: none.
  std::int64_t openAt(const Line& line) const noexcept;

 private:
  struct Entry {
    Span span;
    std::int64_t depth = 0;
    std::int64_t scope = 0;  // itself, or the scope it is in
  };
  using Lane = std::vector<Entry>;  // the spans that hold each other, outermost first

  const Entry* holderOf(const Span& span, std::size_t lane) const noexcept;

  std::vector<Lane> lanes_;
};

}  // namespace sonde::ingest
