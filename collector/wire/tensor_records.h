// Records of tensors, as records.h describes them.
#pragma once

#include "collector/wire/records.h"

#include <cstddef>
#include <cstdint>

namespace sonde::wire {

// What a tensor is to the model; `tensor.role` in the store.
enum class TensorRole : std::uint8_t {
  Weight = 1,
  Gradient = 2,
  Input = 3,
  Output = 4,
  Loss = 5,
  Other = 6,
};

// What is known of the elements of a tensor. `subject`: name; `detail`: TensorRole. Followed by
// `bucketCount` words, by rising bucket: the 16 highest bits of the bucket's numbers as doubles in
// bits 48–63, in bits 0–46 how many elements it holds. With kWholeOctave it stands for itself and
// the 15 behind it. Zeros, NaNs and infinities are in none.
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
  double minimum;  // this and the next: of the finite elements, of which there may be none
  double maximum;
  double mean;
  double variance;  // of the population
  double l1;
  double l2;
  std::uint64_t fileOffset;  // of all elements in …
  std::uint32_t file;        // … this file, by its path; 0: they are in none
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
