#include "rules/builtin/job/job_rules.h"

namespace sonde::rules {

std::vector<RuleInfo> jobRules() {
  return {hang(), lateRank(), straggler(), stragglerForeseen()};
}

}  // namespace sonde::rules
