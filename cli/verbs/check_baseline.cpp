#include "cli/verbs/check_baseline.h"

#include "analysis/engine/diff/run_files.h"
#include "cli/shell/open_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include <CLI/CLI.hpp>

namespace sonde::cli {

void addBaselineOptions(CLI::App& app, BaselineOptions& options) {
  app.add_option("--baseline",
                 options.baseline,
                 "compare with earlier runs: traces, folders, or files of sonde baseline")
      ->type_name("BASELINE...");
  app.add_option("--repeats",
                 options.repeats,
                 "more runs of the judged program, for the comparison only: traces and folders")
      ->type_name("TRACE...");
  app.add_flag("--force", options.force, "compare although the hardware of the runs differs");
}

Result<void> checkBaselineOptions(const BaselineOptions& options, const std::string& output) {
  const auto refused = [](const char* message) {
    return Error{ErrorCode::InvalidArgument, message};
  };
  if (options.baseline.empty() && !options.repeats.empty())
    return refused("--repeats is for --baseline: add it, or leave --repeats out");
  if (options.baseline.empty() && options.force)
    return refused("--force is for --baseline: add it, or leave --force out");
  SONDE_TRY(checkApart(output, options.baseline));
  return checkApart(output, options.repeats);
}

Result<std::unique_ptr<rules::Baselines>> openBaselines(const BaselineOptions& options,
                                                        const std::vector<std::string>& traces) {
  if (options.baseline.empty())
    return std::unique_ptr<rules::Baselines>();
  std::vector<std::string> words = traces;
  words.insert(words.end(), options.repeats.begin(), options.repeats.end());
  SONDE_TRY(engine::diff::runsOf(words));  // refuses a run that is given twice
  std::vector<engine::diff::RunFiles> judged = {traces};
  SONDE_TRY_ASSIGN(const std::vector<engine::diff::RunFiles> repeats,
                   engine::diff::runsOf(options.repeats));
  judged.insert(judged.end(), repeats.begin(), repeats.end());
  SONDE_TRY_ASSIGN(std::unique_ptr<rules::Baselines> baselines,
                   rules::Baselines::open(options.baseline, std::move(judged)));
  const auto other = baselines->otherHardware();
  if (other && !options.force)
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{}: record a baseline on the same hardware, or compare anyway with "
                             "--force",
                             *other)};
  return baselines;
}

void noteBaselines(const rules::Baselines* baselines,
                   const rules::Configuration& configuration,
                   rules::CheckReport& report) {
  if (baselines == nullptr)
    return;
  if (const auto other = baselines->otherHardware())
    report.notes.push_back(
        fmt::format("--force compares runs of different hardware, so their times may differ for "
                    "that reason: {}",
                    *other));
  if (std::none_of(configuration.rules.begin(), configuration.rules.end(), [](const auto& rule) {
        return rule.info->runsByItself != rules::RunsByItself::Always;
      }))
    report.notes.emplace_back(
        "no rule of the file compares with the baseline: add regression to [rules]");
}

}  // namespace sonde::cli
