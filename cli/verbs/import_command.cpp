#include "analysis/engine/align/align.h"
#include "analysis/engine/merge/join_ranks.h"
#include "analysis/finalise/finaliser.h"
#include "analysis/ingest/import_job.h"
#include "analysis/store/scratch.h"
#include "analysis/store/trace_part.h"
#include "base/shell_quote.h"
#include "cli/report/report_lines.h"
#include "cli/shell/command.h"
#include "cli/shell/communication_options.h"
#include "cli/shell/progress_bar.h"
#include "cli/verbs/clocks_line.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

struct Imported {
  ingest::ImportSummary summary;
  engine::align::Alignment alignment;  // of the files' clocks
};

// Joins what spans ranks, and stores how far the files' clocks differ.
Result<engine::align::Alignment> joinRanks(store::Database& trace) {
  SONDE_TRY_ASSIGN(store::Transaction transaction, store::Transaction::begin(trace));
  SONDE_TRY(engine::merge::joinCommunicators(trace));
  SONDE_TRY_ASSIGN(engine::align::Alignment alignment, engine::align::alignHosts(trace));
  SONDE_TRY(engine::align::storeClockMap(trace, alignment));
  SONDE_TRY(transaction.commit());
  return alignment;
}

class ImportCommand : public Command {
 public:
  const char* name() const override { return "import"; }
  const char* summary() const override { return "convert other profilers' files to a trace"; }
  const char* details() const override {
    return "Reads files of torch.profiler (JSON, plain or gzip), reports exported with 'nsys "
           "export --type sqlite',\n"
           "Chakra's execution traces (NAME.RANK.et), and operation-level traces of a job (JSON). "
           "Several files are\n"
           "the ranks of one job. All verbs and the window accept the result like a recorded "
           "trace.\n"
           "\nExamples:\n"
           "  sonde import -o job.sonde rank-0.json.gz rank-1.json.gz\n"
           "  nsys export --type sqlite report1.nsys-rep && sonde import -o job.sonde "
           "report1.sqlite\n";
  }
  void declare(CLI::App& app) override {
    app.add_option("-o,--output", output_, "the trace to write")->required()->type_name("OUT");
    app.add_flag("-f,--force", force_, "replace the output if it exists");
    addCommunicationOptions(app, communication_);
    app.add_option("--layout",
                   layout_,
                   "ranks of an operation-level trace whose threads do not name their stage")
        ->type_name("dp=N,pp=N,tp=N");
    app.add_option("--summary", summaryFile_, "write a summary of the import as JSON to this file")
        ->type_name("FILE");
    app.add_option("FILE", files_, "files of one job")->required();
  }
  int run() override;

 private:
  Result<Imported> import();
  Result<Imported> fill(const std::filesystem::path& part) const;
  Result<void> writeSummary(const ingest::ImportSummary& summary, double seconds) const;

  std::string output_, summaryFile_, layout_;
  CommunicationOptions communication_;
  bool force_ = false;
  std::vector<std::string> files_;
};

Result<Imported> ImportCommand::import() {
  const store::Scratch scratch(store::unfinishedTrace(output_, force_));
  SONDE_TRY_ASSIGN(store::TracePart part,
                   store::TracePart::claim(output_, force_, {files_.begin(), files_.end()}));
  const ProgressBar bar(name());
  SONDE_TRY_ASSIGN(Imported imported, fill(part.path()));
  SONDE_TRY(std::move(part).publish());
  return imported;
}

Result<Imported> ImportCommand::fill(const std::filesystem::path& part) const {
  const Progress progress = ProgressBar::progress();
  SONDE_TRY_ASSIGN(auto communication, communicationPatterns(communication_));
  SONDE_TRY_ASSIGN(ingest::ImportJob job, ingest::ImportJob::create(part, progress.part(0, 0.7)));
  job.setCommunication(std::move(communication));
  if (!layout_.empty()) {
    SONDE_TRY_ASSIGN(const ingest::OperationLayout layout, ingest::parseLayout(layout_));
    job.setLayout(layout);
  }
  SONDE_TRY(job.add({files_.begin(), files_.end()}));
  Imported imported{job.summary(), {}};
  SONDE_TRY_ASSIGN(store::Database trace, job.release());
  progress("joining the ranks", 0.7);
  SONDE_TRY_ASSIGN(imported.alignment, joinRanks(trace));
  SONDE_TRY(store::finalise(std::move(trace), progress.part(0.7, 1)));
  return imported;
}

Result<void> ImportCommand::writeSummary(const ingest::ImportSummary& summary,
                                         double seconds) const {
  if (summaryFile_.empty())
    return {};
  const nlohmann::json written = {{"schema", 1},
                                  {"events", summary.read},
                                  {"dropped", summary.dropped},
                                  {"seconds", seconds},
                                  {"path", absolutePath(output_)}};
  return writeOut(summaryFile_, dumpJson(written));
}

int ImportCommand::run() {
  const auto begin = std::chrono::steady_clock::now();
  if (const auto apart = checkSummary(summaryFile_, output_, files_); !apart)
    return fail(name(), apart.error());
  const auto imported = import();
  if (!imported)
    return fail(name(), imported.error());
  const ingest::ImportSummary& summary = imported->summary;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (const auto written = writeSummary(summary, seconds.count()); !written)
    return fail(name(), written.error());
  for (const std::string& warning : summary.warnings)
    complain(name(), warning);
  if (imported->alignment.contradiction)
    complain(name(), imported->alignment.obstacle());
  printOut(fmt::format("imported {} into {}: {}\n{}next: sonde report {}\n",
                       counted(static_cast<std::int64_t>(files_.size()), "file", "files"),
                       output_,
                       counted(static_cast<std::int64_t>(summary.kept), "event", "events"),
                       clocksLine(imported->alignment),
                       shellQuoted(output_)));
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> makeImportCommand() {
  return std::make_unique<ImportCommand>();
}

}  // namespace sonde::cli
