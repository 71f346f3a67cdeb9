#include "analysis/export/chrome/chrome_exporter.h"
#include "analysis/export/csv/csv_exporter.h"
#include "analysis/export/folded/folded_exporter.h"
#include "analysis/export/output_file.h"
#include "analysis/export/perfetto/perfetto_exporter.h"
#include "analysis/store/scratch.h"
#include "cli/shell/command.h"
#include "cli/shell/open_job.h"
#include "cli/shell/progress_bar.h"
#include "cli/text/word_option.h"
#include "cli/verbs/critical_track.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include <CLI/CLI.hpp>

namespace sonde::cli {
namespace {

enum class Target { Perfetto, Chrome, Csv, Folded };

class ExportCommand : public Command {
 public:
  const char* name() const override { return "export"; }
  const char* summary() const override { return "convert a trace for other tools"; }
  const char* details() const override {
    return "perfetto  for https://ui.perfetto.dev and trace_processor: processes, threads, streams "
           "and connections as\n"
           "          tracks, arrows from launches to kernels, counters, the critical path\n"
           "chrome    the same as JSON without that path, as torch.profiler writes it: for "
           "chrome://tracing,\n"
           "          TensorBoard, and 'sonde import'\n"
           "csv       a folder with a file for each table, with names resolved\n"
           "folded    times of threads in nanoseconds, one line for each path of nested slices: "
           "for flame graphs\n"
           "\nExamples:\n"
           "  sonde export job.sonde --to perfetto -o job.perfetto-trace\n"
           "  sonde export job.sonde --to chrome | gzip > job.json.gz\n";
  }
  void declare(CLI::App& app) override {
    const OptionWords<Target> targets{{"perfetto", Target::Perfetto},
                                      {"chrome", Target::Chrome},
                                      {"csv", Target::Csv},
                                      {"folded", Target::Folded}};
    takeOneOf(targets, "format", app.add_option("--to", target_, "output format"))->required();
    app.add_option("-o,--output",
                   output_,
                   "file to write, or folder for csv (default and -: standard output)")
        ->type_name("FILE");
    app.add_flag("-f,--force", force_, "replace the output if it exists");
    app.add_option("TRACE", traces_, "traces of one job")->required();
  }
  int run() override;

 private:
  Result<std::vector<std::string>> unfinishedFiles(const store::Database& trace) const;
  Result<void> write(const store::Database& trace);

  Target target_ = Target::Perfetto;
  std::string output_;
  bool force_ = false;
  std::vector<std::string> traces_;
};

// The files to remove if a signal ends the export.
Result<std::vector<std::string>> ExportCommand::unfinishedFiles(
    const store::Database& trace) const {
  if (output_.empty())
    return std::vector<std::string>();
  if (target_ == Target::Csv)
    return exports::unfinishedCsv(trace, output_);
  return store::unfinishedTrace(output_, force_);
}

Result<void> ExportCommand::write(const store::Database& trace) {
  SONDE_TRY_ASSIGN(std::vector<std::string> unfinished, unfinishedFiles(trace));
  const store::Scratch scratch(std::move(unfinished));
  const ProgressBar bar(name());
  const Progress progress = ProgressBar::progress();
  if (target_ == Target::Csv)
    return exports::exportCsv(trace, output_, force_, progress);
  SONDE_TRY_ASSIGN(exports::OutputFile output, exports::OutputFile::create(output_, force_));
  if (target_ == Target::Perfetto) {
    progress("looking for the critical path", 0);
    auto path = criticalTrack(trace);
    if (!path)
      complain(name(), fmt::format("no track of the critical path: {}", path.error().message));
    SONDE_TRY(exports::exportPerfetto(
        trace, output, progress, path ? *std::move(path) : std::vector<exports::PathSpan>()));
  } else {
    const auto write = target_ == Target::Chrome ? &exports::exportChrome : &exports::exportFolded;
    SONDE_TRY(write(trace, output, progress));
  }
  return output.finish();
}

int ExportCommand::run() {
  if (output_ == "-")
    output_.clear();
  if (output_.empty() && target_ == Target::Perfetto && isatty(STDOUT_FILENO) != 0) {
    complain(name(), "a terminal cannot show this format: give a file with -o, or a pipe");
    return kExitUsage;
  }
  if (output_.empty() && target_ == Target::Csv) {
    complain(name(), "csv is one file for each table: give a folder with -o");
    return kExitUsage;
  }
  if (const auto apart = checkApart(output_, traces_); !apart)
    return fail(name(), apart.error());
  auto job = Job::open(name(), traces_);
  if (!job)
    return fail(name(), job.error());
  if (const auto written = write(job->database()); !written)
    return fail(name(), written.error());
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> makeExportCommand() {
  return std::make_unique<ExportCommand>();
}

}  // namespace sonde::cli
