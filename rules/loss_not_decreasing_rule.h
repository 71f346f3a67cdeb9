// loss-not-decreasing: the loss stagnates, rises, or is not a number.
#pragma once

#include "rules/rule.h"

namespace sonde::rules {

RuleInfo lossNotDecreasingRule();

}  // namespace sonde::rules
