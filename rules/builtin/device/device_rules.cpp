#include "rules/builtin/device/device_rules.h"

namespace sonde::rules {

std::vector<RuleInfo> deviceRules() {
  return {fusableJobs(),
          gpuGaps(),
          hostSynchronisations(),
          launchBound(),
          oneBlockKernels(),
          pageableCopies(),
          redundantCopies(),
          synchronousCopies()};
}

}  // namespace sonde::rules
