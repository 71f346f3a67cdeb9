// Rules about the ranks of a job together. Any thread.
#pragma once

#include "rules/engine/rule.h"

#include <vector>

namespace sonde::rules {

std::vector<RuleInfo> jobRules();

RuleInfo hang();
RuleInfo lateRank();
RuleInfo straggler();
RuleInfo stragglerForeseen();

}  // namespace sonde::rules
