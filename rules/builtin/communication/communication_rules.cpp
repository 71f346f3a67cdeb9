#include "rules/builtin/communication/communication_rules.h"

namespace sonde::rules {

std::vector<RuleInfo> communicationRules() {
  return {collectiveMismatch(), communicationBound(), overlapNotUsed(), smallMessages()};
}

}  // namespace sonde::rules
