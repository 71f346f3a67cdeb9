// A report by the definitions of HolisticTraceAnalysis (`--compat hta`), for comparison with its
// numbers. Plain values and pure functions; reading uses the database's thread.
#pragma once

#include "analysis/engine/hta/hta_breakdown.h"
#include "analysis/engine/hta/hta_streams.h"
#include "analysis/store/database.h"
#include "base/result.h"
#include "cli/text/table.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace sonde::cli {

struct HtaRank {
  std::string name;  // "rank 3"
  std::optional<std::int64_t> rank;
  engine::hta::Temporal temporal;
  std::optional<double> overlap;
  std::vector<engine::hta::KernelTime> kernels;
  std::vector<engine::hta::StreamIdle> idle;
  std::vector<engine::hta::StreamQueue> queues;
  std::vector<engine::hta::MemoryBandwidth> bandwidth;
  engine::hta::LaunchCounts launches;
};

struct HtaReport {
  std::vector<HtaRank> ranks;  // those with device work
  std::vector<std::int64_t> steps;
  std::vector<engine::hta::TypeTime> types;
  std::vector<std::int64_t> stragglers;
};

Result<HtaReport> readHta(const store::Database& trace);

std::string renderHta(const HtaReport& report);
// Temporal breakdown and overlap, one row per rank.
Table htaTable(const HtaReport& report);
// Replaces `ranks` by HTA's numbers and adds all tables as `hta`. Durations are in ns, rounded to
// whole microseconds.
void addHtaJson(nlohmann::json& document, const HtaReport& report);

}  // namespace sonde::cli
