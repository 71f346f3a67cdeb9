// step-outlier: some iterations take much longer than the others.
#pragma once

#include "rules/rule.h"

namespace sonde::rules {

RuleInfo stepOutlierRule();

}  // namespace sonde::rules
