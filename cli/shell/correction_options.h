// The options of verbs that take the cost of recording out of times: --raw, --overhead FILE. Plain
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
  std::vector<std::string> overhead;  // files of sonde calibrate
};

// `several`: --overhead may be given more than once, for traces of different probes.
void addCorrectionOptions(CLI::App& app, CorrectionOptions& options, bool several = false);

// What the first file that is for `trace` says; nullopt: no file is named. The error of the last
// one where none is for it.
Result<std::optional<engine::correction::CostSet>> measuredCosts(const CorrectionOptions& options,
                                                                 const store::Database& trace);

// As recorded alone with --raw.
Result<engine::metrics::Clocks> readClocks(const CorrectionOptions& options,
                                           const store::Database& trace);

}  // namespace sonde::cli
