#include "analysis/engine/models/kernels/operator_times.h"
#include "analysis/engine/models/model_set.h"
#include "analysis/engine/operations/read_job.h"
#include "analysis/engine/whatif/job_collectives.h"
#include "analysis/engine/whatif/network/op_fits.h"
#include "analysis/store/trace_name.h"
#include "cli/microbench/machine_models.h"
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

using engine::models::KernelModel;
using engine::models::ModelSet;
using engine::models::OpModel;

class MicrobenchCommand : public Command {
 public:
  const char* name() const override { return "microbench"; }
  const char* summary() const override {
    return "measure this machine or fit models to traces, for sonde whatif --model";
  }
  const char* details() const override {
    return "Without --fit it measures products of matrices, copies and messages of this machine "
           "in\n"
           "less than ten seconds.\n"
           "TRACE… are the traces of all ranks of one job, such as a benchmark of collectives of "
           "many sizes.\n"
           "The model of a collective is fitted for each number of ranks, and for all together.\n"
           "Operators with recorded sizes give models of products of matrices and the like.\n"
           "\nExamples:\n"
           "  sonde microbench -o machine.json\n"
           "  sonde microbench --fit rank*.sonde -o network.json\n"
           "  sonde whatif job.sonde --bucket-size 25MiB --model network.json\n";
  }
  void declare(CLI::App& app) override {
    app.add_option("--fit", traces_, "fit models to the traces of one job")->type_name("TRACE…");
    app.add_option("-o,--output", output_, "write the models to this file, as JSON")
        ->type_name("MODEL");
    app.add_flag("-f,--force", force_, "replace the file if it exists");
    addFormatOption(app, format_);
  }
  int run() override;

 private:
  Result<void> checkOutput() const;
  int measureThis();
  int fitTraces();
  int finish(const ModelSet& fitted);
  std::string render(const ModelSet& fitted) const;

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

Result<ModelSet> fit(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const engine::operations::JobGraph job,
                   engine::operations::readJob(trace, false));
  SONDE_TRY_ASSIGN(const std::vector<engine::whatif::JobCollective> all,
                   engine::whatif::readCollectives(trace, job.trace));
  SONDE_TRY_ASSIGN(const engine::models::OperatorTimes operators,
                   engine::models::readOperatorTimes(trace));
  ModelSet fitted{engine::whatif::fitOperations(all), fitKernelModels(operators)};
  if (fitted.empty())
    return notFound(
        "the trace has no collectives of all their ranks and no operators with recorded sizes: "
        "give the traces of all ranks, or record operators with --torch-operators shapes");
  return fitted;
}

Cell inverseOf(double ns, double scale) {
  return ns > 0 ? Cell(scale / ns) : Cell();
}

std::vector<Cell> rowOf(const OpModel& of) {
  const auto& model = of.model;
  return {Cell(of.op),
          Cell(std::string(of.isOnDevice ? "device" : "host")),
          Cell(fmt::format("{} ranks", fmt::join(model.ranks, ", "))),
          Cell(model.sizes),
          Cell(static_cast<std::int64_t>(model.callNs)),
          Cell(static_cast<std::int64_t>(model.stepNs)),
          inverseOf(model.byteNs, 8),
          Cell(),
          Cell(),
          Cell(model.error)};
}

std::vector<Cell> rowOf(const KernelModel& of) {
  const bool isRoofline = of.form == engine::models::KernelForm::Roofline;
  return {Cell(of.op.empty() ? std::string(wordOf(of.kind)) : of.op),
          Cell(std::string(of.isOnDevice ? "device" : "host")),
          Cell(of.type),
          Cell(of.sizes),
          isRoofline ? Cell(static_cast<std::int64_t>(of.fixedNs)) : Cell(),
          Cell(),
          Cell(),
          inverseOf(of.flopNs, 1),
          inverseOf(of.byteNs, 1),
          Cell(of.error)};
}

std::string MicrobenchCommand::render(const ModelSet& fitted) const {
  if (format_ == Format::Json)
    return modelFileOf(fitted);
  Table table;
  table.columns = {textColumn("op", "operation"),
                   textColumn("where", "runs on"),
                   textColumn("of", "of"),
                   countColumn("sizes", "sizes"),
                   durationColumn("call_ns", "a call"),
                   durationColumn("step_ns", "a step"),
                   realColumn("gbit_per_s", "Gbit/s"),
                   realColumn("gflop_per_s", "GFLOP/s"),
                   realColumn("gbyte_per_s", "GB/s"),
                   shareColumn("error", "error")};
  for (const OpModel& each : fitted.collectives)
    table.rows.push_back(rowOf(each));
  for (const KernelModel& each : fitted.kernels)
    table.rows.push_back(rowOf(each));
  return format_ == Format::Csv ? renderCsv(table) : renderText(table);
}

int MicrobenchCommand::run() {
  if (const auto output = checkOutput(); !output)
    return fail(name(), output.error());
  return traces_.empty() ? measureThis() : fitTraces();
}

int MicrobenchCommand::measureThis() {
  const auto measured = measureMachine();
  if (!measured)
    return fail(name(), measured.error());
  if (format_ == Format::Table)
    printOut(renderText(measured->times) + "\n");
  return finish(measured->models);
}

int MicrobenchCommand::fitTraces() {
  auto job = Job::open(name(), traces_);
  if (!job)
    return fail(name(), job.error());
  const auto fitted = fit(job->database());
  return fitted ? finish(*fitted) : failToAnswer(name(), fitted.error());
}

int MicrobenchCommand::finish(const ModelSet& fitted) {
  printOut(render(fitted));
  if (!output_.empty())
    if (const auto written = writeOut(output_, modelFileOf(fitted)); !written)
      return fail(name(), written.error());
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> makeMicrobenchCommand() {
  return std::make_unique<MicrobenchCommand>();
}

}  // namespace sonde::cli
