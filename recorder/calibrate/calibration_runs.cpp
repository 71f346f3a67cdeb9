#include "recorder/calibrate/calibration_runs.h"

#include "analysis/engine/calibration/separate_runs.h"
#include "analysis/model/words.h"
#include "analysis/store/trace_file.h"
#include "base/spawned.h"
#include "collector/wire/calibration.h"
#include "recorder/environment/environment.h"
#include "recorder/options/sources.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>

namespace sonde::recorder {
namespace {

namespace fs = std::filesystem;
using engine::calibration::CalibrationRun;
using engine::correction::CostTable;

// The last line of the command's error output. If the message may be from sonde run itself, because
// the command wrote nothing or may not have started, the first one of sonde run.
std::string reasonIn(const fs::path& path, bool mayBeOurs) {
  std::string last;
  std::string ours;
  if (FILE* const file = std::fopen(path.c_str(), "re"); file != nullptr) {
    char line[1024];
    while (std::fgets(line, sizeof line, file) != nullptr) {
      const std::string_view text(line);
      if (text.starts_with("sonde run:"))
        ours = ours.empty() ? text : ours;
      else if (text.find_first_not_of(" \n") != std::string_view::npos)
        last = text;
    }
    std::fclose(file);
  }
  const std::string& reason = last.empty() && mayBeOurs ? ours : last;
  return reason.substr(0, reason.find('\n'));
}

// See CalibrationPrecision.
double reachedIn(const engine::calibration::CalibratedCosts& costs) {
  const bool anyFound = std::any_of(
      costs.shares.begin(), costs.shares.end(), [](const auto& share) { return share.found; });
  return (anyFound ? costs.noiseNs : costs.overheadErrorNs) / costs.iterationNs;
}

constexpr int kFewestRounds = 5;  // with fewer, a standard error may be small by chance

class Calibration {
 public:
  Calibration(const CalibrationOptions& options, fs::path folder)
      : options_(options), folder_(std::move(folder)) {}

  Result<CalibrationOutcome> run() {
    SONDE_TRY(firstRun());
    CalibrationOutcome outcome;
    while (outcome.rounds < options_.rounds &&
           !(outcome.precision && outcome.precision->isEnough())) {
      SONDE_TRY(makeRound(outcome.rounds++));
      if (outcome.rounds != options_.rounds &&
          (!options_.precision || outcome.rounds < kFewestRounds))
        continue;
      SONDE_TRY_ASSIGN(outcome.costs, engine::calibration::calibrateRuns(runs_, *fitted_));
      restoreUnrecorded(outcome.costs.costs);
      if (options_.precision)
        outcome.precision = {*options_.precision, reachedIn(outcome.costs)};
    }
    outcome.machine = machine_;
    outcome.runs = static_cast<int>(runs_.size());
    return outcome;
  }

 private:
  fs::path tracePath() const { return folder_ / "run.sonde"; }

  Result<void> makeRound(int round) {
    std::shuffle(configurations_.begin(), configurations_.end(), random_);
    for (const std::uint32_t off : configurations_) {
      if (round == 0 && off == 0)
        continue;  // the first run had this configuration
      tellProgress();
      SONDE_TRY(record(off));
      SONDE_TRY_ASSIGN(const store::Database trace, store::openTrace(tracePath()));
      SONDE_TRY(add(trace, static_cast<std::size_t>(round)));
    }
    return {};
  }

  void tellProgress() const {
    const double all = static_cast<double>(configurations_.size()) * options_.rounds;
    options_.progress(
        fmt::format(
            "run {} of {}{:.0f}", runs_.size() + 1, options_.precision ? "at most " : "", all),
        static_cast<double>(runs_.size()) / all);
  }

  // Runs with all probes; determines which probes can be switched off.
  Result<void> firstRun() {
    options_.progress("run 1", 0);
    SONDE_TRY(record(0));
    SONDE_TRY_ASSIGN(const store::Database trace, store::openTrace(tracePath()));
    SONDE_TRY_ASSIGN(CostTable known, CostTable::read(trace));
    known_ = known;
    known.assumeFreeWhileOff("cuda");  // a run without it does not load CUPTI
    fitted_.emplace(std::move(known));
    SONDE_TRY(add(trace, 0));
    SONDE_TRY(readMachine(trace));
    std::uint32_t recorded = 0;
    for (const auto& [probe, ns] : runs_.front().costNs)
      if (ns > 0)
        recorded |= static_cast<std::uint32_t>(model::probeBit(probe)) & wire::kMaskableProbes;
    if (recorded == 0)
      return engine::calibration::nothingToCalibrate();
    configurations_ = {0, recorded};
    for (std::uint32_t probe = 1; probe != 0 && (recorded & (recorded - 1)) != 0; probe <<= 1)
      if ((recorded & probe) != 0)
        configurations_.push_back(recorded & ~probe);
    return {};
  }

  // The costs must also hold for runs that switch probes off in blocks, in which CUPTI stays
  // loaded.
  void restoreUnrecorded(engine::correction::CostSet& costs) const {
    for (engine::correction::MeasuredCost& row : costs.rows)
      for (const engine::correction::MeasuredCost& known : known_->rows())
        if (row.probe == "cuda" && known.probe == row.probe && known.api == row.api)
          row.unrecordedNs =
              engine::calibration::unrecordedShare(known) * std::max(row.cost.sumNs(), 0.0);
  }

  Result<void> readMachine(const store::Database& trace) {
    SONDE_TRY_ASSIGN(machine_.sources,
                     trace.queryText("SELECT value FROM meta WHERE key = 'sources'"));
    SONDE_TRY_ASSIGN(machine_.build, trace.queryText("SELECT value FROM meta WHERE key = 'build'"));
    SONDE_TRY_ASSIGN(machine_.cpuModel,
                     trace.queryText("SELECT coalesce(cpu_model, '') FROM host LIMIT 1"));
    return {};
  }

  Result<void> add(const store::Database& trace, std::size_t round) {
    SONDE_TRY_ASSIGN(CalibrationRun run, engine::calibration::readCalibrationRun(trace, *fitted_));
    run.round = round;
    runs_.push_back(std::move(run));
    return {};
  }

  Result<void> record(std::uint32_t off) {
    std::vector<std::string> arguments{"sonde", "run", "-f", "-o", tracePath().string()};
    if (options_.sources)
      arguments.insert(arguments.end(), {"--sources", *options_.sources});
    if (off != 0)
      arguments.push_back("--calibrate=without:" + sourceWords(off));
    arguments.emplace_back("--");
    arguments.insert(arguments.end(), options_.command.begin(), options_.command.end());
    const fs::path errors = folder_ / "stderr";
    std::error_code ignored;
    fs::remove(tracePath(), ignored);  // so that no trace of an earlier run is read
    const auto status = runToItsEnd("/proc/self/exe", arguments, errors);
    if (!status)
      return Error{ErrorCode::Io,
                   fmt::format("cannot start sonde run: {}", status.error().message)};
    if (WIFEXITED(*status) && WEXITSTATUS(*status) == 0)
      return {};
    if (WIFSIGNALED(*status))
      return Error{ErrorCode::Io, fmt::format("interrupted by signal {}", WTERMSIG(*status))};
    // sonde run itself may exit with 125 to 127.
    const int exit = WEXITSTATUS(*status);
    const std::string reason = reasonIn(errors, exit >= 125 && exit <= 127);
    return Error{ErrorCode::Io,
                 fmt::format("{} ended with status {}{}: run it without Sonde to see why",
                             options_.command.front(),
                             exit,
                             reason.empty() ? "" : fmt::format(" ({})", reason))};
  }

  const CalibrationOptions& options_;
  fs::path folder_;
  std::mt19937 random_{1};
  std::optional<CostTable> known_;   // from the first run
  std::optional<CostTable> fitted_;  // the same, restricted to what these runs can measure
  CalibratedMachine machine_;
  std::vector<std::uint32_t> configurations_;  // the probes that are off in each
  std::vector<CalibrationRun> runs_;
};

}  // namespace

Result<CalibrationOutcome> calibrateByRuns(const CalibrationOptions& options) {
  SONDE_TRY_ASSIGN(const TemporaryFolder folder, TemporaryFolder::make());
  return Calibration(options, folder.path()).run();
}

}  // namespace sonde::recorder
