// Runs configured rules over the facts of a trace. One thread: the database's.
#pragma once

#include "analysis/store/database.h"
#include "base/progress.h"
#include "base/result.h"
#include "rules/engine/rule.h"
#include "rules/engine/verdict.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sonde::rules {

struct ConfiguredRule {
  const RuleInfo* info;
  Severity severity = Severity::Warning;  // never Off
  Parameters parameters;
  bool isNamed = true;  // a file names it
};

// A finding that is known and accepted: it is reported, but changes no exit status.
struct Suppression {
  std::string rule;    // shell pattern
  std::string entity;  // shell pattern
  std::string reason;
  std::string until;  // the last day on which it holds, as YYYY-MM-DD
};

// How a rule that fires stops a job.
struct StopSettings {
  int checkpointSignal = 0;    // sent first; 0: none
  double checkpointWait = 60;  // seconds for the job to end by itself after it
  double grace = 10;           // seconds between SIGTERM and SIGKILL
};

using OwnedRules = std::vector<std::shared_ptr<const RuleInfo>>;

struct Configuration {
  std::vector<ConfiguredRule> rules;  // by name
  std::vector<Suppression> suppressions;
  StopSettings stop{};
  OwnedRules custom{};  // owns those of `rules` that users wrote
  // Patterns of [communication]. Apply them by store::addCommunicationPatterns().
  std::vector<std::string> communication{};
};

struct CheckResult {
  std::string rule;
  Severity severity = Severity::Warning;
  std::string entity;
  Outcome outcome;         // with hint and next
  std::string suppressed;  // the reason; empty: it is not
  bool isUnasked = false;  // an optional rule that no file names, and its input was not recorded

  // Whether it matters for the verdict and the exit status of the check.
  bool counts() const noexcept { return suppressed.empty() && !isUnasked; }
};

struct CheckReport {
  std::vector<CheckResult> results;  // by rule, then entity
  std::vector<std::string> notes;    // about the check itself: an expired suppression

  // The most severe of all verdicts: fired, error, insufficient, pass, skipped. Only results that
  // count.
  Verdict verdict() const;
  // 1: a rule of severity error fired, or more than `maxWarnings` findings of severity warning did;
  // -1: any number may. Else 3: a rule of any severity could not be evaluated. Else 4: a rule of
  // severity error is insufficient. Else 0.
  int exitStatus(std::int64_t maxWarnings = -1) const;
};

// The results of one rule; never empty. `today`: YYYY-MM-DD in UTC.
std::vector<CheckResult> judgeRule(Facts& facts,
                                   const ConfiguredRule& rule,
                                   const std::vector<Suppression>& suppressions,
                                   const std::string& today);

// Judges the facts as they are. A failed rule has the verdict error.
CheckReport judge(Facts& facts,
                  const Configuration& configuration,
                  const std::string& today,
                  const Progress& progress = {});

// As `today`.
std::string todayInUtc();

// The same for a whole trace, today. `baselines`: the earlier runs to compare with. Fails only if
// the trace cannot be read.
Result<CheckReport> check(const store::Database& trace,
                          const Configuration& configuration,
                          const Progress& progress = {},
                          Baselines* baselines = nullptr);

}  // namespace sonde::rules
