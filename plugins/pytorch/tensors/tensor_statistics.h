// What is known of a tensor's elements: docs/probes/tensor.md defines each number. One pass over
// the memory, in double precision. Plain functions; any thread.
#pragma once

#include "plugins/pytorch/tensors/strided.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace sonde::torch {

// Of the finite elements, but for the counts.
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

// How many elements lie where: bucket << kBucketShift | count, by rising bucket, as records have
// them (wire::TensorStatistics). A bucket is the 16 highest bits of its numbers as doubles, that is
// sign, exponent and 4 bits of mantissa, so its ends are a 16th of an octave apart. Zeros, NaNs and
// infinities are in none.
using Buckets = std::vector<std::uint64_t>;
inline constexpr unsigned kBucketShift = 48;
inline constexpr std::size_t kBucketCount = std::size_t{1} << 16;
// The bucket is the first of 16, and stands for all of them.
inline constexpr std::uint64_t kWholeOctave = std::uint64_t{1} << 47;
inline constexpr std::uint64_t kCountMask = kWholeOctave - 1;

// False: the type is none of ElementType.
bool describe(const Strided& tensor, Statistics& statistics, Buckets& buckets);

// The same buckets, but that octaves which hold less than a 64th of all are one bucket. Random
// numbers have about 200 then, and nothing has more than 5,120.
Buckets withoutRareOnes(const Buckets& buckets);

}  // namespace sonde::torch
