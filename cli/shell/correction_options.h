// The options of verbs that subtract the cost of recording: --raw, --overhead FILE. Plain
// functions; reading uses the database's thread.
#pragma once

#include "analysis/engine/correction/cost_table.h"
#include "analysis/engine/metrics/clock.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sonde::cli {

struct CorrectionOptions {
  bool raw = false;
  std::vector<std::string> overhead;  // files from sonde calibrate
};

// `several`: --overhead may be repeated, for traces with different probes.
void addCorrectionOptions(CLI::App& app, CorrectionOptions& options, bool several = false);

// The costs in the first file that matches `trace`; nullopt: no file was given. If none matches:
// the last one's error.
Result<std::optional<engine::correction::CostSet>> measuredCosts(const CorrectionOptions& options,
                                                                 const store::Database& trace);

// As recorded with --raw. Without --overhead also if the times are those of a replay.
Result<engine::metrics::Clocks> readClocks(const CorrectionOptions& options,
                                           const store::Database& trace);

}  // namespace sonde::cli
