#include "cli/verbs/check_confirm.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>

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
const CheckResult* sameIn(const CheckReport& report, const CheckResult& result) {
  const auto same =
      std::find_if(report.results.begin(), report.results.end(), [&](const CheckResult& each) {
        return each.rule == result.rule && each.entity == result.entity;
      });
  return same == report.results.end() ? nullptr : &*same;
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
    const CheckResult* const same = sameIn(second, result);
    const std::string_view verdict =
        same == nullptr ? "not fired" : rules::wordOf(same->outcome.verdict);
    const bool isConfirmed = same != nullptr && same->outcome.verdict == rules::Verdict::Fired;
    report.notes.push_back(fmt::format("{} {} fired, and {} in the run of --confirm{}: {}",
                                       result.rule,
                                       result.entity,
                                       isConfirmed ? "fired again" : fmt::format("is {}", verdict),
                                       same == nullptr ? "" : " (" + same->outcome.message + ")",
                                       isConfirmed ? "it counts" : "it does not count"));
    if (!isConfirmed)
      result.suppressed = fmt::format("not confirmed by a second run, which is {}", verdict);
  }
}

}  // namespace sonde::cli
