#include "rules/loss_not_decreasing_rule.h"
#include "rules/rule.h"
#include "rules/step_outlier_rule.h"

#include <algorithm>

namespace sonde::rules {

const std::vector<RuleInfo>& builtinRules() {
  static const std::vector<RuleInfo> kRules = {lossNotDecreasingRule(), stepOutlierRule()};
  return kRules;
}

const RuleInfo* findRule(const std::string& nameOrAlias) {
  const auto& rules = builtinRules();
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const RuleInfo& rule) {
    return rule.name == nameOrAlias || rule.alias == nameOrAlias;
  });
  return found == rules.end() ? nullptr : &*found;
}

}  // namespace sonde::rules
