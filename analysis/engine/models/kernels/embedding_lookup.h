// How long lookups in an embedding table take on a GPU. Plain values; any thread.
//
// Source: "Building a Performance Model for Deep Learning Recommendation Model Training on GPUs"
// (Lin et al., arXiv 2201.07821), section IV on embedding lookups.
#pragma once

#include <cstdint>

namespace sonde::engine::models {

struct EmbeddingTable {
  std::int64_t rows = 0;
  std::int64_t dim = 0;      // numbers of four bytes in a row
  std::int64_t pooling = 0;  // rows that a sample looks up, which are added
  std::int64_t batch = 0;    // samples

  double bytes() const noexcept {
    return 4.0 * static_cast<double>(rows) * static_cast<double>(dim);
  }
};

struct LookupDevice {
  double dramBytesPerNs = 0;
  double cacheBytesPerNs = 0;
  double cacheBytes = 0;
  double flopsPerNs = 0;
};

// The part of the lookups that finds its row in the cache, if rows are looked up evenly and
// `liveTables` tables share the cache. From 0 to 1.
double cacheHits(const EmbeddingTable& table, const LookupDevice& device, double liveTables);

// All of a row, an index and a result moves in sectors of 32 bytes through the cache; indices,
// results and rows that are not in the cache also through DRAM. Narrow rows take longer by a factor
// that the authors measured.
double lookupForwardNs(const EmbeddingTable& table, const LookupDevice& device, double liveTables);
// Rows are read and written, and each number is multiplied and added once.
double lookupBackwardNs(const EmbeddingTable& table, const LookupDevice& device, double liveTables);

}  // namespace sonde::engine::models
