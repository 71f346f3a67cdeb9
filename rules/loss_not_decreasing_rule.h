// loss-not-decreasing: the loss stands still, rises, or is not a number.
#pragma once

#include "rules/rule.h"

namespace sonde::rules {

RuleInfo lossNotDecreasingRule();

}  // namespace sonde::rules
