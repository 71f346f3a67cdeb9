// How long lookups in an embedding table take on a GPU. Plain values; any thread.
//
// Source: "Building a Performance Model for Deep Learning Recommendation Model Training on GPUs"
// (Lin et al., arXiv 2201.07821), its model of embedding lookups. Popular rows and compressed
// tables are not in it.
#pragma once

#include <cstdint>

namespace sonde::engine::models {

struct EmbeddingTable {
  std::int64_t rows = 0;
  std::int64_t dim = 0;      // numbers of four bytes in a row
  std::int64_t pooling = 0;  // rows that a sample looks up, which are added
  std::int64_t batch = 0;    // samples
  double skew = 0;           // of RowPopularity
  std::int64_t ttRank = 0;   // kept as a tensor train of this rank; 0: as it is

  double bytes() const noexcept;
};

struct LookupDevice {
  double dramBytesPerNs = 0;
  double cacheBytesPerNs = 0;
  double cacheBytes = 0;
  double flopsPerNs = 0;
};

// The part of the lookups that finds its row in the cache, if `liveTables` tables share the cache.
// From 0 to 1. If rows differ in popularity, the cache holds the most popular ones. Requires: the
// table is not compressed.
double cacheHits(const EmbeddingTable& table, const LookupDevice& device, double liveTables);

// All of a row, an index and a result moves in sectors of 32 bytes through the cache; indices,
// results and rows that are not in the cache also through DRAM. Narrow rows take longer by a factor
// that the authors measured.
//
// A compressed table computes each row that it looks up. Its tensors are in the cache.
double lookupForwardNs(const EmbeddingTable& table, const LookupDevice& device, double liveTables);
// Rows are read and written, and each number is multiplied and added once. A compressed table
// computes its products again, and then the gradients of both factors of each: three times the
// operations.
double lookupBackwardNs(const EmbeddingTable& table, const LookupDevice& device, double liveTables);

}  // namespace sonde::engine::models
