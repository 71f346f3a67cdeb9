// Runs configured rules over a trace and sums up their verdicts. One thread: the database's.
#pragma once

#include "analysis/store/database.h"
#include "base/progress.h"
#include "base/result.h"
#include "rules/configuration.h"
#include "rules/verdict.h"

#include <string>
#include <vector>

namespace sonde::rules {

struct CheckResult {
  std::string rule;
  Severity severity = Severity::Warning;
  std::string entity;
  Outcome outcome;
};

struct CheckReport {
  std::vector<CheckResult> results;  // by rule, then entity

  // The most severe of all verdicts: fired, error, insufficient, pass, skipped.
  Verdict verdict() const;
  // 1: a rule of severity error fired. Else 3: a rule of any severity could not be evaluated. Else
  // 4: a rule of severity error is insufficient. Else 0.
  int exitStatus() const;
};

// Fails only if the trace cannot be read; a failed rule has the verdict error.
Result<CheckReport> check(const store::Database& trace,
                          const Configuration& configuration,
                          const Progress& progress = {});

// One line per result, and a summary line.
std::string renderText(const CheckReport& report);
// A JSON document: {"schema", "verdict", "results": […]}.
std::string renderJson(const CheckReport& report);

}  // namespace sonde::rules
