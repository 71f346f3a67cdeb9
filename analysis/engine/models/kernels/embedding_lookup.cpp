#include "analysis/engine/models/kernels/embedding_lookup.h"

#include "analysis/engine/models/kernels/row_popularity.h"
#include "analysis/engine/models/kernels/tt_table.h"

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

// The time of all samples of a compressed table, with `times` times the operations of its products.
double compressedNs(const EmbeddingTable& table, const LookupDevice& device, double times) {
  const TtShape shape = ttShapeOf(table.rows, table.dim, table.ttRank);
  const Traffic of = trafficOf(table);
  const double flops = times * shape.flopsOfRow() * static_cast<double>(table.pooling);
  const double tensors =
      4 * times * static_cast<double>(shape.readByRow()) * static_cast<double>(table.pooling);
  const double cache = kOffsetBytes + of.indices + tensors + of.result;
  return static_cast<double>(table.batch) *
         std::max({flops / device.flopsPerNs,
                   cache / device.cacheBytesPerNs,
                   (of.indices + of.result) / device.dramBytesPerNs});
}

}  // namespace

double EmbeddingTable::bytes() const noexcept {
  if (ttRank > 0)
    return 4.0 * static_cast<double>(ttShapeOf(rows, dim, ttRank).parameters());
  return 4.0 * static_cast<double>(rows) * static_cast<double>(dim);
}

double cacheHits(const EmbeddingTable& table, const LookupDevice& device, double liveTables) {
  constexpr double kUsable = 0.9;  // of the cache
  const auto rows = static_cast<double>(table.rows);
  const double lookups = static_cast<double>(table.batch) * static_cast<double>(table.pooling);
  if (lookups <= 0 || rows <= 0)
    return 0;
  const double room =
      kUsable * device.cacheBytes / (liveTables * 4 * static_cast<double>(table.dim));
  const RowPopularity popularity{table.rows, table.skew};
  if (table.skew > 0) {
    const double cached = std::min(room, rows);
    return std::max(
        0.0,
        shareOfFirst(popularity, cached) - occurringOfFirst(popularity, cached, lookups) / lookups);
  }
  const double unique = occurringOfFirst(popularity, rows, lookups);
  if (unique <= room)
    return std::max(0.0, 1 - unique / lookups);
  const double cached = std::min({room, rows, lookups});
  return std::max(0.0, 1 - (cached + (lookups - cached) * (rows - cached) / rows) / lookups);
}

double lookupForwardNs(const EmbeddingTable& table, const LookupDevice& device, double liveTables) {
  if (table.ttRank > 0)
    return compressedNs(table, device, 1);
  constexpr double kNarrow = 1.1;
  constexpr double kNarrowest = 1.55;
  const double factor = table.dim > 64 ? 1 : table.dim > 32 ? kNarrow : kNarrowest;
  return factor * memoryNs(table, device, liveTables, 1);
}

double lookupBackwardNs(const EmbeddingTable& table,
                        const LookupDevice& device,
                        double liveTables) {
  if (table.ttRank > 0)
    return compressedNs(table, device, 3);
  const double flops = 2.0 * static_cast<double>(table.batch) * static_cast<double>(table.pooling) *
                       static_cast<double>(table.dim);
  return std::max(memoryNs(table, device, liveTables, 2), flops / device.flopsPerNs);
}

}  // namespace sonde::engine::models
