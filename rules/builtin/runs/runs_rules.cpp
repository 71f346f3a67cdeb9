#include "rules/builtin/runs/runs_rules.h"

namespace sonde::rules {

std::vector<RuleInfo> runsRules() {
  return {inputDrift(), learnedInvariants(), nonDeterminism(), regression(), similarAcrossRuns()};
}

Finding withoutBaseline() {
  Finding finding{"job", {}};
  finding.outcome.inputMissing = true;
  finding.outcome.message =
      "there is no earlier run to compare with: give --baseline to sonde check, with traces or a "
      "file of sonde baseline accept";
  return finding;
}

Finding onlyBaselineFiles() {
  Finding finding{"job", {}};
  finding.outcome.inputMissing = true;
  finding.outcome.message =
      "files of sonde baseline have no tensors and scalars: give --baseline the traces of the "
      "earlier run";
  return finding;
}

}  // namespace sonde::rules
