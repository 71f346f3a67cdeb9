// The options of `sonde check` for a comparison with earlier runs. Plain functions; the verb's
// thread.
#pragma once

#include "base/result.h"
#include "rules/baseline/baselines.h"
#include "rules/engine/check.h"

#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sonde::cli {

struct BaselineOptions {
  std::vector<std::string> baseline;  // traces, folders and baseline files
  std::vector<std::string> repeats;   // more runs of the judged program
  bool force = false;                 // compare although the hardware differs
};

void addBaselineOptions(CLI::App& app, BaselineOptions& options);

// InvalidArgument: an option needs --baseline, or would be overwritten by `output`.
Result<void> checkBaselineOptions(const BaselineOptions& options, const std::string& output);

// nullptr without --baseline. InvalidArgument: the hardware differs, without --force; or a trace is
// given twice.
Result<std::unique_ptr<rules::Baselines>> openBaselines(const BaselineOptions& options,
                                                        const std::vector<std::string>& traces);

// Adds notes: the hardware differs, or no rule uses the baseline.
void noteBaselines(const rules::Baselines* baselines,
                   const rules::Configuration& configuration,
                   rules::CheckReport& report);

}  // namespace sonde::cli
