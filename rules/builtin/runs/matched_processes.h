// The processes of this run with those of earlier runs that have the same name ("rank 3").
// Plain functions; the facts' thread.
#pragma once

#include "rules/engine/rule.h"

#include <functional>
#include <string>
#include <vector>

namespace sonde::rules {

struct EarlierProcess {
  std::string run;  // its first trace
  const ProcessFacts* process;
};

struct MatchedProcess {
  const ProcessFacts* now;
  std::vector<EarlierProcess> before;  // not empty
};

using MatchedJudge = std::function<Outcome(const MatchedProcess&)>;

// A finding for each process. Insufficient without earlier runs, or without their traces, and for
// a process that no earlier run has. If only some processes recorded the input, the others are
// skipped.
Result<std::vector<Finding>> judgeMatched(Facts& facts, const MatchedJudge& judge);

}  // namespace sonde::rules
