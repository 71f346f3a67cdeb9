#include "analysis/engine/diff/diff.h"
#include "analysis/engine/diff/iteration_times.h"
#include "analysis/engine/diff/run_files.h"
#include "analysis/engine/diff/run_times.h"
#include "analysis/store/trace_file.h"
#include "cli/diff/diff_output.h"
#include "cli/shell/command.h"
#include "cli/shell/communication_options.h"
#include "cli/shell/correction_options.h"
#include "cli/shell/progress_bar.h"
#include "cli/text/number_checks.h"
#include "cli/text/number_range.h"
#include "cli/text/table.h"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace sonde::cli {
namespace {

namespace diff = engine::diff;

struct ReadOptions {
  diff::Dimensions by;
  std::optional<NumberRange> range;  // of iterations; unset: all
  diff::IterationChoice iterations;
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

Result<std::vector<diff::RunTimes>> readSide(const std::vector<diff::RunFiles>& runs,
                                             const ReadOptions& options,
                                             const Progress& progress) {
  return diff::readRuns(
      runs,
      [&](const std::string& path) { return readTrace(path, options); },
      options.by.rank,
      options.iterations,
      progress);
}

class DiffCommand : public Command {
 public:
  const char* name() const override { return "diff"; }
  const char* summary() const override {
    return "find what is significantly slower or faster in one set of runs than in another";
  }
  const char* details() const override {
    return "Compares the time of an iteration, and of the operations and kernels in it. A and B "
           "are each a trace, or a folder with traces, in subfolders too. The traces of a job's "
           "ranks form one run. Every other trace is a run. --a and --b take several traces and "
           "folders.\n"
           "Identical runs also differ, and only several runs a side can measure by how much. "
           "Record five of each in turn. A machine that slows down then slows both sides.\n"
           "\n"
           "--by takes these words, separated by commas:\n"
           "  operation  innermost open operation on the host; compute, copy and comm that it "
           "launched on devices\n"
           "  kernel     kernels of the same name\n"
           "  phase, module, category  as in sonde breakdown\n"
           "  rank       each rank by itself, instead of their mean\n"
           "\nExamples:\n"
           "  sonde diff before.sonde after.sonde\n"
           "  sonde diff before/ after/ --all\n"
           "  sonde diff before.sonde after.sonde --iterations 100-199\n"
           "  sonde diff --a base1.sonde base2.sonde --b new1.sonde new2.sonde --by operation "
           "--format json\n";
  }
  void declare(CLI::App& app) override;
  int run() override;

 private:
  Result<std::optional<NumberRange>> range() const;
  Result<ReadOptions> readOptions() const;
  Result<void> nameSides();
  std::string render(const DiffDocument& document) const;

  static constexpr std::size_t kQuietRows = 12;

  Format format_ = Format::Table;
  std::vector<std::string> by_ = {"operation", "kernel"};
  std::optional<std::size_t> skip_;
  std::string iterations_;
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
  app.add_option("--by", by_, "parts of an iteration to compare (operation,kernel)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("WORDS");
  app.add_option("--skip",
                 skip_,
                 "iterations to ignore at the start of each run (a tenth, 1 to 20; 0 "
                 "with --iterations)")
      ->check(count())
      ->type_name("N");
  app.add_option("--iterations", iterations_, "compare only these iterations of each run")
      ->type_name("A-B");
  app.add_option("--level", level_, "probability of at least one false difference, in per cent (5)")
      ->check(numberBetween(1e-6, 50))
      ->type_name("PERCENT");
  app.add_option("--run-noise",
                 runNoise_,
                 "assumed difference of identical runs in per cent, with one run a side (3)")
      ->check(numberBetween(0, 100))
      ->type_name("PERCENT");
  addCorrectionOptions(app, correction_, true);
  addCommunicationOptions(app, communication_);
  app.add_flag(
      "--all", all_, "also print the rows beyond twelve in which no difference can be shown");
  app.add_option("--a", a_, "the first side: traces and folders")->type_name("TRACE...");
  app.add_option("--b", b_, "the second side")->type_name("TRACE...");
  app.add_option("A", first_, "the first side: a trace, or a folder of traces");
  app.add_option("B", second_, "the second side");
}

Result<std::optional<NumberRange>> DiffCommand::range() const {
  if (iterations_.empty())
    return std::optional<NumberRange>();
  const auto range = parseNumberRange(iterations_);
  if (!range)
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("'{}' is not a range of iterations: give one like --iterations 10-12",
                             iterations_)};
  return range;
}

Result<ReadOptions> DiffCommand::readOptions() const {
  SONDE_TRY_ASSIGN(const diff::Dimensions by, diff::dimensionsOf(by_));
  ReadOptions options{by, {}, {skip_}, correction_, communication_};
  SONDE_TRY_ASSIGN(options.range, range());
  if (options.range)
    options.iterations.wanted = [range = *options.range](const diff::IterationName& each) {
      return each.number >= range.first && each.number <= range.second;
    };
  return options;
}

Result<void> DiffCommand::nameSides() {
  const bool listed = !a_.empty() || !b_.empty();
  if (listed && !first_.empty())
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("'{}' belongs to neither side: name all traces with --a and --b, or none",
                    first_)};
  if (!first_.empty())
    a_ = {first_};
  if (!second_.empty())
    b_ = {second_};
  if (a_.empty() || b_.empty())
    return Error{ErrorCode::InvalidArgument,
                 "a side is missing: give A and B, or --a TRACE… and --b TRACE…"};
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
  const auto runsOfA = diff::runsOf(a_);
  if (!runsOfA)
    return fail(name(), runsOfA.error());
  const auto runsOfB = diff::runsOf(b_);
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
  printOut(render({*result, judgement, by_, *runsOfA, *runsOfB, options->range}));
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> makeDiffCommand() {
  return std::make_unique<DiffCommand>();
}

}  // namespace sonde::cli
