#include "analysis/store/trace_name.h"
#include "cli/shell/command.h"
#include "cli/shell/cost_file.h"
#include "cli/shell/progress_bar.h"
#include "cli/text/number_checks.h"
#include "cli/text/table.h"
#include "recorder/calibrate/calibration_runs.h"
#include "recorder/options/sources.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace sonde::cli {
namespace {

constexpr int kMostRounds = 200;  // with --precision

class CalibrateCommand : public Command {
 public:
  const char* name() const override { return "calibrate"; }
  const char* summary() const override {
    return "measure the cost of recording, in runs of a command with probes off and on";
  }
  const char* details() const override {
    return "Runs COMMAND several times under `sonde run`: with all probes, without the probes that "
           "can be\n"
           "switched off, and with each of these alone. It repeats them in rounds, so that a "
           "change of the\n"
           "machine's speed affects all kinds of runs. The durations of iterations give the cost "
           "of each probe.\n"
           "COMMAND must make at least 20 iterations, the same ones in each run. Its output is "
           "discarded.\n"
           "FILE is for `sonde breakdown --overhead`. It applies to traces with the same probes, "
           "of the same\n"
           "build of Sonde, on the same kind of processor. `sonde run --calibrate` measures the "
           "costs in one\n"
           "run, but only estimates the cost of CUPTI on a GPU.\n"
           "\nExamples:\n"
           "  sonde calibrate -- python3 train.py --steps 200\n"
           "  sonde calibrate -o cost.json --sources +python -- python3 train.py --steps 200\n"
           "  sonde calibrate --precision 0.5 -- python3 train.py --steps 200\n"
           "  sonde breakdown job.sonde --overhead cost.json\n";
  }
  const char* operands() const override { return "-- COMMAND [ARGUMENT]..."; }
  void declare(CLI::App& app) override {
    app_ = &app;
    app.prefix_command();
    addFormatOption(app, format_);
    app.add_option("-o,--output", output_, "write the costs to this file, as JSON")
        ->type_name("FILE");
    app.add_flag("-f,--force", force_, "replace the file if it exists");
    app.add_option(
           "--rounds", options_.rounds, "runs of each kind (5; with --precision at most 200)")
        ->check(CLI::Range(3, 1000))
        ->type_name("N");
    app.add_option("--precision",
                   precision_,
                   "stop once the standard error is at most this percentage of an iteration")
        ->check(positiveNumber())
        ->type_name("PERCENT");
    app.add_option("--sources", sources_, "probes that record, as in sonde run")->type_name("LIST");
  }
  int run() override;

 private:
  Result<void> checkOutput() const;
  std::string render(const recorder::CalibrationOutcome& outcome) const;

  CLI::App* app_ = nullptr;
  Format format_ = Format::Table;
  std::string output_;
  bool force_ = false;
  std::string sources_;
  double precision_ = 0;
  recorder::CalibrationOptions options_;
};

// The runs take long, so an unwritable file is reported first.
Result<void> CalibrateCommand::checkOutput() const {
  return output_.empty() ? Result<void>() : store::checkOutput(output_, force_);
}

// A sentence on the probes whose cost the runs know no better than before; empty: none.
std::string knownBefore(const engine::calibration::CalibratedCosts& costs) {
  std::string list;
  for (const auto& share : costs.shares)
    if (!share.found)
      list += fmt::format("{}{} ({})",
                          list.empty() ? "" : ", ",
                          share.probe,
                          humanDuration(static_cast<std::int64_t>(share.ns)));
  return list.empty()
             ? list
             : fmt::format(
                   "The runs are too few or too noisy to improve on these known costs: {}.\n",
                   list);
}

// Reports that the runs did not reach the requested precision.
std::string impreciseText(const recorder::CalibrationPrecision& precision, int rounds) {
  return fmt::format(
      "after {} rounds the standard error is {:.2g} % of an iteration, and --precision asks for "
      "{:g} %: make more rounds (--rounds) or longer runs, or use a quieter machine",
      rounds,
      100 * precision.reached,
      100 * precision.asked);
}

std::string CalibrateCommand::render(const recorder::CalibrationOutcome& outcome) const {
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
      "{}\n"
      "An iteration takes {}. Recording takes {} ± {} of it ({:.2f} % ± {:.2f} %), measured in {} "
      "runs with {} iterations.\n"
      "{}",
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
  if (app_->count("--sources") > 0) {
    if (const auto known = recorder::parseSources(sources_); !known)
      return fail(name(), known.error());
    options_.sources = sources_;
  }
  if (app_->count("--precision") > 0)
    options_.precision = precision_ / 100;
  if (app_->count("--precision") > 0 && app_->count("--rounds") == 0)
    options_.rounds = kMostRounds;
  if (const auto checked = checkOutput(); !checked)
    return fail(name(), checked.error());
  Result<recorder::CalibrationOutcome> outcome = Error{ErrorCode::Io, ""};
  {
    const ProgressBar bar(name());
    options_.progress = ProgressBar::progress();
    outcome = recorder::calibrateByRuns(options_);
  }
  if (!outcome)
    return fail(name(), outcome.error());
  printOut(render(*outcome));
  if (outcome->precision && !outcome->precision->isEnough())
    complain(name(), impreciseText(*outcome->precision, outcome->rounds));
  if (!output_.empty())
    if (const auto written = writeOut(output_, costFileOf(*outcome)); !written)
      return fail(name(), written.error());
  if (!output_.empty() && outcome->costs.costs.rows.empty())
    complain(name(),
             fmt::format("{} holds no costs, so --overhead refuses it: the runs could not measure "
                         "any probe; make more rounds (--rounds) or longer runs",
                         output_));
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> makeCalibrateCommand() {
  return std::make_unique<CalibrateCommand>();
}

}  // namespace sonde::cli
