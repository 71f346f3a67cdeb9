#include "plugins/pytorch/tensors/tensor_statistics.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <memory>

namespace sonde::torch {

namespace {

constexpr std::uint64_t kInfinity = 0x7ff0'0000'0000'0000;
constexpr std::uint64_t kMagnitude = 0x7fff'ffff'ffff'ffff;

// Treats denormal elements as non-zero, whatever the program has set (torch.set_flush_denormal),
// and raises no floating-point flags in the program.
class PlainArithmetic {
 public:
  PlainArithmetic() noexcept {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~PlainArithmetic() noexcept { std::fesetenv(&before_); }
  PlainArithmetic(const PlainArithmetic&) = delete;
  PlainArithmetic& operator=(const PlainArithmetic&) = delete;

 private:
  std::fenv_t before_{};
};

// Four sums side by side, which the compiler vectorises.
constexpr std::size_t kLanes = 4;
using Lanes = std::array<double, kLanes>;

double sumOf(const Lanes& lanes) noexcept {
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

// Calls `step(lane, value)` for each value.
template <typename Step>
void eachInLanes(const double* values, std::size_t count, Step&& step) noexcept {
  std::size_t at = 0;
  for (; at + kLanes <= count; at += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      step(lane, values[at + lane]);
  }
  for (; at < count; ++at)
    step(at % kLanes, values[at]);
}

// Adds up blocks of a tensor.
class Summary {
 public:
  explicit Summary(Statistics& statistics) noexcept : found_(statistics) {}

  // Moves the finite values to the front of `values`; returns their number.
  std::size_t add(double* values, std::size_t count) noexcept {
    found_.elements += static_cast<std::int64_t>(count);
    const std::size_t finite = takeOutOthers(values, count);
    if (finite > 0)
      addFinite(values, finite);
    return finite;
  }

  void finish() noexcept {
    found_.variance = count_ > 0 ? squares_ / count_ : 0;
    found_.l2 = std::sqrt(found_.l2);
  }

  // The smallest magnitude of the non-zero elements.
  double smallestMagnitude() const noexcept { return smallest_; }

 private:
  std::size_t takeOutOthers(double* values, std::size_t count) noexcept {
    std::uint64_t others = 0;
    for (std::size_t at = 0; at < count; ++at)
      others += (std::bit_cast<std::uint64_t>(values[at]) & kInfinity) == kInfinity ? 1U : 0U;
    if (others == 0)
      return count;
    std::size_t kept = 0;
    for (std::size_t at = 0; at < count; ++at) {
      const std::uint64_t magnitude = std::bit_cast<std::uint64_t>(values[at]) & kMagnitude;
      found_.nans += magnitude > kInfinity ? 1 : 0;
      found_.infs += magnitude == kInfinity ? 1 : 0;
      if (magnitude < kInfinity)
        values[kept++] = values[at];
    }
    return kept;
  }

  void addFinite(const double* values, std::size_t count) noexcept {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    Lanes sum{};
    Lanes magnitudes{};
    Lanes squares{};
    Lanes least{kNone, kNone, kNone, kNone};
    Lanes most{-kNone, -kNone, -kNone, -kNone};
    Lanes smallest{kNone, kNone, kNone, kNone};
    std::array<std::int64_t, kLanes> zeros{};
    eachInLanes(values, count, [&](std::size_t lane, double value) {
      const double magnitude = std::fabs(value);
      sum[lane] += value;
      magnitudes[lane] += magnitude;
      squares[lane] += value * value;
      least[lane] = value < least[lane] ? value : least[lane];
      most[lane] = value > most[lane] ? value : most[lane];
      // NOLINTNEXTLINE(bugprone-narrowing-conversions): both are double
      const double ofOthers = magnitude == 0 ? kNone : magnitude;
      smallest[lane] = ofOthers < smallest[lane] ? ofOthers : smallest[lane];
      zeros[lane] += magnitude == 0 ? 1 : 0;
    });
    found_.l1 += sumOf(magnitudes);
    found_.l2 += sumOf(squares);
    found_.zeros += zeros[0] + zeros[1] + zeros[2] + zeros[3];
    found_.minimum = std::min(found_.minimum, std::ranges::min(least));
    found_.maximum = std::max(found_.maximum, std::ranges::max(most));
    smallest_ = std::min(smallest_, std::ranges::min(smallest));
    addMoments(values, count, sumOf(sum) / static_cast<double>(count));
  }

  // Chan, Golub, LeVeque: Algorithms for Computing the Sample Variance, 1983, equations 1.5.
  void addMoments(const double* values, std::size_t count, double mean) noexcept {
    Lanes deviations{};
    eachInLanes(values, count, [&](std::size_t lane, double value) {
      deviations[lane] += (value - mean) * (value - mean);
    });
    const auto added = static_cast<double>(count);
    const double total = count_ + added;
    const double apart = mean - found_.mean;
    squares_ += sumOf(deviations) + apart * apart * (count_ / total * added);
    found_.mean += apart * (added / total);
    count_ = total;
  }

  Statistics& found_;
  double count_ = 0;    // number of finite elements
  double squares_ = 0;  // sum of squared distances from the mean
  double smallest_ = std::numeric_limits<double>::infinity();
};

std::uint16_t bucketOf(double value) noexcept {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint64_t>(value) >> kBucketShift);
}

// One table per thread, all zeros between two tensors.
std::uint64_t* countsOfThread() {
  thread_local const std::unique_ptr<std::uint64_t[]> counts(new std::uint64_t[kBucketCount]());
  return counts.get();  // NOLINT(clang-analyzer-cplusplus.NewDelete): it is the thread's
}

// Counts the elements of a tensor by bucket.
class Counts {
 public:
  void add(const double* values, std::size_t count) noexcept {
    for (std::size_t at = 0; at < count; ++at)
      counts_[bucketOf(values[at])] += values[at] != 0 ? 1U : 0U;
  }

  // `smallest`: magnitude of the non-zero elements. Resets the table to zeros.
  void move(const Statistics& statistics, double smallest, Buckets& buckets) {
    constexpr std::uint16_t kMinusZero = 0x8000;
    const std::uint16_t first = std::isinf(smallest) ? 0 : bucketOf(smallest);
    move(first, statistics.maximum > 0 ? bucketOf(statistics.maximum) : 0, buckets);
    move(kMinusZero | first,
         statistics.minimum < 0 ? bucketOf(statistics.minimum) : kMinusZero,
         buckets);
  }

 private:
  void move(std::uint32_t first, std::uint32_t last, Buckets& buckets) {
    for (std::uint32_t bucket = first; bucket <= last; ++bucket) {
      if (counts_[bucket] == 0)
        continue;
      buckets.push_back(std::uint64_t{bucket} << kBucketShift | counts_[bucket]);
      counts_[bucket] = 0;
    }
  }

  std::uint64_t* counts_ = countsOfThread();
};

}  // namespace

bool describe(const Strided& tensor, Statistics& statistics, Buckets& buckets) {
  const PlainArithmetic plain;
  Summary summary(statistics);
  Counts counts;
  const bool isKnown = eachBlock(tensor, [&](double* values, std::size_t count) {
    counts.add(values, summary.add(values, count));
  });
  summary.finish();
  counts.move(statistics, summary.smallestMagnitude(), buckets);
  return isKnown;
}

Buckets withoutRareOnes(const Buckets& buckets) {
  constexpr std::uint64_t kShare = 64;
  constexpr unsigned kOctaveShift = kBucketShift + 4;
  std::uint64_t all = 0;
  for (const std::uint64_t bucket : buckets)
    all += bucket & kCountMask;
  Buckets kept;
  for (std::size_t at = 0; at < buckets.size();) {
    const std::uint64_t octave = buckets[at] >> kOctaveShift;
    std::size_t end = at;
    std::uint64_t count = 0;
    for (; end < buckets.size() && buckets[end] >> kOctaveShift == octave; ++end)
      count += buckets[end] & kCountMask;
    if (count * kShare < all)
      kept.push_back(octave << kOctaveShift | kWholeOctave | count);
    else
      kept.insert(kept.end(),
                  buckets.begin() + static_cast<std::ptrdiff_t>(at),
                  buckets.begin() + static_cast<std::ptrdiff_t>(end));
    at = end;
  }
  return kept;
}

}  // namespace sonde::torch
