// Called by hooks/tensor_reader.py through ctypes, without Python's lock: the statistics of a
// tensor in memory, or those that a device has computed, and their record.
//
// Python loads it after torch, so libstdc++ is in the process.
#define SONDE_NO_LOOKUP
#include "plugins/api/sonde.h"
#include "plugins/pytorch/tensors/npy.h"
#include "plugins/pytorch/tensors/tensor_statistics.h"

#include <dlfcn.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>

// glibc 2.34 gave it a new version. With the old one the library also loads on glibc 2.28.
#if defined(__x86_64__)
__asm__(".symver dlsym,dlsym@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver dlsym,dlsym@GLIBC_2.17");
#endif

namespace {

using sonde::torch::Buckets;
using sonde::torch::ElementType;
using sonde::torch::Statistics;
using sonde::torch::Strided;

const sonde_api_table* gApi;

// The statistics of the tensor that the thread has described last.
thread_local Statistics tStatistics;
thread_local Buckets tBuckets;

std::uint32_t nameOf(const char* text) {
  return text == nullptr ? 0 : gApi->intern(text, std::strlen(text));
}

}  // namespace

#define SONDE_EXPORT extern "C" __attribute__((visibility("default")))

// Returns NULL, or the reason why nothing can be recorded.
SONDE_EXPORT const char* sonde_tensors_find() {
  void* const symbol = dlsym(RTLD_DEFAULT, "sonde_api");
  const sonde_api_table* (*api)(std::uint32_t) = nullptr;
  std::memcpy(&api, &symbol, sizeof symbol);
  gApi = api == nullptr ? nullptr : api(SONDE_API_VERSION);
  if (gApi == nullptr)
    return "Sonde's library is not in the process";
  const bool isNew = gApi->size >= offsetof(sonde_api_table, lost_tensors) + sizeof(void*);
  return isNew ? nullptr : "Sonde's library in the process is of an older version";
}

SONDE_EXPORT int sonde_tensors_enabled() {
  return gApi->enabled(SONDE_PROBE_TENSOR);
}

SONDE_EXPORT std::uint64_t sonde_tensors_now() {
  return gApi->now();
}

// 0: the type is unknown, or there was no memory.
SONDE_EXPORT int sonde_tensors_describe(const void* data,
                                        int type,
                                        int dimensions,
                                        const std::int64_t* sizes,
                                        const std::int64_t* strides) try {
  tStatistics = {};
  tBuckets.clear();
  const Strided tensor{data, static_cast<ElementType>(type), dimensions, sizes, strides};
  return sonde::torch::describe(tensor, tStatistics, tBuckets) ? 1 : 0;
} catch (...) {
  return 0;
}

SONDE_EXPORT int sonde_tensors_has_nan(const void* data,
                                       int type,
                                       int dimensions,
                                       const std::int64_t* sizes,
                                       const std::int64_t* strides) {
  bool found = false;
  const Strided tensor{data, static_cast<ElementType>(type), dimensions, sizes, strides};
  sonde::torch::eachBlock(tensor, [&](const double* values, std::size_t count) {
    found =
        found || std::any_of(values, values + count, [](double value) { return value != value; });
  });
  return found ? 1 : 0;
}

// The same for results of a device: `values` as in hooks/device_reduction.py; counts of the buckets
// from `first` on, those of negative numbers after the others.
SONDE_EXPORT int sonde_tensors_take(const double* values,
                                    const std::int64_t* counts,
                                    int first,
                                    int size) try {
  tStatistics = {static_cast<std::int64_t>(values[0]),
                 static_cast<std::int64_t>(values[1]),
                 static_cast<std::int64_t>(values[2]),
                 static_cast<std::int64_t>(values[3]),
                 values[4],
                 values[5],
                 values[6],
                 values[7],
                 values[8],
                 values[9]};
  tBuckets.clear();
  constexpr std::uint64_t kNegative = 0x8000;
  for (int at = 0; at < 2 * size; ++at) {
    const std::uint64_t bucket =
        static_cast<std::uint64_t>(first + at % size) | (at < size ? 0 : kNegative);
    if (counts[at] > 0)
      tBuckets.push_back(bucket << sonde::torch::kBucketShift |
                         static_cast<std::uint64_t>(counts[at]));
  }
  return 1;
} catch (...) {
  return 0;
}

// NOLINTBEGIN(readability-function-size): Python calls these, which has no structures at hand

// Records the statistics that the thread has described last. NULL texts are unknown; `when`: from
// sonde_api_table::now(), 0: now.
SONDE_EXPORT int sonde_tensors_record(const char* name,
                                      const char* collection,
                                      int role,
                                      const char* dtype,
                                      const char* shape,
                                      const char* file,
                                      std::uint64_t fileOffset,
                                      std::uint64_t when) try {
  const Buckets buckets = sonde::torch::withoutRareOnes(tBuckets);
  sonde_tensor tensor{};
  tensor.name = nameOf(name);
  tensor.collection = nameOf(collection);
  tensor.role = static_cast<std::uint32_t>(role);
  tensor.dtype = nameOf(dtype);
  tensor.shape = nameOf(shape);
  tensor.file = nameOf(file);
  tensor.file_offset = fileOffset;
  tensor.when = when;
  tensor.elements = tStatistics.elements;
  tensor.zeros = tStatistics.zeros;
  tensor.nans = tStatistics.nans;
  tensor.infs = tStatistics.infs;
  tensor.minimum = tStatistics.minimum;
  tensor.maximum = tStatistics.maximum;
  tensor.mean = tStatistics.mean;
  tensor.variance = tStatistics.variance;
  tensor.l1 = tStatistics.l1;
  tensor.l2 = tStatistics.l2;
  tensor.buckets = buckets.data();
  tensor.bucket_count = static_cast<std::uint32_t>(buckets.size());
  return gApi->tensor(&tensor);
} catch (...) {
  return 0;
}

// Returns where in the file (a descriptor) the whole tensor now is; a negated errno on failure.
SONDE_EXPORT std::int64_t sonde_tensors_save(int file,
                                             const void* data,
                                             int type,
                                             int dimensions,
                                             const std::int64_t* sizes,
                                             const std::int64_t* strides) try {
  return sonde::torch::appendNpy(
      file, {data, static_cast<ElementType>(type), dimensions, sizes, strides});
} catch (...) {
  return -ENOMEM;
}

// NOLINTEND(readability-function-size)

SONDE_EXPORT void sonde_tensors_lost(std::uint32_t count) {
  gApi->lost_tensors(count);
}

// Copies the statistics that the thread has described last: elements, zeros, NaNs, infinities,
// minimum, maximum, mean, variance, L1 and L2 to `values`, buckets to `buckets`. Returns the number
// of buckets.
SONDE_EXPORT int sonde_tensors_described(double* values, std::uint64_t* buckets, int room) {
  const Statistics& found = tStatistics;
  const double all[] = {static_cast<double>(found.elements),
                        static_cast<double>(found.zeros),
                        static_cast<double>(found.nans),
                        static_cast<double>(found.infs),
                        found.minimum,
                        found.maximum,
                        found.mean,
                        found.variance,
                        found.l1,
                        found.l2};
  std::copy(std::begin(all), std::end(all), values);
  const auto count = std::min(static_cast<std::size_t>(room), tBuckets.size());
  std::copy_n(tBuckets.begin(), count, buckets);
  return static_cast<int>(tBuckets.size());
}
