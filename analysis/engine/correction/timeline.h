// How one thread's times, or one stream's, become those that they would have been without
// recording: the time that recording took is taken out of them, piece by piece. Plain value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::engine::correction {

class Timeline {
 public:
  // From `at` on a time is `delayNs` earlier. Between two of these the delay changes evenly.
  struct Knot {
    std::int64_t at;
    std::int64_t delayNs;
    friend bool operator==(const Knot&, const Knot&) = default;
  };

  // Requires: not before the last knot, and the time that it stands for is not before that of the
  // last knot. One that lies on the line of the last two replaces the last.
  void add(const Knot& knot);

  // The corrected time. Never decreases. O(log n).
  std::int64_t operator()(std::int64_t ns) const noexcept;
  std::int64_t delayAt(std::int64_t ns) const noexcept { return ns - (*this)(ns); }

  const std::vector<Knot>& knots() const noexcept { return knots_; }

  // Corrects times one after the other, in next to no time where they are near each other.
  // Requires: the timeline outlives it and is not added to.
  class Cursor {
   public:
    explicit Cursor(const Timeline& timeline) noexcept : knots_(&timeline.knots_) {}
    std::int64_t operator()(std::int64_t ns) noexcept;

   private:
    const std::vector<Knot>* knots_;
    std::size_t next_ = 0;  // the first knot behind the last time
  };

 private:
  std::vector<Knot> knots_;
};

}  // namespace sonde::engine::correction
