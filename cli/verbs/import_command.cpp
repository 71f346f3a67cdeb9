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

#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

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
  Result<ingest::ImportSummary> import();
  Result<ingest::ImportSummary> fill(const std::filesystem::path& part) const;
  Result<void> writeSummary(const ingest::ImportSummary& summary, double seconds) const;

  std::string output_, summaryFile_, layout_;
  CommunicationOptions communication_;
  bool force_ = false;
  std::vector<std::string> files_;
};

Result<ingest::ImportSummary> ImportCommand::import() {
  const store::Scratch scratch(store::unfinishedTrace(output_, force_));
  SONDE_TRY_ASSIGN(store::TracePart part,
                   store::TracePart::claim(output_, force_, {files_.begin(), files_.end()}));
  const ProgressBar bar(name());
  SONDE_TRY_ASSIGN(ingest::ImportSummary summary, fill(part.path()));
  SONDE_TRY(std::move(part).publish());
  return summary;
}

Result<ingest::ImportSummary> ImportCommand::fill(const std::filesystem::path& part) const {
  const Progress progress = ProgressBar::progress();
  SONDE_TRY_ASSIGN(auto communication, communicationPatterns(communication_));
  SONDE_TRY_ASSIGN(ingest::ImportJob job, ingest::ImportJob::create(part, progress.part(0, 0.7)));
  job.setCommunication(std::move(communication));
  if (!layout_.empty()) {
    SONDE_TRY_ASSIGN(const ingest::OperationLayout layout, ingest::parseLayout(layout_));
    job.setLayout(layout);
  }
  SONDE_TRY(job.add({files_.begin(), files_.end()}));
  ingest::ImportSummary summary = job.summary();
  SONDE_TRY_ASSIGN(store::Database trace, job.release());
  {
    progress("joining the ranks", 0.7);
    SONDE_TRY_ASSIGN(store::Transaction transaction, store::Transaction::begin(trace));
    SONDE_TRY(engine::merge::joinCommunicators(trace));
    SONDE_TRY(transaction.commit());
  }
  SONDE_TRY(store::finalise(std::move(trace), progress.part(0.7, 1)));
  return summary;
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
  const auto summary = import();
  if (!summary)
    return fail(name(), summary.error());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (const auto written = writeSummary(*summary, seconds.count()); !written)
    return fail(name(), written.error());
  for (const std::string& warning : summary->warnings)
    complain(name(), warning);
  printOut(fmt::format("imported {} into {}: {}\nnext: sonde report {}\n",
                       counted(static_cast<std::int64_t>(files_.size()), "file", "files"),
                       output_,
                       counted(static_cast<std::int64_t>(summary->kept), "event", "events"),
                       shellQuoted(output_)));
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> makeImportCommand() {
  return std::make_unique<ImportCommand>();
}

}  // namespace sonde::cli
