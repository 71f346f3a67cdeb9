#include "analysis/engine/whatif/gradients/adasum.h"

#include "analysis/engine/whatif/gradients/measured_buckets.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace sonde::engine::whatif {
namespace {

constexpr double kScalarBytes = 3 * 8;  // two squares and a product
constexpr double kTouched = 5;          // both halves are read twice, one is written
constexpr double kErrorOfSpeed = 0.2;   // of memorySpeed(), and of a user's figure

// The parts of a bucket's time, in ns.
struct AdasumTime {
  double exchangeNs = 0;
  double scalarsNs = 0;
  double computeNs = 0;

  double sum() const { return exchangeNs + scalarsNs + computeNs; }
};

AdasumTime adasumTime(const JobCollective& bucket, const NetworkModel& model, double bytesPerNs) {
  const auto ranks = static_cast<double>(bucket.ranks);
  const double levels = std::countr_zero(static_cast<std::uint64_t>(bucket.ranks));
  const auto bytes = static_cast<double>(bucket.bytes);
  const double halves = bytes * (ranks - 1) / ranks;  // of all levels together
  // An all-reduce of a few bytes among 2^k ranks takes k steps.
  const double scalarSteps = levels * (levels + 1) / 2;
  return {2 * levels * model.stepNs + 2 * halves * model.byteNs + model.callNs +
              bytes * model.payloadNs,
          scalarSteps * (model.stepNs + kScalarBytes * model.byteNs),
          kTouched * halves / bytesPerNs};
}

std::string adasumNote(const JobCollective& bucket, const AdasumTime& time, double bytesPerNs) {
  return fmt::format(
      "the largest bucket takes {:.2f} ms to exchange among {} ranks, {:.3f} ms for the scalars of "
      "dot products, and {:.2f} ms for these and sums, at {:.0f} GB/s, which is assumed, not "
      "measured. Whether training learns faster is not predicted",
      time.exchangeNs / 1e6,
      bucket.ranks,
      time.scalarsNs / 1e6,
      time.computeNs / 1e6,
      bytesPerNs);
}

}  // namespace

double memorySpeed(bool isOnDevice) {
  return isOnDevice ? 1'000 : 10;
}

Question adasum(Adasum of) {
  return [of](Asking& asking) -> Result<void> {
    if (of.bytesPerNs && !(*of.bytesPerNs > 0))
      return Error{ErrorCode::InvalidArgument, "the speed of dot products is above 0"};
    TransferEdits edits(asking.scenario);
    SONDE_TRY_ASSIGN(const MeasuredBuckets buckets, readMeasuredBuckets(asking, edits));
    SONDE_TRY(checkAllreduces(buckets, "dot products"));
    const JobCollective& largest = *buckets.largest;
    if (!std::has_single_bit(static_cast<std::uint64_t>(largest.ranks)))
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("vectors are halved among a number of ranks that is a power of two, "
                               "and {} ranks reduce gradients together",
                               largest.ranks)};
    const double speed = of.bytesPerNs.value_or(memorySpeed(largest.isOnDevice));
    for (const IterationBuckets& iteration : buckets.iterations)
      for (const JobCollective* bucket : iteration.buckets)
        edits.set(*bucket, adasumTime(*bucket, buckets.model, speed).sum(), Origin::Modelled);
    SONDE_TRY(edits.apply());
    const AdasumTime time = adasumTime(largest, buckets.model, speed);
    const double wrongNs =
        buckets.model.error * (time.exchangeNs + time.scalarsNs) + kErrorOfSpeed * time.computeNs;
    asking.modelError = std::max(asking.modelError, wrongNs / time.sum());
    asking.notes.push_back(adasumNote(largest, time, speed));
    noteOtherReductions(buckets, asking.notes);
    return {};
  };
}

}  // namespace sonde::engine::whatif
