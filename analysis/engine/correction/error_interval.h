// How far the errors of what recording costs leave a corrected time. Plain value.
//
// Each cause of error comes out one standard error higher and lower, and both are tried: so it
// makes no difference which of the two a cause counts as higher, and what a wait absorbs in one
// direction alone counts in the other alone. Squares add up, by direction, since causes are
// independent.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace sonde::engine::correction {

// What no event accounts for: by how much of themselves corrected times are longer than those
// without recording, as the run's own iterations have it, and one standard error of that.
struct Unexplained {
  double share = 0;
  double error = 0;
  // What the recorder had of a processor while the job ran, of that time: at most so much longer
  // are times for it. A run's iterations do not show it, because it never stops.
  double recorder = 0;

  // More than chance makes of it.
  bool isCertain() const noexcept { return std::abs(share) > kStandardErrors * error; }

  static constexpr double kStandardErrors = 1.96;
};

class ErrorInterval {
 public:
  // A time as it was recorded, and corrected.
  ErrorInterval(std::int64_t rawNs, std::int64_t ns) noexcept : rawNs_(rawNs), ns_(ns) {}

  // Where it is certain the interval holds what it says, too; the time itself stays what its events
  // make of it.
  void add(const Unexplained& unexplained) noexcept {
    const auto ns = static_cast<double>(ns_);
    const double recorder = ns * unexplained.recorder;
    below_ += std::pow(recorder / Unexplained::kStandardErrors, 2);
    if (!unexplained.isCertain())
      return;
    const double reach = Unexplained::kStandardErrors * unexplained.error;
    shorterBy_ = std::llround(ns * std::max(unexplained.share + reach, 0.0) + recorder);
    longerBy_ = std::llround(ns * std::max(reach - unexplained.share, 0.0));
  }

  // What it would be with a cause of error either way.
  void add(std::int64_t oneNs, std::int64_t otherNs) noexcept {
    const auto square = [](std::int64_t ns) {
      return static_cast<double>(ns) * static_cast<double>(ns);
    };
    below_ += square(std::max<std::int64_t>(ns_ - std::min(oneNs, otherNs), 0));
    above_ += square(std::max<std::int64_t>(std::max(oneNs, otherNs) - ns_, 0));
  }

  // Where 95 % of the errors leave it. No time is negative; and nothing costs less than nothing, so
  // what got shorter was not longer than it was recorded.
  std::int64_t lowNs() const noexcept {
    return std::max<std::int64_t>(ns_ - std::max<std::int64_t>(reach(below_), shorterBy_),
                                  std::min<std::int64_t>(ns_, 0));
  }
  std::int64_t highNs() const noexcept {
    const std::int64_t high = ns_ + reach(above_);
    return std::max<std::int64_t>(ns_ <= rawNs_ ? std::min(high, rawNs_) : high, ns_ + longerBy_);
  }

 private:
  static std::int64_t reach(double variance) noexcept {
    return std::llround(Unexplained::kStandardErrors * std::sqrt(variance));
  }

  std::int64_t rawNs_;
  std::int64_t ns_;
  double below_ = 0;  // variances
  double above_ = 0;
  std::int64_t shorterBy_ = 0;  // at most, by what is not explained
  std::int64_t longerBy_ = 0;
};

}  // namespace sonde::engine::correction
