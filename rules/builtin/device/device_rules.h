// Rules about GPUs and what their hosts do for them. Any thread.
#pragma once

#include "rules/engine/rule.h"

#include <vector>

namespace sonde::rules {

std::vector<RuleInfo> deviceRules();

RuleInfo fusableJobs();
RuleInfo gpuGaps();
RuleInfo hostSynchronisations();
RuleInfo launchBound();
RuleInfo oneBlockKernels();
RuleInfo pageableCopies();
RuleInfo redundantCopies();
RuleInfo synchronousCopies();

}  // namespace sonde::rules
