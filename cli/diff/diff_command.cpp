#include "analysis/engine/diff/diff.h"
#include "analysis/engine/diff/iteration_times.h"
#include "analysis/engine/diff/run_times.h"
#include "analysis/store/trace_file.h"
#include "cli/diff/diff_output.h"
#include "cli/diff/diff_runs.h"
#include "cli/shell/command.h"
#include "cli/shell/communication_options.h"
#include "cli/shell/correction_options.h"
#include "cli/shell/progress_bar.h"
#include "cli/text/named_flags.h"
#include "cli/text/number_checks.h"
#include "cli/text/table.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace sonde::cli {
namespace {

namespace diff = engine::diff;

constexpr std::array<NamedFlag<diff::Dimensions>, 6> kComparable = {
    {{"operation", &diff::Dimensions::operation},
     {"kernel", &diff::Dimensions::kernel},
     {"phase", &diff::Dimensions::phase},
     {"module", &diff::Dimensions::module},
     {"category", &diff::Dimensions::category},
     {"rank", &diff::Dimensions::rank}}};

struct ReadOptions {
  diff::Dimensions by;
  std::optional<std::size_t> warmUp;
  CorrectionOptions correction;
  CommunicationOptions communication;
};

Result<std::vector<diff::IterationTimes>> readTrace(const std::string& path,
                                                    const ReadOptions& options) {
  SONDE_TRY_ASSIGN(store::Database trace, store::openTrace(path));
  SONDE_TRY(applyCommunication(options.communication, trace));
  SONDE_TRY_ASSIGN(const auto measured, measuredCosts(options.correction, trace));
  return diff::readIterationTimes(
      trace, options.by, {!options.correction.raw, measured ? &*measured : nullptr});
}

// Reads one run rank by rank: its traces need not be merged.
Result<diff::RunTimes> readRun(const RunFiles& files, const ReadOptions& options) {
  std::vector<diff::IterationTimes> ranks;
  for (const std::string& path : files) {
    auto found = readTrace(path, options);
    if (!found && found.error().message.find(path) != std::string::npos)
      return found.error();
    if (!found)
      return Error{found.error().code, fmt::format("'{}': {}", path, found.error().message)};
    for (diff::IterationTimes& rank : *found)
      ranks.push_back(std::move(rank));
  }
  if (ranks.empty())
    return Error{ErrorCode::NotFound,
                 fmt::format("there is no iteration in '{}', so there is nothing to compare: "
                             "annotate those of the program (sonde.iteration, SONDE_ITERATION), or "
                             "record with the probe torch",
                             files.front())};
  return diff::runOf(ranks, options.by.rank, options.warmUp);
}

Result<std::vector<diff::RunTimes>> readSide(const std::vector<RunFiles>& runs,
                                             const ReadOptions& options,
                                             const Progress& progress) {
  std::vector<diff::RunTimes> times;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    progress(runs[i].front(), static_cast<double>(i) / static_cast<double>(runs.size()));
    SONDE_TRY_ASSIGN(diff::RunTimes run, readRun(runs[i], options));
    times.push_back(std::move(run));
  }
  return times;
}

class DiffCommand : public Command {
 public:
  const char* name() const override { return "diff"; }
  const char* summary() const override {
    return "what is slower or faster in one set of runs than in another, and how sure that is";
  }
  const char* details() const override {
    return "Compares what an iteration takes, and what operations and kernels take in one. A and B "
           "are each a trace, or a folder: all traces in it, or in its folders. Traces of "
           "different "
           "ranks of one job are one run; all others are each a run. With --a and --b a side is "
           "named by several words.\n"
           "Identical runs differ, too: how much, only several runs a side tell. Record five of "
           "each, in turn, so that a machine that slows down slows both sides down.\n\n"
           "--by takes these words, with commas:\n"
           "  operation  on the host, by the innermost that is open; on devices compute, copy and "
           "comm that it launched\n"
           "  kernel     the kernels of each name\n"
           "  phase, module, category  as sonde breakdown has them\n"
           "  rank       each rank by itself; else their mean\n\n"
           "Examples:\n"
           "  sonde diff before.sonde after.sonde\n"
           "  sonde diff before/ after/ --all\n"
           "  sonde diff --a base1.sonde base2.sonde --b new1.sonde new2.sonde --by operation "
           "--format json\n";
  }
  void declare(CLI::App& app) override;
  int run() override;

 private:
  Result<ReadOptions> readOptions() const;
  Result<void> nameSides();
  std::string render(const DiffDocument& document) const;

  static constexpr std::size_t kQuietRows = 12;

  Format format_ = Format::Table;
  std::vector<std::string> by_ = {"operation", "kernel"};
  std::optional<std::size_t> skip_;
  double level_ = 5;  // per cent, like runNoise_
  double runNoise_ = 3;
  CorrectionOptions correction_;
  CommunicationOptions communication_;
  bool all_ = false;
  std::string first_;
  std::string second_;
  std::vector<std::string> a_;
  std::vector<std::string> b_;
};

void DiffCommand::declare(CLI::App& app) {
  addFormatOption(app, format_);
  app.add_option("--by", by_, "what is compared within an iteration (operation,kernel)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("WORDS");
  app.add_option("--skip",
                 skip_,
                 "iterations at the begin of each run that do not count (a tenth, 1 to 20)")
      ->check(count())
      ->type_name("N");
  app.add_option("--level", level_, "the chance of even one false difference, in per cent (5)")
      ->check(numberBetween(1e-6, 50))
      ->type_name("PERCENT");
  app.add_option("--run-noise",
                 runNoise_,
                 "with one run a side: what identical runs are taken to differ by (3)")
      ->check(numberBetween(0, 100))
      ->type_name("PERCENT");
  addCorrectionOptions(app, correction_, true);
  addCommunicationOptions(app, communication_);
  app.add_flag("--all", all_, "also the rows, beyond twelve, in which no difference can be shown");
  app.add_option("--a", a_, "the first side: traces and folders")->type_name("TRACE...");
  app.add_option("--b", b_, "the second side")->type_name("TRACE...");
  app.add_option("A", first_, "the first side: a trace, or a folder of traces");
  app.add_option("B", second_, "the second side");
}

Result<ReadOptions> DiffCommand::readOptions() const {
  SONDE_TRY_ASSIGN(const diff::Dimensions by,
                   flagsOf(by_, kComparable, "there is nothing to compare called"));
  return ReadOptions{by, skip_, correction_, communication_};
}

Result<void> DiffCommand::nameSides() {
  const bool listed = !a_.empty() || !b_.empty();
  if (listed && !first_.empty())
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("'{}' is of no side: name all traces by --a and --b, or none", first_)};
  if (!first_.empty())
    a_ = {first_};
  if (!second_.empty())
    b_ = {second_};
  if (a_.empty() || b_.empty())
    return Error{ErrorCode::InvalidArgument,
                 "there are not two sides: give A and B, or --a TRACE… and --b TRACE…"};
  return {};
}

std::string DiffCommand::render(const DiffDocument& document) const {
  switch (format_) {
    case Format::Json:
      return diffJson(document);
    case Format::Csv:
      return diffCsv(document);
    case Format::Table:
      break;
  }
  return diffText(document, all_ ? std::numeric_limits<std::size_t>::max() : kQuietRows);
}

int DiffCommand::run() {
  const auto options = readOptions();
  if (!options)
    return fail(name(), options.error());
  if (const auto named = nameSides(); !named)
    return fail(name(), named.error());
  const auto runsOfA = runsOf(a_);
  if (!runsOfA)
    return fail(name(), runsOfA.error());
  const auto runsOfB = runsOf(b_);
  if (!runsOfB)
    return fail(name(), runsOfB.error());
  const ProgressBar bar(name());
  const Progress progress = ProgressBar::progress();
  const auto a = readSide(*runsOfA, *options, progress.part(0, 0.5));
  if (!a)
    return fail(name(), a.error());
  const auto b = readSide(*runsOfB, *options, progress.part(0.5, 1));
  if (!b)
    return fail(name(), b.error());
  diff::Judgement judgement;
  judgement.level = level_ / 100;
  judgement.runNoise = runNoise_ / 100;
  const auto result = diff::diff(*a, *b, judgement);
  if (!result)
    return fail(name(), result.error());
  printOut(render({*result, judgement, by_, *runsOfA, *runsOfB}));
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> makeDiffCommand() {
  return std::make_unique<DiffCommand>();
}

}  // namespace sonde::cli
