// Statistics of a tensor's elements; docs/probes/tensor.md defines each number. One pass over the
// memory, in double precision. Plain functions; any thread.
#pragma once

#include "plugins/pytorch/tensors/strided.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace sonde::torch {

// Computed over the finite elements, except the counts.
struct Statistics {
  std::int64_t elements = 0;
  std::int64_t zeros = 0;
  std::int64_t nans = 0;
  std::int64_t infs = 0;
  double minimum = std::numeric_limits<double>::infinity();
  double maximum = -std::numeric_limits<double>::infinity();
  double mean = 0;
  double variance = 0;  // of the population
  double l1 = 0;
  double l2 = 0;
};

// A histogram of the elements: bucket << kBucketShift | count, in ascending order, as in records
// (wire::TensorStatistics). A bucket is the 16 highest bits of its numbers as doubles: sign,
// exponent and 4 bits of mantissa. So its ends are a 16th of an octave apart. Zeros, NaNs and
// infinities are in no bucket.
using Buckets = std::vector<std::uint64_t>;
inline constexpr unsigned kBucketShift = 48;
inline constexpr std::size_t kBucketCount = std::size_t{1} << 16;
// The word covers 16 buckets, of which its bucket is the first.
inline constexpr std::uint64_t kWholeOctave = std::uint64_t{1} << 47;
inline constexpr std::uint64_t kCountMask = kWholeOctave - 1;

// False: the type is not an ElementType.
bool describe(const Strided& tensor, Statistics& statistics, Buckets& buckets);

// The same buckets, except that an octave with less than a 64th of all elements becomes one bucket.
// Random numbers then have about 200, and no tensor has more than 5,120.
Buckets withoutRareOnes(const Buckets& buckets);

}  // namespace sonde::torch
