// Rules about collectives, and the time that they take. Any thread.
#pragma once

#include "rules/engine/rule.h"

#include <vector>

namespace sonde::rules {

std::vector<RuleInfo> communicationRules();

RuleInfo collectiveMismatch();
RuleInfo communicationBound();
RuleInfo overlapNotUsed();
RuleInfo smallMessages();

}  // namespace sonde::rules
