// From ticks to CLOCK_MONOTONIC: a line through every pair of neighbouring clock readings of one
// boot of a host.
//
// The recorder takes a reading after it has looked what there is to store, so that every record
// lies between two knots and none is extrapolated; a mapping that has been used is never changed,
// so times never run backwards. Readings of the traced processes fill in where the recorder was not
// there. Owned by one drainer, on one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::ingest {

struct Knot {
  std::uint64_t ticks = 0;
  std::int64_t monotonicNs = 0;
};

class ClockFit {
 public:
  // A reading that a process took; used from the next settle() on, if it lies in the open part of
  // the time line and agrees with its neighbours.
  void offer(Knot knot);

  // Closes the time line up to `now`, the recorder's own reading (none: as far as the offered ones
  // go). Returns the knots that were added, for restore() by a later recorder.
  std::vector<Knot> settle(std::optional<Knot> now);
  // The same up to an earlier reading of the recorder's: what was offered of later times stays.
  std::vector<Knot> settleUpTo(Knot reading);

  // Requires: nothing was offered or settled yet; `knots` are what settle() returned before, in
  // order.
  void restore(const std::vector<Knot>& knots);

  // How long a tick is while there are fewer than two knots. The default is 1 ns.
  void setNominalRate(double nsPerTick);

  std::int64_t toNs(std::uint64_t ticks) const noexcept;

  std::size_t knots() const noexcept { return segments_.size(); }
  std::uint64_t rejected() const noexcept { return rejected_; }

 private:
  // The line from a knot on; the last one's goes on for ever.
  struct Segment {
    std::uint64_t ticks;
    std::int64_t ns;
    std::int64_t slope;  // ns per tick, times 2^kSlopeBits
  };
  static constexpr int kSlopeBits = 48;

  bool follows(Knot knot) const noexcept;
  bool agrees(Knot knot, const std::optional<Knot>& now) const noexcept;
  void append(Knot knot);
  const Segment& segmentOf(std::uint64_t ticks) const noexcept;
  static std::int64_t along(const Segment& segment, std::uint64_t ticks) noexcept;

  std::vector<Segment> segments_;
  std::vector<Knot> offered_;
  std::int64_t nominalSlope_ = std::int64_t{1} << kSlopeBits;
  std::uint64_t rejected_ = 0;
  mutable std::size_t lastUsed_ = 0;
};

// What the times of one process image are made with.
struct TimeBase {
  const ClockFit* fit = nullptr;  // nullptr: ticks are ns of CLOCK_MONOTONIC
  std::int64_t epochNs = 0;       // realtime minus monotonic, one for each boot of a host

  std::int64_t toNs(std::uint64_t ticks) const noexcept;
};

}  // namespace sonde::ingest
