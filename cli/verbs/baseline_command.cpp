#include "analysis/engine/diff/bounded_runs.h"
#include "analysis/engine/diff/run_files.h"
#include "analysis/engine/statistics/series.h"
#include "analysis/store/trace_name.h"
#include "cli/shell/command.h"
#include "cli/shell/open_job.h"
#include "cli/text/table.h"
#include "cli/text/word_option.h"
#include "cli/verbs/baseline_learn.h"
#include "rules/baseline/baseline_document.h"
#include "rules/baseline/baseline_file.h"
#include "rules/baseline/baselines.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

namespace diff = engine::diff;

enum class BaselineAction { Accept, Learn, Show };

class BaselineCommand : public Command {
 public:
  const char* name() const override { return "baseline"; }
  const char* summary() const override {
    return "accept runs as the baseline of sonde check, or learn what always held in them";
  }
  const char* details() const override {
    return "accept writes the times of the runs to a small file for `sonde check --baseline`. "
           "TRACE are traces and folders, as sides of `sonde diff`. Traces of a job's ranks are "
           "one run. Accept five runs or more.\n"
           "learn finds out what held in every iteration of five good runs or more, with different "
           "seeds: order and number of calls, shapes, equality between ranks, ranges of "
           "statistics. "
           "The rule learned-invariants judges by it.\n"
           "show prints a file: when it was written and its runs, or its invariants.\n"
           "\nExamples:\n"
           "  sonde baseline accept runs/ -o main.json\n"
           "  sonde baseline accept run*.sonde -o main.json --by operation,kernel,phase -f\n"
           "  sonde baseline learn good/ -o learned.json\n"
           "  sonde baseline show main.json\n"
           "  sonde check new.sonde --baseline main.json learned.json\n";
  }
  void declare(CLI::App& app) override;
  int run() override;

 private:
  Result<void> checkOptions() const;
  Result<rules::BaselineFile> accepted() const;
  int accept() const;
  int learn() const;
  int show() const;
  int showLearned(const nlohmann::json& document) const;
  int showAccepted(const nlohmann::json& document) const;

  BaselineAction action_ = BaselineAction::Show;
  std::vector<std::string> files_;
  std::vector<std::string> by_ = {"operation", "kernel"};
  bool isByGiven_ = false;
  std::string output_;
  bool force_ = false;
  Format format_ = Format::Table;
};

void BaselineCommand::declare(CLI::App& app) {
  addFormatOption(app, format_);
  app.add_option("-o,--output", output_, "accept, learn: write this file")->type_name("FILE");
  app.add_option_function<std::vector<std::string>>(
         "--by",
         [this](const std::vector<std::string>& words) {
           by_ = words;
           isByGiven_ = true;
         },
         "accept: parts of an iteration to keep (operation,kernel)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("WORDS");
  app.add_flag("-f,--force", force_, "accept, learn: replace the file if it exists");
  takeOneOf<BaselineAction>({{"accept", BaselineAction::Accept},
                             {"learn", BaselineAction::Learn},
                             {"show", BaselineAction::Show}},
                            "action",
                            app.add_option("ACTION", action_, "what to do")->required());
  app.add_option("FILE", files_, "accept, learn: traces and folders; show: a file of them")
      ->required();
}

Result<void> BaselineCommand::checkOptions() const {
  const auto refused = [](const char* message) {
    return Error{ErrorCode::InvalidArgument, message};
  };
  if (action_ == BaselineAction::Show) {
    if (!output_.empty() || isByGiven_ || force_)
      return refused("-o, --by and -f are for accept and learn: leave them out");
    if (files_.size() != 1)
      return refused("show prints one file: give one");
    return {};
  }
  const bool isLearn = action_ == BaselineAction::Learn;
  if (output_.empty())
    return refused(isLearn ? "learn needs -o FILE: give the file to write"
                           : "accept needs -o FILE: give the file to write");
  if (isLearn && isByGiven_)
    return refused("--by is for accept: leave it out");
  if (!isLearn && format_ != Format::Table)
    return refused("--format is for show and learn: leave it out");
  SONDE_TRY(diff::dimensionsOf(by_));
  SONDE_TRY(checkApart(output_, files_));
  return store::checkOutput(output_, force_);
}

// The same for all runs.
Result<diff::Hardware> commonHardware(const std::vector<diff::RunFiles>& runs) {
  SONDE_TRY_ASSIGN(diff::Hardware first, rules::readRunHardware(runs.front()));
  for (const diff::RunFiles& run : runs) {
    SONDE_TRY_ASSIGN(const diff::Hardware other, rules::readRunHardware(run));
    if (other != first)
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("'{}' ran on {}, but '{}' ran on {}: accept runs of the same "
                               "hardware",
                               run.front(),
                               diff::textOf(other),
                               runs.front().front(),
                               diff::textOf(first))};
  }
  return first;
}

std::string nowInUtc() {
  return fmt::format(
      "{:%Y-%m-%dT%H:%M:%SZ}",
      fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

Result<rules::BaselineFile> BaselineCommand::accepted() const {
  SONDE_TRY_ASSIGN(const std::vector<diff::RunFiles> runs, diff::runsOf(files_));
  if (runs.size() > diff::kMostBaselineRuns)
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("there are {} runs, but a baseline has at most {}: give fewer",
                             runs.size(),
                             diff::kMostBaselineRuns)};
  rules::BaselineFile baseline;
  baseline.created = nowInUtc();
  baseline.by = by_;
  SONDE_TRY_ASSIGN(baseline.hardware, commonHardware(runs));
  SONDE_TRY_ASSIGN(std::vector<diff::RunTimes> times, rules::readBaselineTimes(runs, by_));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (times[i].iterations == 0)
      return notFound(fmt::format("'{}' has no iteration left after the warm-up: record more",
                                  runs[i].front()));
    baseline.runs.push_back({runs[i].front(), std::move(times[i])});
  }
  return baseline;
}

int BaselineCommand::accept() const {
  const auto baseline = accepted();
  if (!baseline)
    return failToAnswer(name(), baseline.error());
  if (const auto written = writeOut(output_, rules::renderBaseline(*baseline)); !written)
    return fail(name(), written.error());
  std::size_t iterations = 0;
  for (const rules::BaselineFileRun& run : baseline->runs)
    iterations += run.times.iterations;
  printOut(fmt::format("{}: {} run{}, {} iterations, {}\n",
                       output_,
                       baseline->runs.size(),
                       baseline->runs.size() == 1 ? "" : "s",
                       iterations,
                       diff::textOf(baseline->hardware)));
  return kExitOk;
}

double medianIterationNs(const diff::RunTimes& run) {
  std::vector<double> all;
  for (const auto& [subject, times] : run.times)
    if (subject.kind == diff::Kind::Iteration)
      all.insert(all.end(), times.begin(), times.end());
  return all.empty() ? 0 : engine::statistics::median(std::move(all));
}

int BaselineCommand::learn() const {
  const auto file = learnFrom(files_, nowInUtc());
  if (!file)
    return failToAnswer(name(), file.error());
  if (const auto written = writeOut(output_, rules::renderLearned(*file)); !written)
    return fail(name(), written.error());
  printOut(renderSummary(output_, *file, format_));
  return kExitOk;
}

int BaselineCommand::show() const {
  const std::string& path = files_.front();
  const auto document = rules::readBaselineDocument(path);
  if (!document)
    return fail(name(), document.error());
  return rules::kindOf(*document) == rules::kLearnedKind ? showLearned(*document)
                                                         : showAccepted(*document);
}

int BaselineCommand::showLearned(const nlohmann::json& document) const {
  const auto file = rules::readLearnedFile(files_.front(), document);
  if (!file)
    return fail(name(), file.error());
  printOut(renderShown(*file, format_));
  return kExitOk;
}

int BaselineCommand::showAccepted(const nlohmann::json& document) const {
  const auto baseline = rules::readBaselineFile(files_.front(), document);
  if (!baseline)
    return fail(name(), baseline.error());
  Table table{{textColumn("name", "run"),
               countColumn("ranks", "ranks"),
               countColumn("iterations", "iterations"),
               durationColumn("iteration_ns", "an iteration"),
               countColumn("subjects", "subjects")},
              {}};
  for (const rules::BaselineFileRun& run : baseline->runs)
    table.rows.push_back({Cell(run.name),
                          Cell(static_cast<std::int64_t>(run.times.ranks)),
                          Cell(static_cast<std::int64_t>(run.times.iterations)),
                          Cell(static_cast<std::int64_t>(medianIterationNs(run.times))),
                          Cell(static_cast<std::int64_t>(run.times.times.size()))});
  if (format_ == Format::Csv)
    printOut(renderCsv(table));
  else if (format_ == Format::Json)
    printOut(dumpJson({{"schema", 1},
                       {"created", baseline->created},
                       {"by", baseline->by},
                       {"hardware", diff::textOf(baseline->hardware)},
                       {"runs", rowsAsObjects(table)}}));
  else
    printOut(fmt::format("accepted  {}\nhardware  {}\nby        {}\n\n{}",
                         baseline->created,
                         diff::textOf(baseline->hardware),
                         fmt::join(baseline->by, ","),
                         renderText(table)));
  return kExitOk;
}

int BaselineCommand::run() {
  if (const auto fine = checkOptions(); !fine)
    return fail(name(), fine.error());
  switch (action_) {
    case BaselineAction::Accept:
      return accept();
    case BaselineAction::Learn:
      return learn();
    case BaselineAction::Show:
      break;
  }
  return show();
}

}  // namespace

std::unique_ptr<Command> makeBaselineCommand() {
  return std::make_unique<BaselineCommand>();
}

}  // namespace sonde::cli
