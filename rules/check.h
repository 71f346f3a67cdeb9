// Runs configured rules over a trace and sums up what they say. One thread, as its database.
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

  // The gravest of all verdicts: fired, error, insufficient, pass, skipped.
  Verdict verdict() const;
  // 1 when a rule of severity error fired, else 3 when one of any severity could not be evaluated,
  // else 4 when one of severity error is insufficient, else 0.
  int exitStatus() const;
};

// Fails only when the trace cannot be read; a rule that fails has the verdict error.
Result<CheckReport> check(const store::Database& trace,
                          const Configuration& configuration,
                          const Progress& progress = {});

// One line a result, a summary line last.
std::string renderText(const CheckReport& report);
// The document that DESIGN calls `check`: {"schema", "verdict", "results": […]}.
std::string renderJson(const CheckReport& report);

}  // namespace sonde::rules
