#include "analysis/engine/models/kernels/embedding_lookup.h"

#include <algorithm>
#include <cmath>

namespace sonde::engine::models {
namespace {

constexpr double kOffsetBytes = 32 + 64;  // of the table and of a sample

double inSectors(double bytes) {
  constexpr double kSector = 32;
  return kSector * std::ceil(bytes / kSector);
}

// For a sample.
struct Traffic {
  double indices = 0;
  double rows = 0;
  double result = 0;
};

Traffic trafficOf(const EmbeddingTable& table) {
  const double row = inSectors(4.0 * static_cast<double>(table.dim));
  const auto pooling = static_cast<double>(table.pooling);
  return {inSectors(4 * pooling), pooling * row, row};
}

// The time of all samples, where rows move `times` times.
double memoryNs(const EmbeddingTable& table,
                const LookupDevice& device,
                double liveTables,
                double times) {
  const Traffic of = trafficOf(table);
  const double misses = 1 - cacheHits(table, device, liveTables);
  const double cache = kOffsetBytes + of.indices + times * of.rows + of.result;
  const double dram = of.indices + misses * times * of.rows + of.result;
  return static_cast<double>(table.batch) *
         std::max(dram / device.dramBytesPerNs, cache / device.cacheBytesPerNs);
}

}  // namespace

double cacheHits(const EmbeddingTable& table, const LookupDevice& device, double liveTables) {
  constexpr double kUsable = 0.9;  // of the cache
  const auto rows = static_cast<double>(table.rows);
  const double lookups = static_cast<double>(table.batch) * static_cast<double>(table.pooling);
  if (lookups <= 0 || rows <= 0)
    return 0;
  const double room =
      kUsable * device.cacheBytes / (liveTables * 4 * static_cast<double>(table.dim));
  const double unique = -rows * std::expm1(lookups * std::log1p(-1 / rows));
  if (unique <= room)
    return std::max(0.0, 1 - unique / lookups);
  const double cached = std::min({room, rows, lookups});
  return std::max(0.0, 1 - (cached + (lookups - cached) * (rows - cached) / rows) / lookups);
}

double lookupForwardNs(const EmbeddingTable& table, const LookupDevice& device, double liveTables) {
  constexpr double kNarrow = 1.1;
  constexpr double kNarrowest = 1.55;
  const double factor = table.dim > 64 ? 1 : table.dim > 32 ? kNarrow : kNarrowest;
  return factor * memoryNs(table, device, liveTables, 1);
}

double lookupBackwardNs(const EmbeddingTable& table,
                        const LookupDevice& device,
                        double liveTables) {
  const double flops = 2.0 * static_cast<double>(table.batch) * static_cast<double>(table.pooling) *
                       static_cast<double>(table.dim);
  return std::max(memoryNs(table, device, liveTables, 2), flops / device.flopsPerNs);
}

}  // namespace sonde::engine::models
