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

class ErrorInterval {
 public:
  // A time as it was recorded, and corrected.
  ErrorInterval(std::int64_t rawNs, std::int64_t ns) noexcept : rawNs_(rawNs), ns_(ns) {}

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
    return std::max<std::int64_t>(ns_ - reach(below_), std::min<std::int64_t>(ns_, 0));
  }
  std::int64_t highNs() const noexcept {
    const std::int64_t high = ns_ + reach(above_);
    return ns_ <= rawNs_ ? std::min(high, rawNs_) : high;
  }

 private:
  static std::int64_t reach(double variance) noexcept {
    constexpr double kStandardErrors = 1.96;
    return static_cast<std::int64_t>(std::llround(kStandardErrors * std::sqrt(variance)));
  }

  std::int64_t rawNs_;
  std::int64_t ns_;
  double below_ = 0;  // variances
  double above_ = 0;
};

}  // namespace sonde::engine::correction
