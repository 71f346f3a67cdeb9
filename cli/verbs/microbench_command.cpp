#include "analysis/engine/operations/read_job.h"
#include "analysis/engine/whatif/job_collectives.h"
#include "analysis/engine/whatif/network/op_fits.h"
#include "analysis/store/trace_name.h"
#include "cli/shell/command.h"
#include "cli/shell/model_file.h"
#include "cli/shell/open_job.h"
#include "cli/text/table.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace sonde::cli {
namespace {

using engine::models::OpModel;

class MicrobenchCommand : public Command {
 public:
  const char* name() const override { return "microbench"; }
  const char* summary() const override {
    return "fit models of collectives to traces, for sonde whatif --model";
  }
  const char* details() const override {
    return "TRACE… are the traces of all ranks of one job, such as a benchmark of collectives of "
           "many sizes.\n"
           "The model of an operation is fitted for each number of ranks, and for all together.\n"
           "\nExamples:\n"
           "  sonde microbench --fit rank*.sonde -o network.json\n"
           "  sonde whatif job.sonde --bucket-size 25MiB --model network.json\n";
  }
  void declare(CLI::App& app) override {
    app.add_option("--fit", traces_, "traces of one job, with collectives of all ranks")
        ->type_name("TRACE…")
        ->required();
    app.add_option("-o,--output", output_, "write the models to this file, as JSON")
        ->type_name("MODEL");
    app.add_flag("-f,--force", force_, "replace the file if it exists");
    addFormatOption(app, format_);
  }
  int run() override;

 private:
  Result<void> checkOutput() const;
  std::string render(const std::vector<OpModel>& fitted) const;

  std::vector<std::string> traces_;
  std::string output_;
  bool force_ = false;
  Format format_ = Format::Table;
};

Result<void> MicrobenchCommand::checkOutput() const {
  if (output_.empty())
    return {};
  SONDE_TRY(checkApart(output_, traces_));
  return store::checkOutput(output_, force_);
}

Result<std::vector<OpModel>> fit(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const engine::operations::JobGraph job,
                   engine::operations::readJob(trace, false));
  SONDE_TRY_ASSIGN(const std::vector<engine::whatif::JobCollective> all,
                   engine::whatif::readCollectives(trace, job.trace));
  std::vector<OpModel> fitted = engine::whatif::fitOperations(all);
  if (fitted.empty())
    return notFound(
        "the trace has no collectives of all their ranks, so the network's speed is unknown: give "
        "the traces of all ranks");
  return fitted;
}

std::string MicrobenchCommand::render(const std::vector<OpModel>& fitted) const {
  if (format_ == Format::Json)
    return modelFileOf(fitted);
  Table table;
  table.columns = {textColumn("op", "operation"),
                   textColumn("where", "runs on"),
                   textColumn("ranks", "ranks"),
                   countColumn("sizes", "sizes"),
                   durationColumn("step_ns", "a step"),
                   realColumn("gbit_per_s", "Gbit/s"),
                   durationColumn("call_ns", "a call"),
                   shareColumn("error", "error")};
  for (const OpModel& each : fitted) {
    const auto& model = each.model;
    table.rows.push_back({Cell(each.op),
                          Cell(std::string(each.isOnDevice ? "device" : "host")),
                          Cell(fmt::format("{}", fmt::join(model.ranks, ", "))),
                          Cell(model.sizes),
                          Cell(static_cast<std::int64_t>(model.stepNs)),
                          model.byteNs > 0 ? Cell(8 / model.byteNs) : Cell(),
                          Cell(static_cast<std::int64_t>(model.callNs)),
                          Cell(model.error)});
  }
  return format_ == Format::Csv ? renderCsv(table) : renderText(table);
}

int MicrobenchCommand::run() {
  if (const auto output = checkOutput(); !output)
    return fail(name(), output.error());
  auto job = Job::open(name(), traces_);
  if (!job)
    return fail(name(), job.error());
  const auto fitted = fit(job->database());
  if (!fitted)
    return failToAnswer(name(), fitted.error());
  printOut(render(*fitted));
  if (!output_.empty())
    if (const auto written = writeOut(output_, modelFileOf(*fitted)); !written)
      return fail(name(), written.error());
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> makeMicrobenchCommand() {
  return std::make_unique<MicrobenchCommand>();
}

}  // namespace sonde::cli
