#include "analysis/engine/operations/read_job.h"
#include "cli/shell/command.h"
#include "cli/shell/open_job.h"
#include "cli/text/table.h"
#include "cli/whatif/answer_output.h"
#include "cli/whatif/question_options.h"

#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

namespace whatif = engine::whatif;

class WhatifCommand : public Command {
 public:
  const char* name() const override { return "whatif"; }
  const char* summary() const override {
    return "predict how long an iteration would take if something were different";
  }
  const char* details() const override {
    return "Changes the data-flow graph of the job as the options say, from left to right, and "
           "replays it.\n"
           "SEL selects work: KEY:PATTERN[,KEY:PATTERN…] with the keys kind, name, operator, "
           "module, operation, rank,\n"
           "stream and collective. Patterns may have * and ?.\n"
           "\nExamples:\n"
           "  sonde whatif job.sonde --scale 'name:*gemm*=0.5'\n"
           "  sonde whatif job.sonde --remove kind:data_load --format json\n"
           "  sonde whatif rank*.sonde --scale kind:copy=0 --set operation:backward,rank:3=20ms\n";
  }
  void declare(CLI::App& app) override {
    app_ = &app;
    declareQuestions(app);
    addFormatOption(app, format_);
    app.add_option("TRACE", traces_, "traces of one job")->required();
  }
  int run() override;

 private:
  Result<whatif::Answer> answer(const std::vector<whatif::Question>& questions) const;

  const CLI::App* app_ = nullptr;
  Format format_ = Format::Table;
  std::vector<std::string> traces_;
};

Result<whatif::Answer> WhatifCommand::answer(const std::vector<whatif::Question>& questions) const {
  SONDE_TRY_ASSIGN(Job job, Job::open(name(), traces_));
  SONDE_TRY_ASSIGN(engine::operations::JobGraph graph,
                   engine::operations::readJob(job.database(), false));
  return whatif::answer(job.database(), std::move(graph.trace), questions);
}

int WhatifCommand::run() {
  const auto questions = askedQuestions(*app_);
  if (!questions)
    return fail(name(), questions.error());
  if (questions->empty()) {
    complain(
        name(),
        "no question: give --scale, --network or another one ('sonde whatif --help' lists all)");
    return kExitUsage;
  }
  const auto found = answer(*questions);
  if (!found)
    return failToAnswer(name(), found.error());
  if (format_ == Format::Json)
    printOut(dumpJson(jsonOf(*found)));
  else if (format_ == Format::Csv)
    printOut(renderCsv(pathTable(found->after)));
  else
    printOut(textOf(*found));
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> makeWhatifCommand() {
  return std::make_unique<WhatifCommand>();
}

}  // namespace sonde::cli
