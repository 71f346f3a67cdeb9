// Records of tensors, as records.h describes them.
#pragma once

#include "collector/wire/records.h"

#include <cstddef>
#include <cstdint>

namespace sonde::wire {

// The role of a tensor in the model; `tensor.role` in the store.
enum class TensorRole : std::uint8_t {
  Weight = 1,
  Gradient = 2,
  Input = 3,
  Output = 4,
  Loss = 5,
  Other = 6,
};

// Statistics of the elements of a tensor. `subject`: name; `detail`: TensorRole. `bucketCount`
// words follow, in ascending order, one per bucket. Bits 48–63 are the 16 highest bits that the
// numbers in the bucket have as doubles. Bits 0–46 are the number of elements. A word with
// kWholeOctave covers this bucket and the 15 after it. Zeros, NaNs and infinities are in no bucket.
struct TensorStatistics {
  static constexpr unsigned kBucketShift = 48;
  static constexpr std::uint64_t kWholeOctave = std::uint64_t{1} << 47;
  static constexpr std::uint64_t kCountMask = kWholeOctave - 1;
  RecordHeader header;
  std::uint64_t ticks;
  std::int64_t elements;
  std::int64_t zeros;
  std::int64_t nans;
  std::int64_t infs;
  double minimum;  // this and the next: of the finite elements; there may be none
  double maximum;
  double mean;
  double variance;  // of the population
  double l1;
  double l2;
  std::uint64_t fileOffset;  // where `file` holds all elements
  std::uint32_t file;        // its path; 0: no file holds them
  std::uint32_t collection;
  std::uint32_t dtype;
  std::uint32_t shape;
  std::uint32_t bucketCount;
  std::uint32_t reserved;
};
inline constexpr std::uint32_t kMaxTensorBuckets = 5120;

static_assert(sizeof(TensorStatistics) == 128);
static_assert(sizeof(TensorStatistics) + kMaxTensorBuckets * sizeof(std::uint64_t) < 0xffff);

}  // namespace sonde::wire
