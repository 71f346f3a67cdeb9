#include "analysis/store/communication_kernels.h"
#include "base/spawned.h"
#include "base/whole_file.h"
#include "cli/shell/command.h"
#include "cli/shell/open_job.h"
#include "cli/shell/progress_bar.h"
#include "cli/text/number_checks.h"
#include "cli/text/word_option.h"
#include "cli/verbs/check_baseline.h"
#include "cli/verbs/check_confirm.h"
#include "cli/verbs/check_plan.h"
#include "rules/configuration/configuration.h"
#include "rules/reporters/reporters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

enum class ReportFormat { Text, Json, Junit, Sarif, Github };

// The folder of the code, as CI names it.
std::string sourceRoot() {
  for (const char* name : {"GITHUB_WORKSPACE", "CI_PROJECT_DIR"})
    if (const char* const folder = std::getenv(name); folder != nullptr && *folder != '\0')
      return absolutePath(folder);
  std::error_code failure;
  return std::filesystem::current_path(failure).string();
}

// Adds the table to the page of the step of GitHub Actions, if the program runs in one.
Result<void> addToStepSummary(const rules::CheckReport& report) {
  const char* const path = std::getenv("GITHUB_STEP_SUMMARY");
  if (path == nullptr || *path == '\0')
    return {};
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file << rules::renderGithubSummary(report);
  file.close();
  if (!file)
    return Error{
        ErrorCode::Io,
        fmt::format("cannot write the step summary {}: {}: correct GITHUB_STEP_SUMMARY, or "
                    "unset it",
                    path,
                    std::generic_category().message(errno))};
  return {};
}

// Says why more warnings than allowed end the check with 1.
void noteWarnings(rules::CheckReport& report, std::int64_t maxWarnings) {
  const auto fired =
      std::count_if(report.results.begin(), report.results.end(), [](const auto& result) {
        return result.counts() && result.severity == rules::Severity::Warning &&
               result.outcome.verdict == rules::Verdict::Fired;
      });
  if (maxWarnings >= 0 && fired > maxWarnings)
    report.notes.push_back(fmt::format(
        "{} findings of severity warning are more than the {} that --max-warnings allows",
        fired,
        maxWarnings));
}

class CheckCommand : public Command {
 public:
  const char* name() const override { return "check"; }
  const char* summary() const override { return "judge a run by rules"; }
  const char* details() const override {
    return "Without --rules, all built-in rules run as warnings. With it, the rules that the file "
           "names run.\n"
           "`sonde rules` lists the built-in rules. Profiles choose rules: `ci` runs, as errors, "
           "those that do not\n"
           "depend on the machine's speed, `production`, as errors, those that are a reason to "
           "stop a job, and\n"
           "`performance`, as warnings, those that are about speed.\n"
           "\n"
           "--confirm runs a command if a rule about speed fired as an error. The finding does not "
           "count if the\n"
           "same rule passes for the second run, which the command records.\n"
           "\n"
           "--baseline compares with earlier runs of the same program: their traces, folders as in "
           "`sonde diff`, or\n"
           "files of `sonde baseline`. TRACE… comes first.\n"
           "\n"
           "Formats for CI: junit for test reports, sarif for code scanning, and github for "
           "annotations in GitHub\n"
           "Actions. github also adds a table to the step summary.\n"
           "\n"
           "Exit status: 1 if a rule of severity error fired, or more warnings than --max-warnings "
           "allows; else 3 if\n"
           "a rule could not be evaluated; else 4 if a rule of severity error had too little data; "
           "else 0. A wrong\n"
           "option or rules file gives 2.\n"
           "\nExamples:\n"
           "  sonde check out/rank0.sonde out/rank1.sonde\n"
           "  sonde check job.sonde --rules sonde.toml --format json -o check.json\n"
           "  sonde check job.sonde --profile ci --format junit -o check.xml --max-warnings 0\n"
           "  sonde check job.sonde --rules sonde.toml --dry-run\n"
           "  sonde check new1.sonde --repeats new2.sonde new3.sonde --baseline main.json\n\n"
           "A sonde.toml:\n"
           "  [rules]\n"
           "  loss-not-decreasing = \"error\"\n"
           "  step-outlier = { severity = \"warning\", max_share = 0.1 }\n";
  }
  void declare(CLI::App& app) override;
  int run() override;

 private:
  Result<void> checkOptions() const;
  Result<rules::Configuration> configuration() const;
  Result<Table> plan(const rules::Configuration& configuration) const;
  Result<rules::CheckReport> judge(const rules::Configuration& configuration,
                                   const std::vector<std::string>& traces,
                                   const BaselineOptions& baseline) const;
  Result<void> confirm(const rules::Configuration& configuration, rules::CheckReport& report) const;
  std::string rendered(const rules::CheckReport& report,
                       const rules::Configuration& configuration) const;
  int printPlan(const rules::Configuration& configuration) const;

  std::string rules_, profile_, output_, confirm_;
  ReportFormat format_ = ReportFormat::Text;
  std::int64_t maxWarnings_ = -1;
  BaselineOptions baseline_;
  bool isDryRun_ = false;
  bool isExplained_ = false;
  bool onlyFindings_ = false;
  std::vector<std::string> traces_;
};

void CheckCommand::declare(CLI::App& app) {
  app.add_option("--rules", rules_, "rules to run, with their severities and parameters")
      ->type_name("FILE");
  app.add_option("--profile", profile_, "set of rules: ci, production or performance")
      ->type_name("NAME");
  addFormatOption<ReportFormat>(app,
                                format_,
                                {{"text", ReportFormat::Text},
                                 {"json", ReportFormat::Json},
                                 {"junit", ReportFormat::Junit},
                                 {"sarif", ReportFormat::Sarif},
                                 {"github", ReportFormat::Github}},
                                "output format: text to read, the others for programs");
  app.add_option("-o,--output", output_, "write the report to this file")->type_name("FILE");
  app.add_option(
         "--max-warnings", maxWarnings_, "exit with 1 if more findings of severity warning fired")
      ->type_name("N")
      ->check(count());
  app.add_flag("--explain",
               isExplained_,
               "add the rule's details, parameters and evidence to each result but passes");
  app.add_flag(
      "--findings-only", onlyFindings_, "with sarif: only rules that fired, for code scanning");
  app.add_flag(
      "--dry-run", isDryRun_, "list the rules that would run and what they need; judge nothing");
  addBaselineOptions(app, baseline_);
  app.add_option("--confirm",
                 confirm_,
                 "if an error about speed fired: command that records a second trace")
      ->type_name("COMMAND");
  app.add_option("TRACE", traces_, "traces of one job")->required();
}

Result<void> CheckCommand::checkOptions() const {
  const auto refused = [](const char* message) {
    return Error{ErrorCode::InvalidArgument, message};
  };
  if (isDryRun_ && (isExplained_ || onlyFindings_ || maxWarnings_ >= 0))
    return refused(
        "--dry-run judges nothing: leave out --explain, --findings-only and --max-warnings");
  if (isDryRun_ && !confirm_.empty())
    return refused("--dry-run judges nothing: leave out --confirm");
  if (isDryRun_ && format_ != ReportFormat::Text && format_ != ReportFormat::Json)
    return refused("--dry-run has no report: use --format text or json");
  if (isExplained_ && format_ != ReportFormat::Text)
    return refused("--explain is for --format text: the other formats have the evidence anyway");
  if (onlyFindings_ && format_ != ReportFormat::Sarif)
    return refused("--findings-only is for --format sarif: leave it out");
  if (!output_.empty() && !rules_.empty() && leadsTo(output_, rules_))
    return refused("-o would overwrite the rules file: give it another name");
  SONDE_TRY(checkBaselineOptions(baseline_, output_));
  return checkApart(output_, traces_);
}

Result<rules::Configuration> CheckCommand::configuration() const {
  SONDE_TRY(checkOptions());
  return rules_.empty() ? rules::defaultConfiguration(profile_, !baseline_.baseline.empty())
                        : rules::readConfiguration(rules_, profile_);
}

Result<Table> CheckCommand::plan(const rules::Configuration& configuration) const {
  SONDE_TRY_ASSIGN(Job job, Job::open(name(), traces_));
  return checkPlan(configuration, job.database());
}

int CheckCommand::printPlan(const rules::Configuration& configuration) const {
  const auto table = plan(configuration);
  if (!table)
    return fail(name(), table.error());
  const std::string text = format_ == ReportFormat::Json
                               ? dumpJson({{"schema", 1}, {"rules", rowsAsObjects(*table)}})
                               : renderText(*table);
  const auto written = writeOut(output_, text);
  return written ? kExitOk : fail(name(), written.error());
}

Result<rules::CheckReport> CheckCommand::judge(const rules::Configuration& configuration,
                                               const std::vector<std::string>& traces,
                                               const BaselineOptions& baseline) const {
  SONDE_TRY_ASSIGN(const std::unique_ptr<rules::Baselines> baselines,
                   openBaselines(baseline, traces));
  SONDE_TRY_ASSIGN(Job job, Job::open(name(), traces));
  SONDE_TRY(store::addCommunicationPatterns(job.database(), configuration.communication));
  const ProgressBar bar(name());
  SONDE_TRY_ASSIGN(
      rules::CheckReport report,
      rules::check(job.database(), configuration, ProgressBar::progress(), baselines.get()));
  noteBaselines(baselines.get(), configuration, report);
  return report;
}

// The second run is judged alone: repeats of the first one would hide that it is faster.
Result<void> CheckCommand::confirm(const rules::Configuration& configuration,
                                   rules::CheckReport& report) const {
  if (confirm_.empty() || !needsConfirmation(report, configuration))
    return {};
  SONDE_TRY_ASSIGN(const TemporaryFolder folder, TemporaryFolder::make());
  const std::filesystem::path trace = folder.path() / "confirm.sonde";
  SONDE_TRY(runConfirmation(confirm_, trace));
  SONDE_TRY_ASSIGN(
      const rules::CheckReport second,
      judge(configuration, {trace.string()}, {baseline_.baseline, {}, baseline_.force}));
  confirmBy(second, configuration, report);
  return {};
}

std::string CheckCommand::rendered(const rules::CheckReport& report,
                                   const rules::Configuration& configuration) const {
  switch (format_) {
    case ReportFormat::Json:
      return rules::renderJson(report);
    case ReportFormat::Junit:
      return rules::renderJunit(report);
    case ReportFormat::Sarif:
      return rules::renderSarif(report,
                                configuration,
                                {.version = SONDE_VERSION,
                                 .sourceRoot = sourceRoot(),
                                 .subject = absolutePath(rules_.empty() ? traces_[0] : rules_),
                                 .onlyFindings = onlyFindings_});
    case ReportFormat::Github:
      return rules::renderGithub(report, sourceRoot());
    case ReportFormat::Text:
      break;
  }
  return isExplained_ ? rules::renderExplained(report, configuration) : rules::renderText(report);
}

int CheckCommand::run() {
  const auto configuration = this->configuration();
  if (!configuration)
    return fail(name(), configuration.error());
  if (isDryRun_)
    return printPlan(*configuration);
  auto report = judge(*configuration, traces_, baseline_);
  if (!report)
    return fail(name(), report.error());
  if (const auto confirmed = confirm(*configuration, *report); !confirmed)
    return fail(name(), confirmed.error());
  noteWarnings(*report, maxWarnings_);
  if (const auto written = writeOut(output_, rendered(*report, *configuration)); !written)
    return fail(name(), written.error());
  if (format_ == ReportFormat::Github)
    if (const auto added = addToStepSummary(*report); !added)
      return fail(name(), added.error());
  return report->exitStatus(maxWarnings_);
}

}  // namespace

std::unique_ptr<Command> makeCheckCommand() {
  return std::make_unique<CheckCommand>();
}

}  // namespace sonde::cli
