// Maps the times of one thread or stream to those without recording, by a delay that changes along
// the way. Plain value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::engine::correction {

class Timeline {
 public:
  // At `at` a time becomes earlier by `delayNs`. Between two knots the delay changes linearly.
  struct Knot {
    std::int64_t at;
    std::int64_t delayNs;
    friend bool operator==(const Knot&, const Knot&) = default;
  };

  // Requires: neither the knot's time nor its corrected time is before the last knot's. A knot on
  // the line of the last two replaces the last.
  void add(const Knot& knot);

  // The corrected time. Never decreases. O(log n).
  std::int64_t operator()(std::int64_t ns) const noexcept;
  std::int64_t delayAt(std::int64_t ns) const noexcept { return ns - (*this)(ns); }

  const std::vector<Knot>& knots() const noexcept { return knots_; }

  // Corrects a sequence of times; almost free if each is near the one before. Requires: the
  // timeline outlives the cursor and does not change.
  class Cursor {
   public:
    explicit Cursor(const Timeline& timeline) noexcept : knots_(&timeline.knots_) {}
    std::int64_t operator()(std::int64_t ns) noexcept;

   private:
    const std::vector<Knot>* knots_;
    std::size_t next_ = 0;  // the first knot after the last time
  };

 private:
  std::vector<Knot> knots_;
};

}  // namespace sonde::engine::correction
