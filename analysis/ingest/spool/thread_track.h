// Places the slices of one thread. Keeps the stack of its open scopes, the lanes for slices that
// overlap without nesting, and the last finished slices, which a call reported at its end may
// enclose.
//
// Plain bookkeeping without a database, owned by the builder of the process image; not thread-safe.
//
// Rules: if a scope ends while inner ones are open, these move one lane further out, as children of
// its parent. A call goes under the innermost scope that was open when it began. If scopes opened
// since then are still open, the call gets its own lane. A range need not nest, so it always gets
// its own.
#pragma once

#include "analysis/model/event.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace sonde::ingest {

struct TrackScope {
  std::uint32_t token = 0;
  model::Slice slice;   // durNs is unset while it is open
  bool stored = false;  // it is in the trace's table of open scopes …
  bool changed = true;  // … but in an older version
};

class ThreadTrack {
 public:
  struct Place {
    model::SliceId parent;
    std::int64_t depth = 0;
    std::int64_t lane = 0;
    model::SliceId scope;
  };
  // A stored slice that gets another parent or depth.
  struct Moved {
    model::SliceId id;
    model::SliceId parent;
    std::int64_t depth = 0;
  };

  // For a slice that begins now: under the innermost open scope.
  Place innermost() const noexcept;
  // For a call that has just ended. Occupies a lane if it needs one.
  Place placeCall(std::int64_t startNs, std::int64_t endNs);
  // For a range that begins now; it occupies its lane until freeLane().
  Place placeRange(std::int64_t startNs);
  void freeLane(std::int64_t lane, std::int64_t endNs);

  void push(const TrackScope& scope);
  // Removes the scope from the stack and sets `durNs`; unset if the scope is not open.
  std::optional<TrackScope> close(std::uint32_t token, std::int64_t endNs);

  // Remembers a finished slice.
  void finished(const model::Slice& slice);
  // The remembered slices inside this finished call, whose new places are remembered.
  const std::vector<Moved>& adopt(const model::Slice& call);

  std::vector<TrackScope>& open() noexcept { return open_; }
  const std::vector<TrackScope>& open() const noexcept { return open_; }
  TrackScope* find(std::uint32_t token) noexcept;

  // For each lane but the first: the end of its occupation; kOpen: by an open range.
  static constexpr std::int64_t kOpen = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t>& lanes() noexcept { return lanes_; }

 private:
  struct Finished {
    model::SliceId id;
    model::SliceId parent;
    std::int64_t startNs = 0;
    std::int64_t endNs = 0;
    std::int64_t depth = 0;
    std::int64_t lane = 0;
  };
  // The number of slices that one call may enclose; older ones inside keep their outer parent.
  static constexpr std::size_t kRemembered = 1024;

  // The first lane from `from` on that is free at `startNs`; `from` is at least 1.
  std::int64_t freeLaneFrom(std::int64_t from, std::int64_t startNs);
  std::int64_t& lane(std::int64_t number);
  void moveOut(std::size_t from, const TrackScope& ended);
  model::SliceId scopeBelow(std::size_t count) const noexcept;
  Finished& recent(std::size_t newest) noexcept;

  std::vector<TrackScope> open_;
  std::vector<std::int64_t> lanes_;
  std::vector<Finished> finished_;  // a ring once it is full
  std::size_t nextFinished_ = 0;
  std::vector<Moved> moved_;
};

void putAt(model::Slice& slice, const ThreadTrack::Place& place);

}  // namespace sonde::ingest
