#include "analysis/engine/breakdown/breakdown.h"
#include "analysis/store/trace_name.h"
#include "cli/breakdown/breakdown_output.h"
#include "cli/breakdown/breakdown_plot.h"
#include "cli/shell/command.h"
#include "cli/shell/communication_options.h"
#include "cli/shell/correction_options.h"
#include "cli/shell/open_job.h"
#include "cli/shell/time_option.h"
#include "cli/text/named_flags.h"
#include "cli/text/table.h"
#include "cli/text/word_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace sonde::cli {
namespace {

namespace breakdown = engine::breakdown;

enum class Scope { Launch, Execution };

constexpr std::array<NamedFlag<breakdown::Dimensions>, 8> kDimensions = {
    {{"rank", &breakdown::Dimensions::process},
     {"thread", &breakdown::Dimensions::thread},
     {"phase", &breakdown::Dimensions::phase},
     {"operation", &breakdown::Dimensions::operation},
     {"module", &breakdown::Dimensions::module},
     {"iteration", &breakdown::Dimensions::iteration},
     {"category", &breakdown::Dimensions::category},
     {"resource", &breakdown::Dimensions::resource}}};

class BreakdownCommand : public Command {
 public:
  const char* name() const override { return "breakdown"; }
  const char* summary() const override {
    return "break wall time down by operation, and by host, device and network activity";
  }
  const char* details() const override {
    return "A row is the time in which the same operations were open and the same things were "
           "active at once. All rows\n"
           "sum to the wall time. --by takes these words, separated by commas:\n"
           "  rank       process\n"
           "  phase, operation, module  innermost open phase, operation or module; lists all of "
           "them if several threads\n"
           "             or devices work for different ones\n"
           "  iteration  iteration number\n"
           "  category   host: python, framework, simulator, cuda_api, comm_api, io, wait, other; "
           "device: compute, copy,\n"
           "             comm; network: net\n"
           "  resource   cpu, gpu, or both\n"
           "  thread     each thread by itself, without devices\n"
           "\nExamples:\n"
           "  sonde breakdown job.sonde\n"
           "  sonde breakdown rank0.sonde rank1.sonde --by rank,operation,resource\n"
           "  sonde breakdown job.sonde --by iteration,category --format csv\n"
           "  sonde breakdown job.sonde --time 1.2s..1.5s\n"
           "  sonde breakdown job.sonde --by rank,operation,category --plot job.svg\n";
  }
  void declare(CLI::App& app) override {
    addFormatOption(app, format_);
    app.add_option(
           "--by", by_, "dimensions that separate rows (operation,category; with --plot also rank)")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("WORDS");
    const OptionWords<Scope> scopes{{"launch", Scope::Launch}, {"execution", Scope::Execution}};
    takeOneOf(
        scopes,
        "scope",
        app.add_option(
            "--scope",
            scope_,
            "count device work in the operation that launched it, or is open meanwhile (launch)"));
    addTimeOption(app, time_, "only what lies in this time, since the begin of the trace");
    addCorrectionOptions(app, correction_);
    addCommunicationOptions(app, communication_);
    app.add_flag("--transitions",
                 transitions_,
                 "count how often each category became active, instead of times");
    app.add_option("--plot", plot_, "also draw the rows as bars, in this .svg or .png file")
        ->type_name("FILE");
    app.add_flag("-f,--force", force_, "replace the picture if it exists");
    app.add_option("TRACE", traces_, "traces of one job")->required();
  }
  int run() override;

 private:
  Result<breakdown::Options> options() const;
  Result<void> checkPlot() const;
  Result<void> plot(const store::Database& trace,
                    const breakdown::Breakdown& rows,
                    const breakdown::Options& options) const;
  std::string render(const breakdown::Breakdown& result, const breakdown::Options& options) const;

  Format format_ = Format::Table;
  std::vector<std::string> by_;
  Scope scope_ = Scope::Launch;
  std::string time_;
  CorrectionOptions correction_;
  CommunicationOptions communication_;
  bool transitions_ = false;
  std::string plot_;
  bool force_ = false;
  std::vector<std::string> traces_;
};

Result<breakdown::Options> BreakdownCommand::options() const {
  breakdown::Options options;
  options.atLaunch = scope_ == Scope::Launch;
  options.correct = !correction_.raw;
  SONDE_TRY_ASSIGN(options.by, flagsOf(by_, kDimensions, "unknown dimension"));
  if (transitions_)
    options.by.category = true;
  return options;
}

std::string BreakdownCommand::render(const breakdown::Breakdown& result,
                                     const breakdown::Options& options) const {
  if (format_ == Format::Json)
    return dumpJson(breakdownJson(result, by_));
  const Table table =
      transitions_ ? enteredTable(result, options.by) : rowTable(result, options.by);
  if (format_ == Format::Csv)
    return renderCsv(table);
  std::string text = fmt::format("{} {}, {} {}\n\n",
                                 humanDuration(result.totalNs),
                                 options.by.thread ? "of threads' time" : "of wall time",
                                 result.processes.size(),
                                 result.processes.size() == 1 ? "process" : "processes");
  text += table.rows.empty() ? "No category became active while the operations stayed the same.\n"
                             : renderText(table);
  return text + notesOf(result);
}

Result<void> BreakdownCommand::checkPlot() const {
  if (plot_.empty())
    return {};
  if (transitions_)
    return Error{ErrorCode::InvalidArgument,
                 "--plot draws times, not transitions: give --plot or --transitions"};
  SONDE_TRY(checkPlotName(plot_));
  SONDE_TRY(checkApart(plot_, traces_));
  return store::checkOutput(plot_, force_, {}, "--plot");
}

// Without categories each row is a bar, with the bar's interval.
Result<void> BreakdownCommand::plot(const store::Database& trace,
                                    const breakdown::Breakdown& rows,
                                    const breakdown::Options& options) const {
  breakdown::Options ofBars = options;
  ofBars.by.category = ofBars.by.resource = false;
  SONDE_TRY_ASSIGN(const breakdown::Breakdown bars, breakdown::breakDown(trace, ofBars));
  return writePlot(plotOf(rows, bars, options.by, traces_), plot_, force_);
}

int BreakdownCommand::run() {
  if (by_.empty() && !plot_.empty())
    by_ = {"rank", "operation", "category"};
  if (by_.empty())
    by_ = {"operation", "category"};
  auto chosen = options();
  if (!chosen)
    return fail(name(), chosen.error());
  if (const auto checked = checkPlot(); !checked)
    return fail(name(), checked.error());
  auto job = Job::open(name(), traces_);
  if (!job)
    return fail(name(), job.error());
  if (const auto given = applyCommunication(communication_, job->database()); !given)
    return fail(name(), given.error());
  const auto within = readTimeOf(time_, job->database());
  if (!within)
    return fail(name(), within.error());
  chosen->within = *within;
  const auto measured = measuredCosts(correction_, job->database());
  if (!measured)
    return fail(name(), measured.error());
  chosen->measured = *measured ? &**measured : nullptr;
  const auto result = breakdown::breakDown(job->database(), *chosen);
  if (!result)
    return fail(name(), result.error());
  if (!plot_.empty())
    if (const auto drawn = plot(job->database(), *result, *chosen); !drawn)
      return fail(name(), drawn.error());
  printOut(render(*result, *chosen));
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> makeBreakdownCommand() {
  return std::make_unique<BreakdownCommand>();
}

}  // namespace sonde::cli
