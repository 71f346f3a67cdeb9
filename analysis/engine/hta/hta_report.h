// A report by the definitions of HolisticTraceAnalysis, for comparison with its numbers. Plain values;
// reading uses the database's thread.
#pragma once

#include "analysis/engine/hta/hta_breakdown.h"
#include "analysis/engine/hta/hta_streams.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::hta {

struct HtaRank {
  std::string name;  // "rank 3"
  std::optional<std::int64_t> rank;
  Temporal temporal;
  std::optional<double> overlap;
  std::vector<KernelTime> kernels;
  std::vector<StreamIdle> idle;
  std::vector<StreamQueue> queues;
  std::vector<MemoryBandwidth> bandwidth;
  LaunchCounts launches;
};

struct HtaReport {
  std::vector<HtaRank> ranks;  // those with device work
  std::vector<std::int64_t> steps;
  std::vector<TypeTime> types;
  std::vector<std::int64_t> stragglers;
};

Result<HtaReport> readHta(const store::Database& trace);

}  // namespace sonde::engine::hta
