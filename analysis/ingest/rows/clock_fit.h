// Converts ticks to CLOCK_MONOTONIC: a line through every pair of neighbouring clock readings of
// one boot of a host.
//
// The recorder takes a reading after it has looked for new data. So every record lies between two
// knots, and none is extrapolated. A mapping in use never changes, so times never run backwards.
// Readings of the traced processes fill in while the recorder was not running. Owned by one
// drainer, on one thread.
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
  // Adds a reading of a process. The next settle() uses it if it lies in the open part of the time
  // line and agrees with its neighbours.
  void offer(Knot knot);

  // Closes the time line up to `now`, the recorder's reading; if unset, up to the last offered one.
  // Returns the added knots, for restore() by a later recorder.
  std::vector<Knot> settle(std::optional<Knot> now);
  // The same up to an earlier reading of the recorder; later offered readings stay open.
  std::vector<Knot> settleUpTo(Knot reading);

  // Requires: no offer() or settle() before; `knots` are earlier results of settle(), in order.
  void restore(const std::vector<Knot>& knots);

  // The length of a tick while there are fewer than two knots. The default is 1 ns.
  void setNominalRate(double nsPerTick);

  std::int64_t toNs(std::uint64_t ticks) const noexcept;

  std::size_t knots() const noexcept { return segments_.size(); }
  std::uint64_t rejected() const noexcept { return rejected_; }

 private:
  // The line from a knot on; the last one continues for ever.
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

// Converts the times of one process image.
struct TimeBase {
  const ClockFit* fit = nullptr;  // nullptr: ticks are ns of CLOCK_MONOTONIC
  std::int64_t epochNs = 0;       // realtime minus monotonic, one per boot of a host

  std::int64_t toNs(std::uint64_t ticks) const noexcept;
};

}  // namespace sonde::ingest
