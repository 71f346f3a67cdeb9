#include "cli/shell/command.h"
#include "cli/shell/open_job.h"
#include "cli/shell/progress_bar.h"
#include "cli/text/word_option.h"
#include "rules/reporters/reporters.h"
#include "rules/configuration/configuration.h"

#include <CLI/CLI.hpp>

namespace sonde::cli {
namespace {

enum class ReportFormat { Text, Json };

class CheckCommand : public Command {
 public:
  const char* name() const override { return "check"; }
  const char* summary() const override { return "judge a run by rules"; }
  const char* details() const override {
    return "Without --rules, all built-in rules run as warnings. With it, the rules that the file "
           "names run. `sonde rules`\n"
           "lists the built-in rules. --profile ci runs, as errors, only rules that do not depend "
           "on the machine's speed.\n"
           "\n"
           "Exit status: 1 if a rule of severity error fired; else 3 if a rule could not be "
           "evaluated; else 4 if a rule of\n"
           "severity error had too little data; else 0. A wrong option or rules file gives 2.\n"
           "\nExamples:\n"
           "  sonde check out/rank0.sonde out/rank1.sonde\n"
           "  sonde check job.sonde --rules sonde.toml --format json -o check.json\n\n"
           "A sonde.toml:\n"
           "  [rules]\n"
           "  loss-not-decreasing = \"error\"\n"
           "  step-outlier = { severity = \"warning\", max_share = 0.1 }\n";
  }
  void declare(CLI::App& app) override {
    app.add_option("--rules", rules_, "rules to run, with their severities and parameters")
        ->type_name("FILE");
    app.add_option("--profile", profile_, "set of rules: ci or performance")->type_name("NAME");
    addFormatOption<ReportFormat>(app,
                                  format_,
                                  {{"text", ReportFormat::Text}, {"json", ReportFormat::Json}},
                                  "output format: text to read, json for programs");
    app.add_option("-o,--output", output_, "write the report to this file")->type_name("FILE");
    app.add_option("TRACE", traces_, "traces of one job")->required();
  }
  int run() override;

 private:
  Result<rules::CheckReport> judge(const rules::Configuration& configuration) const;

  std::string rules_, profile_, output_;
  ReportFormat format_ = ReportFormat::Text;
  std::vector<std::string> traces_;
};

Result<rules::CheckReport> CheckCommand::judge(const rules::Configuration& configuration) const {
  SONDE_TRY_ASSIGN(Job job, Job::open(name(), traces_));
  const ProgressBar bar(name());
  return rules::check(job.database(), configuration, ProgressBar::progress());
}

int CheckCommand::run() {
  const auto configuration = rules_.empty() ? rules::defaultConfiguration(profile_)
                                            : rules::readConfiguration(rules_, profile_);
  if (!configuration)
    return fail(name(), configuration.error());
  const auto report = judge(*configuration);
  if (!report)
    return fail(name(), report.error());
  const std::string text =
      format_ == ReportFormat::Json ? rules::renderJson(*report) : rules::renderText(*report);
  if (const auto written = writeOut(output_, text); !written)
    return fail(name(), written.error());
  return report->exitStatus();
}

}  // namespace

std::unique_ptr<Command> makeCheckCommand() {
  return std::make_unique<CheckCommand>();
}

}  // namespace sonde::cli
