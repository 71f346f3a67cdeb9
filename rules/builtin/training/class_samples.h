// Labels and predictions of a classifier, from saved tensors. Plain functions; any thread.
#pragma once

#include "rules/engine/parameters.h"
#include "rules/engine/verdict.h"
#include "rules/facts/process_facts.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sonde::rules {

struct ClassSamples {
  std::map<std::int64_t, std::int64_t> labels;  // count of each class
  // Count of each (label, prediction). Only if predictions were recorded.
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> predictions;
  Outcome outcome;  // without a verdict: window and samples
};

// The parameters `labels`, `predictions` and `samples`.
std::vector<ParameterSpec> classParameters();

// The newest recordings that have at least `samples` labels together. Predictions are whole
// numbers, or scores of shape [labels, classes], of which the greatest counts. If that is not
// possible, only `outcome` with a message, and false. Requires: classParameters().
bool readClasses(const ProcessView& view,
                 const Parameters& parameters,
                 bool needsPredictions,
                 ClassSamples& samples);

}  // namespace sonde::rules
