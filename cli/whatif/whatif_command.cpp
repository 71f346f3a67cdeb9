#include "analysis/engine/operations/operation_rows.h"
#include "analysis/engine/operations/read_job.h"
#include "analysis/engine/retime/retime.h"
#include "analysis/store/scratch.h"
#include "analysis/store/trace_name.h"
#include "cli/breakdown/breakdown_plot.h"
#include "cli/shell/command.h"
#include "cli/shell/model_file.h"
#include "cli/shell/open_job.h"
#include "cli/shell/progress_bar.h"
#include "cli/text/table.h"
#include "cli/whatif/added_questions.h"
#include "cli/whatif/answer_output.h"
#include "cli/whatif/answer_plot.h"
#include "cli/whatif/question_list.h"
#include "cli/whatif/question_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
    app.add_option("--plugin", plugins_, "load questions from a shared object; repeatable")
        ->type_name("FILE.so")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_flag("--list", list_, "list the questions of --ask, those of plugins too, and exit");
    app.add_option("--model", model_, "use the models in this file")->type_name("MODEL");
    app.add_option("-o,--output", output_, "write the predicted timeline as a trace")
        ->type_name("OUT");
    app.add_flag("-f,--force", force_, "replace the outputs if they exist");
    app.add_option("--plot", plot_, "draw an iteration before and after in this .svg or .png")
        ->type_name("PICTURE");
    addFormatOption(app, format_);
    app.add_option("TRACE", traces_, "traces of one job");
  }
  int run() override;

 private:
  Result<void> checkOutput() const;
  Result<whatif::Answer> answer(const store::Database& trace,
                                const std::vector<whatif::Question>& questions,
                                const engine::models::ModelSet& models) const;
  Result<void> write(const store::Database& trace,
                     const engine::graph::TraceGraph& graph,
                     const whatif::Answer& answer) const;

  const CLI::App* app_ = nullptr;
  int list(const AddedQuestions& added) const;
  int answerQuestions(const std::vector<whatif::Question>& questions);

  std::vector<std::string> plugins_;
  bool list_ = false;
  std::string model_;
  std::string output_;
  std::string plot_;
  bool force_ = false;
  Format format_ = Format::Table;
  std::vector<std::string> traces_;
};

Result<void> WhatifCommand::checkOutput() const {
  if (!plot_.empty()) {
    SONDE_TRY(checkPlotName(plot_));
    SONDE_TRY(checkApart(plot_, traces_));
    SONDE_TRY(store::checkOutput(plot_, force_, {}, "--plot"));
  }
  if (output_.empty())
    return {};
  SONDE_TRY(checkApart(output_, traces_));
  return store::checkOutput(output_, force_);
}

Result<void> WhatifCommand::write(const store::Database& trace,
                                  const engine::graph::TraceGraph& graph,
                                  const whatif::Answer& answer) const {
  const store::Scratch scratch(store::unfinishedTrace(output_, force_));
  const ProgressBar bar(name());
  return engine::retime::retime(trace,
                                graph,
                                {answer.beginNs, answer.durNs},
                                {.output = output_,
                                 .inputs = {traces_.begin(), traces_.end()},
                                 .overwrite = force_,
                                 .how = "whatif",
                                 .progress = ProgressBar::progress()});
}

Result<whatif::Answer> WhatifCommand::answer(const store::Database& trace,
                                             const std::vector<whatif::Question>& questions,
                                             const engine::models::ModelSet& models) const {
  SONDE_TRY_ASSIGN(const bool hasOperations, engine::operations::isOperationLevel(trace));
  if (hasOperations && !output_.empty())
    return notFound("-o cannot write the timeline of an operation-level trace: leave it out");
  SONDE_TRY_ASSIGN(const engine::operations::JobGraph graph,
                   engine::operations::readJob(trace, false));
  SONDE_TRY_ASSIGN(whatif::Answer answer, whatif::answer(trace, graph.trace, questions, models));
  if (!output_.empty())
    SONDE_TRY(write(trace, graph.trace, answer));
  return answer;
}

int WhatifCommand::list(const AddedQuestions& added) const {
  if (format_ == Format::Json)
    printOut(dumpJson(listJson(added)));
  else if (format_ == Format::Csv)
    printOut(renderCsv(listTable(added)));
  else
    printOut(renderText(listTable(added)));
  return kExitOk;
}

int WhatifCommand::run() {
  const auto added = loadAdded(plugins_);
  if (!added)
    return fail(name(), added.error());
  if (list_)
    return list(*added);
  if (traces_.empty()) {
    complain(name(), "TRACE is required");
    return kExitUsage;
  }
  const auto questions = askedQuestions(*app_, *added);
  if (!questions)
    return fail(name(), questions.error());
  if (questions->empty()) {
    complain(
        name(),
        "no question: give --scale, --network or another one ('sonde whatif --help' lists all)");
    return kExitUsage;
  }
  if (const auto output = checkOutput(); !output)
    return fail(name(), output.error());
  return answerQuestions(*questions);
}

int WhatifCommand::answerQuestions(const std::vector<whatif::Question>& questions) {
  const auto models = givenModels(model_);
  if (!models)
    return fail(name(), models.error());
  auto job = Job::open(name(), traces_);
  if (!job)
    return fail(name(), job.error());
  const auto found = answer(job->database(), questions, *models);
  if (!found)
    return failToAnswer(name(), found.error());
  if (!plot_.empty()) {
    const std::string title =
        fmt::format("{}: {:.2f} times as fast", fmt::join(traces_, ", "), found->speedup());
    if (const auto drawn = writePlot(chartOf(*found, title), plot_, force_); !drawn)
      return fail(name(), drawn.error());
  }
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
