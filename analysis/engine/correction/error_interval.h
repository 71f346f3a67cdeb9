// The interval of a corrected time that follows from the errors of recording costs. Plain value.
//
// Each cause of error is tried one standard error higher and lower. So it does not matter which
// direction a cause calls higher, and an effect that a wait absorbs in one direction counts only in
// the other. Causes are independent: squares add up, separately by direction.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace sonde::engine::correction {

// The part of recording's cost that no event accounts for: the excess of corrected times over times
// without recording, as a share of the former, from the run's own iterations. With its standard
// error.
struct Unexplained {
  double share = 0;
  double error = 0;
  // The recorder's share of a processor while the job ran: times are longer by at most this share.
  // A run's iterations do not show it, because the recorder never stops.
  double recorder = 0;

  // Whether the share is more than chance.
  bool isCertain() const noexcept { return std::abs(share) > kStandardErrors * error; }

  static constexpr double kStandardErrors = 1.96;
};

class ErrorInterval {
 public:
  // A recorded time, and the same time corrected.
  ErrorInterval(std::int64_t rawNs, std::int64_t ns) noexcept : rawNs_(rawNs), ns_(ns) {}

  // If the share is certain, the interval covers it. The time itself stays as computed from events.
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

  // The corrected time with one cause of error higher, and lower.
  void add(std::int64_t oneNs, std::int64_t otherNs) noexcept {
    const auto square = [](std::int64_t ns) {
      return static_cast<double>(ns) * static_cast<double>(ns);
    };
    below_ += square(std::max<std::int64_t>(ns_ - std::min(oneNs, otherNs), 0));
    above_ += square(std::max<std::int64_t>(std::max(oneNs, otherNs) - ns_, 0));
  }

  // The bounds of the 95 % interval. No time is negative. No cost is negative, so a corrected time
  // that is shorter than the recorded one was at most as long as recorded.
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
  std::int64_t shorterBy_ = 0;  // upper bounds of the unexplained part
  std::int64_t longerBy_ = 0;
};

}  // namespace sonde::engine::correction
