// Rules that compare the run with earlier ones. Any thread.
#pragma once

#include "rules/baseline/baselines.h"
#include "rules/builtin/runs/matched_processes.h"
#include "rules/engine/rule.h"

#include <string>
#include <vector>

namespace sonde::rules {

std::vector<RuleInfo> runsRules();

RuleInfo inputDrift();
RuleInfo learnedInvariants();
RuleInfo nonDeterminism();
RuleInfo regression();
RuleInfo similarAcrossRuns();

// The judgements of a process of these rules.
Outcome judgeInputDrift(const MatchedProcess& processes, const Parameters& parameters);
Outcome judgeDeterminism(const MatchedProcess& processes, const Parameters& parameters);
Outcome judgeSimilarity(const MatchedProcess& processes, const Parameters& parameters);

// The findings of `regression` for these runs. NotFound: a side has no iteration that counts.
Result<std::vector<Finding>> judgeRegression(const BothSides& sides, const Parameters& parameters);

// Insufficient, because nobody gave earlier runs.
Finding withoutBaseline();

// Insufficient, because earlier runs are given as baseline files, which have only times.
Finding onlyBaselineFiles();

}  // namespace sonde::rules
