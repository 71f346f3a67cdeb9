#include "analysis/engine/merge/merge.h"
#include "analysis/store/scratch.h"
#include "base/shell_quote.h"
#include "cli/report/report_lines.h"
#include "cli/shell/command.h"
#include "cli/shell/progress_bar.h"
#include "cli/verbs/clocks_line.h"

#include <fmt/format.h>

#include <chrono>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

class MergeCommand : public Command {
 public:
  const char* name() const override { return "merge"; }
  const char* summary() const override { return "join the traces of a job's ranks into one"; }
  const char* details() const override {
    return "Separates hosts by their boot id, aligns their clocks, and matches collectives and the "
           "two ends of\n"
           "connections. Refuses traces that contradict each other: different jobs, a rank twice, "
           "different world\n"
           "sizes, or recordings that do not overlap in time. Also merges unfinished recordings "
           "(.part).\n"
           "\nExample:\n"
           "  sonde merge -o job.sonde out/rank0.sonde out/rank1.sonde\n";
  }
  void declare(CLI::App& app) override {
    app.add_option("-o,--output", output_, "the trace to write")->required()->type_name("JOB");
    app.add_flag("-f,--force", force_, "replace the output if it exists");
    app.add_option("--summary", summaryFile_, "write a summary of the merge as JSON to this file")
        ->type_name("FILE");
    app.add_option("TRACE", traces_, "traces of one job")->required();
  }
  int run() override;

 private:
  Result<engine::merge::MergeSummary> merge() const;

  std::string output_, summaryFile_;
  bool force_ = false;
  std::vector<std::string> traces_;
};

Result<engine::merge::MergeSummary> MergeCommand::merge() const {
  const store::Scratch scratch(store::unfinishedTrace(output_, force_));
  const ProgressBar bar(name());
  return engine::merge::merge(
      {{traces_.begin(), traces_.end()}, output_, force_, ProgressBar::progress()});
}

int MergeCommand::run() {
  const auto begin = std::chrono::steady_clock::now();
  if (const auto apart = checkSummary(summaryFile_, output_, traces_); !apart)
    return fail(name(), apart.error());
  const auto merged = merge();
  if (!merged)
    return fail(name(), merged.error());
  for (const std::string& warning : merged->warnings)
    complain(name(), warning);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (!summaryFile_.empty()) {
    const nlohmann::json summary = {{"schema", 1},
                                    {"events", merged->events},
                                    {"dropped", merged->dropped},
                                    {"seconds", seconds.count()},
                                    {"path", absolutePath(output_)}};
    if (const auto written = writeOut(summaryFile_, dumpJson(summary)); !written)
      return fail(name(), written.error());
  }
  const auto rows = [&](const char* table) {
    const auto found = merged->events.find(table);
    return found == merged->events.end() ? 0 : found->second;
  };
  std::string devices;
  if (rows("kernel") + rows("copy") > 0)
    devices = fmt::format(", {}, {}",
                          counted(rows("kernel"), "kernel", "kernels"),
                          counted(rows("copy"), "copy", "copies"));
  printOut(fmt::format("merged {} into {}: {}, {}{}, {}, {}\n{}next: sonde report {}\n",
                       counted(static_cast<std::int64_t>(traces_.size()), "trace", "traces"),
                       output_,
                       counted(rows("process"), "process", "processes"),
                       counted(rows("slice"), "slice", "slices"),
                       devices,
                       counted(rows("collective"), "collective", "collectives"),
                       counted(rows("transfer"), "transfer", "transfers"),
                       clocksLine(merged->alignment),
                       shellQuoted(output_)));
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> makeMergeCommand() {
  return std::make_unique<MergeCommand>();
}

}  // namespace sonde::cli
