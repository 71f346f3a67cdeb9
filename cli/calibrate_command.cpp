#include "cli/command.h"
#include "cli/cost_file.h"
#include "cli/progress_bar.h"
#include "cli/table.h"
#include "session/calibration_runs.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace sonde::cli {
namespace {

class CalibrateCommand : public Command {
 public:
  const char* name() const override { return "calibrate"; }
  const char* summary() const override {
    return "find out what recording costs, by runs of a command with probes off and on";
  }
  const char* details() const override {
    return "Runs COMMAND several times under `sonde run`: with all probes, without those that can "
           "be "
           "switched off, and with\n"
           "each of these alone, in rounds, so that a machine whose speed changes does no harm. "
           "How "
           "long iterations take tells\n"
           "what each probe costs. COMMAND has to make 20 iterations or more, always the same. "
           "What it prints goes nowhere.\n"
           "FILE is for `sonde breakdown --overhead`; it holds for traces with the same probes, of "
           "the same build of Sonde,\n"
           "on the same kind of processor. `sonde run --calibrate` finds the same out in one "
           "run.\n\n"
           "Examples:\n"
           "  sonde calibrate -- python3 train.py --steps 200\n"
           "  sonde calibrate -o cost.json --sources +python -- python3 train.py --steps 200\n"
           "  sonde breakdown job.sonde --overhead cost.json\n";
  }
  const char* operands() const override { return "-- COMMAND [ARGUMENT]..."; }
  void declare(CLI::App& app) override {
    app_ = &app;
    app.prefix_command();
    addFormatOption(app, format_);
    app.add_option("-o,--output", output_, "write the costs to this file, as JSON")
        ->type_name("FILE");
    app.add_option(
           "--rounds", options_.rounds, "how often each kind of run is made (5; 3 at least)")
        ->check(CLI::Range(3, 1000))
        ->type_name("N");
    app.add_option("--sources", sources_, "which probes record, as of sonde run")
        ->type_name("LIST");
  }
  int run() override;

 private:
  std::string render(const session::CalibrationOutcome& outcome) const;

  CLI::App* app_ = nullptr;
  Format format_ = Format::Table;
  std::string output_;
  std::string sources_;
  session::CalibrationOptions options_;
};

// A sentence on the probes that the runs tell no better than it was known before; empty: none.
std::string knownBefore(const engine::calibration::CalibratedCosts& costs) {
  std::string list;
  for (const auto& share : costs.shares)
    if (!share.found)
      list += fmt::format("{}{} ({})",
                          list.empty() ? "" : ", ",
                          share.probe,
                          humanDuration(static_cast<std::int64_t>(share.ns)));
  return list.empty() ? list
                      : fmt::format(
                            "Of this, as known before, since the runs are too few or too "
                            "noisy to tell it better: {}.\n",
                            list);
}

std::string CalibrateCommand::render(const session::CalibrationOutcome& outcome) const {
  if (format_ == Format::Json)
    return costFileOf(outcome);
  Table table;
  table.columns = {{"probe", "probe"},
                   {"api", "what it records"},
                   {"mean_ns", "costs", ColumnKind::DurationNs},
                   {"error_ns", "standard error", ColumnKind::DurationNs},
                   {"method", "found by"}};
  for (const engine::correction::MeasuredCost& cost : outcome.costs.costs.rows)
    table.rows.push_back({Cell(cost.probe),
                          Cell(cost.api),
                          Cell(static_cast<std::int64_t>(cost.cost.sumNs())),
                          Cell(static_cast<std::int64_t>(cost.errorNs)),
                          Cell(cost.method)});
  if (format_ == Format::Csv)
    return renderCsv(table);
  const auto& costs = outcome.costs;
  return fmt::format(
      "{}\nOf an iteration of {} recording took {} ± {} ({:.2f} % ± {:.2f} %), in {} "
      "runs with {} iterations.\n{}",
      renderText(table),
      humanDuration(static_cast<std::int64_t>(costs.iterationNs)),
      humanDuration(static_cast<std::int64_t>(costs.overheadNs)),
      humanDuration(static_cast<std::int64_t>(costs.overheadErrorNs)),
      100 * costs.overheadNs / costs.iterationNs,
      100 * costs.overheadErrorNs / costs.iterationNs,
      outcome.runs,
      humanCount(costs.iterations),
      knownBefore(costs));
}

int CalibrateCommand::run() {
  options_.command = app_->remaining();
  if (!options_.command.empty() && options_.command.front() == "--")
    options_.command.erase(options_.command.begin());
  if (options_.command.empty()) {
    complain(name(),
             "no command given: write it after --, as in `sonde calibrate -- python3 train.py`");
    return kExitUsage;
  }
  if (app_->count("--sources") > 0)
    options_.sources = sources_;
  Result<session::CalibrationOutcome> outcome = Error{ErrorCode::Io, ""};
  {
    const ProgressBar bar(name());
    options_.progress = ProgressBar::progress();
    outcome = session::calibrateByRuns(options_);
  }
  if (!outcome)
    return fail(name(), outcome.error());
  if (!output_.empty())
    if (const auto written = writeOut(output_, costFileOf(*outcome)); !written)
      return fail(name(), written.error());
  printOut(render(*outcome));
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> makeCalibrateCommand() {
  return std::make_unique<CalibrateCommand>();
}

}  // namespace sonde::cli
