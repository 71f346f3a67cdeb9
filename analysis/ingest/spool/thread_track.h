// Where the slices of one thread go: the stack of its open scopes, the lanes for what overlaps
// without nesting, and the last finished slices, which a call that is reported only at its end may
// turn out to enclose.
//
// Plain bookkeeping without any database, owned by the builder of the process image; not
// thread-safe.
//
// Rules: a scope that ends below others leaves those others a lane further out, children of its own
// parent. A call goes under the innermost scope that was open when it began; if others were opened
// since and are still open, it goes to a lane of its own. A range, which need not nest, always
// does.
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
  model::Slice slice;   // durNs is empty while it is open
  bool stored = false;  // the trace's table of open scopes has it …
  bool changed = true;  // … but not as it is now
};

class ThreadTrack {
 public:
  struct Place {
    model::SliceId parent;
    std::int64_t depth = 0;
    std::int64_t lane = 0;
    model::SliceId scope;
  };
  // A slice that is in the trace already and gets another parent or depth.
  struct Moved {
    model::SliceId id;
    model::SliceId parent;
    std::int64_t depth = 0;
  };

  // For what begins now: under the innermost open scope.
  Place innermost() const noexcept;
  // For a call that has just ended. Takes a lane when it needs one.
  Place placeCall(std::int64_t startNs, std::int64_t endNs);
  // For a range that begins now; its lane is taken until freeLane().
  Place placeRange(std::int64_t startNs);
  void freeLane(std::int64_t lane, std::int64_t endNs);

  void push(const TrackScope& scope);
  // Takes the scope out of the stack; nothing when it is not open. `durNs` is set.
  std::optional<TrackScope> close(std::uint32_t token, std::int64_t endNs);

  // Remembers a finished slice.
  void finished(const model::Slice& slice);
  // The remembered slices that lie inside this finished call; they are remembered with their new
  // places.
  const std::vector<Moved>& adopt(const model::Slice& call);

  std::vector<TrackScope>& open() noexcept { return open_; }
  const std::vector<TrackScope>& open() const noexcept { return open_; }
  TrackScope* find(std::uint32_t token) noexcept;

  // For each lane but the first until when it is taken; kOpen: by a range that is open.
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
  // What one call may enclose; of older slices in it only the parent stays the outer one.
  static constexpr std::size_t kRemembered = 1024;

  // The first lane from `from` on that nothing takes at `startNs`; from 1 on.
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
