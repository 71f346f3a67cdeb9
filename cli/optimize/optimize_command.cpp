#include "analysis/engine/operations/operation_rows.h"
#include "analysis/engine/operations/read_job.h"
#include "analysis/engine/optimise/families.h"
#include "analysis/engine/optimise/plan.h"
#include "analysis/questions/added_settings.h"
#include "base/shell_quote.h"
#include "base/text/byte_size.h"
#include "base/text/time_span.h"
#include "cli/optimize/plan_output.h"
#include "cli/shell/command.h"
#include "cli/shell/model_file.h"
#include "cli/shell/open_job.h"
#include "cli/shell/progress_bar.h"
#include "cli/text/table.h"
#include "cli/whatif/added_questions.h"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

namespace optimise = engine::optimise;
using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t interrupted = 0;

// While this exists, the first Ctrl-C sets `interrupted`; a second one ends the program.
class InterruptOnce {
 public:
  InterruptOnce() {
    struct sigaction action = {};
    action.sa_handler = [](int) { interrupted = 1; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, &before_);
  }
  ~InterruptOnce() { sigaction(SIGINT, &before_, nullptr); }
  InterruptOnce(const InterruptOnce&) = delete;
  InterruptOnce& operator=(const InterruptOnce&) = delete;

 private:
  struct sigaction before_ = {};
};

double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// A family for each question of plugins that has candidates.
Result<std::vector<optimise::Family>> pluginFamilies(const std::vector<std::string>& plugins) {
  SONDE_TRY_ASSIGN(const AddedQuestions added, loadAdded(plugins));
  std::vector<optimise::Family> families;
  for (const engine::whatif::AddedQuestion& question : added) {
    optimise::Family family{question.name};
    for (const engine::whatif::Candidate& candidate : question.candidates) {
      optimise::Change change;
      change.what = "the job then " + question.help;
      change.setting = candidate.advice;
      change.question =
          "--ask " +
          shellQuoted(question.name + (candidate.settings.empty() ? "" : ",") + candidate.settings);
      SONDE_TRY_ASSIGN(change.ask, questions::makeCandidate(question, candidate));
      family.changes.push_back(std::move(change));
    }
    if (!family.changes.empty())
      families.push_back(std::move(family));
  }
  return families;
}

class OptimizeCommand : public Command {
 public:
  const char* name() const override { return "optimize"; }
  const char* summary() const override {
    return "find the settings with which an iteration takes the least time";
  }
  const char* details() const override {
    return "Asks the questions of 'sonde whatif' with several settings each, alone and together, "
           "and prints the best\n"
           "combination with the settings to change in the training program. Ctrl-C prints the "
           "best one so far.\n"
           "\nExamples:\n"
           "  sonde optimize job.sonde\n"
           "  sonde optimize rank*.sonde --questions bucket-size,workers --budget 10s\n"
           "  sonde optimize job.sonde --memory 24GiB --format json\n";
  }
  void declare(CLI::App& app) override {
    app.add_option("--questions", questions_, "try only these questions, separated by commas")
        ->type_name("LIST")
        ->delimiter(',');
    app.add_option("--budget", budget_, "print the best plan after this time; 60s")
        ->type_name("TIME");
    app.add_option(
           "--memory", memory_, "the most that a device, or a process without one, may hold")
        ->type_name("SIZE");
    app.add_option("--plugin", plugins_, "load questions from a shared object; repeatable")
        ->type_name("FILE.so")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_option("--model", model_, "use the models in this file")->type_name("MODEL");
    addFormatOption(app, format_);
    app.add_option("TRACE", traces_, "traces of one job")->required();
  }
  int run() override;

 private:
  Result<optimise::PlanOptions> options() const;
  Result<optimise::Plan> plan(const store::Database& trace,
                              const engine::models::ModelSet& models,
                              optimise::PlanOptions& options) const;
  void print(const optimise::Plan& plan, double seconds) const;

  std::vector<std::string> questions_;
  std::string budget_ = "60s";
  std::string memory_;
  std::vector<std::string> plugins_;
  std::string model_;
  Format format_ = Format::Table;
  std::vector<std::string> traces_;
};

Result<optimise::PlanOptions> OptimizeCommand::options() const {
  optimise::PlanOptions options;
  options.questions = questions_;
  SONDE_TRY_ASSIGN(options.more, pluginFamilies(plugins_));
  SONDE_TRY(optimise::checkNames(questions_, options.more));
  const auto ns = parseTimeSpan(budget_);
  if (!ns)
    return Error{ns.error().code, "--budget: " + ns.error().message};
  // The search calls it first when the trace has been read.
  options.isToStop = [budget = std::chrono::nanoseconds(*ns),
                      end = std::optional<Clock::time_point>()]() mutable {
    if (!end)
      end = Clock::now() + budget;
    return interrupted != 0 || Clock::now() >= *end;
  };
  if (memory_.empty())
    return options;
  const auto bytes = parseByteSize(memory_);
  if (!bytes)
    return Error{bytes.error().code, "--memory: " + bytes.error().message};
  options.memoryBytes = static_cast<std::int64_t>(*bytes);
  return options;
}

Result<optimise::Plan> OptimizeCommand::plan(const store::Database& trace,
                                             const engine::models::ModelSet& models,
                                             optimise::PlanOptions& options) const {
  SONDE_TRY_ASSIGN(engine::operations::JobGraph graph, engine::operations::readJob(trace, false));
  SONDE_TRY_ASSIGN(const engine::whatif::AskedJob job,
                   engine::whatif::AskedJob::read(trace, std::move(graph.trace), models));
  const ProgressBar bar(name());
  options.progress = ProgressBar::progress();
  return optimise::plan(job, options);
}

void OptimizeCommand::print(const optimise::Plan& plan, double seconds) const {
  if (format_ == Format::Json)
    printOut(dumpJson(jsonOf(plan, seconds)));
  else if (format_ == Format::Csv)
    printOut(renderCsv(planTable(plan)));
  else
    printOut(textOf(plan, seconds));
}

int OptimizeCommand::run() {
  const Clock::time_point begin = Clock::now();
  auto options = this->options();
  if (!options)
    return fail(name(), options.error());
  const auto models = givenModels(model_);
  if (!models)
    return fail(name(), models.error());
  auto job = Job::open(name(), traces_);
  if (!job)
    return fail(name(), job.error());
  const InterruptOnce interrupt;
  const auto found = plan(job->database(), *models, *options);
  if (!found)
    return failToAnswer(name(), found.error());
  print(*found, secondsSince(begin));
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> makeOptimizeCommand() {
  return std::make_unique<OptimizeCommand>();
}

}  // namespace sonde::cli
