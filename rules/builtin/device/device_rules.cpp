#include "rules/builtin/device/device_rules.h"

namespace sonde::rules {

std::vector<RuleInfo> deviceRules() {
  return {gpuGaps(),
          hostSynchronisations(),
          launchBound(),
          oneBlockKernels(),
          pageableCopies(),
          synchronousCopies()};
}

}  // namespace sonde::rules
