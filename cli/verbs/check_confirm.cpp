#include "cli/verbs/check_confirm.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>
#include <variant>

namespace sonde::cli {
namespace {

using rules::CheckReport;
using rules::CheckResult;
using rules::Configuration;

constexpr const char* kVariable = "SONDE_CONFIRM";

bool isToConfirm(const CheckResult& result, const Configuration& configuration) {
  if (!result.counts() || result.severity != rules::Severity::Error ||
      result.outcome.verdict != rules::Verdict::Fired)
    return false;
  return std::any_of(configuration.rules.begin(), configuration.rules.end(), [&](const auto& rule) {
    return rule.info->name == result.rule && rule.info->profile == rules::Profile::Performance;
  });
}

// nullptr: the second run has no result for the rule and entity.
const CheckResult* resultIn(const CheckReport& report,
                            const std::string& rule,
                            const std::string& entity) {
  const auto same =
      std::find_if(report.results.begin(), report.results.end(), [&](const CheckResult& each) {
        return each.rule == rule && each.entity == entity;
      });
  return same == report.results.end() ? nullptr : &*same;
}

// The result that stands for the same entity. `regression` names only operations that are slower,
// so its iteration stands for those that it leaves out.
const CheckResult* sameIn(const CheckReport& report, const CheckResult& result) {
  const CheckResult* const same = resultIn(report, result.rule, result.entity);
  if (same != nullptr || result.rule != "regression")
    return same;
  constexpr std::string_view kRank = "rank ";
  const std::size_t colon = result.entity.find(": ");
  const bool isOfRank = result.entity.starts_with(kRank) && colon != std::string::npos;
  return resultIn(report,
                  result.rule,
                  (isOfRank ? result.entity.substr(0, colon + 2) : std::string()) + "iteration");
}

std::optional<double> detectableIn(const CheckResult& result) {
  const auto found = result.outcome.evidence.find("detectable");
  if (found == result.outcome.evidence.end())
    return std::nullopt;
  const double* const number = std::get_if<double>(&found->second);
  return number == nullptr ? std::nullopt : std::optional(*number);
}

// The meaning of the second run for a finding of the first one.
struct Confirmation {
  bool counts = true;
  std::string text;  // "passes in the run of --confirm (…)"
};

Confirmation confirmationOf(const CheckResult& first, const CheckResult* second) {
  if (second == nullptr)
    return {true, "has no result in the run of --confirm, so it could not be confirmed"};
  const std::string& message = second->outcome.message;
  if (second->outcome.verdict == rules::Verdict::Fired && second->entity == first.entity)
    return {true, fmt::format("fired again in the run of --confirm ({})", message)};
  if (second->outcome.verdict != rules::Verdict::Pass)
    return {true,
            fmt::format("is {} in the run of --confirm ({}), so it could not be confirmed",
                        rules::wordOf(second->outcome.verdict),
                        message)};
  const std::optional<double> detectable = detectableIn(*second);
  if (second->entity == first.entity && detectable && first.outcome.value &&
      *detectable > *first.outcome.value)
    return {true,
            fmt::format("is pass in the run of --confirm ({}), in which {:.3g} % would not have "
                        "been seen, so it could not be confirmed",
                        message,
                        100 * *first.outcome.value)};
  return {false, fmt::format("is pass in the run of --confirm ({})", message)};
}

// Returns the wait status.
Result<int> spawned(const std::string& command) {
  std::string shell = "sh";
  std::string option = "-c";
  std::string text = command;
  std::array<char*, 4> words = {shell.data(), option.data(), text.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // Standard output is for the report.
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  const int failure = posix_spawn(&child, "/bin/sh", &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0)
    return Error{ErrorCode::Io,
                 fmt::format("--confirm: cannot start /bin/sh: {}",
                             std::generic_category().message(failure))};
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return Error{ErrorCode::Io,
                   fmt::format("--confirm: cannot wait for the command: {}",
                               std::generic_category().message(errno))};
  return status;
}

std::string endText(int status) {
  return WIFSIGNALED(status) ? fmt::format("was ended by signal {}", WTERMSIG(status))
                             : fmt::format("ended with exit status {}", WEXITSTATUS(status));
}

}  // namespace

bool needsConfirmation(const CheckReport& report, const Configuration& configuration) {
  return std::any_of(report.results.begin(), report.results.end(), [&](const CheckResult& each) {
    return isToConfirm(each, configuration);
  });
}

Result<void> runConfirmation(const std::string& command, const std::filesystem::path& trace) {
  setenv(kVariable, trace.c_str(), 1);
  const auto status = spawned(command);
  unsetenv(kVariable);
  if (!status)
    return status.error();
  if (!WIFEXITED(*status) || WEXITSTATUS(*status) != 0)
    return Error{ErrorCode::Io,
                 fmt::format("the command of --confirm {}: correct it, or leave --confirm out",
                             endText(*status))};
  std::error_code ignored;
  if (!std::filesystem::exists(trace, ignored))
    return Error{ErrorCode::Io,
                 "the command of --confirm left no trace: let it write one to the path in "
                 "SONDE_CONFIRM, as sonde run -o \"$SONDE_CONFIRM\" does"};
  return {};
}

void confirmBy(const CheckReport& second, const Configuration& configuration, CheckReport& report) {
  for (CheckResult& result : report.results) {
    if (!isToConfirm(result, configuration))
      continue;
    const Confirmation confirmation = confirmationOf(result, sameIn(second, result));
    report.notes.push_back(fmt::format("{} {} fired, and {}: {}",
                                       result.rule,
                                       result.entity,
                                       confirmation.text,
                                       confirmation.counts ? "it counts" : "it does not count"));
    if (!confirmation.counts)
      result.suppressed = "not confirmed by a second run, which is pass";
  }
}

}  // namespace sonde::cli
