// The tensors that a rule judges: by collection and name. Plain functions; any thread.
#pragma once

#include "rules/engine/parameters.h"
#include "rules/engine/verdict.h"
#include "rules/facts/process_facts.h"

#include <span>
#include <string>
#include <vector>

namespace sonde::rules {

// The parameters `collection` and `tensors`: shell patterns. `collection` is the default of the
// first.
std::vector<ParameterSpec> tensorParameters(const std::string& collection);

struct SelectedTensor {
  const TensorSeries* series;
  std::span<const TensorFact> values;  // not empty
};

// Those with a value in the view that both patterns match. Requires: tensorParameters().
std::vector<SelectedTensor> selectedTensors(const ProcessView& view, const Parameters& parameters);

// Inputs, results and tensors of the program with a value in the view whose name or collection
// matches the shell pattern, whatever the case. No weights and gradients: their names begin with
// those of their layers.
std::vector<SelectedTensor> tensorsCalled(const ProcessView& view, const std::string& pattern);

// Only the last `count` values of each.
std::vector<SelectedTensor> newestValues(std::vector<SelectedTensor> tensors, std::int64_t count);

// Insufficient: none is there. Says what has to be recorded.
Outcome tensorsMissing(const ProcessView& view, const Parameters& parameters);

// "fc1.weight (gradients)"
std::string nameOf(const TensorSeries& series);

// A judgement of these tensors without a verdict yet: window and number of values.
Outcome outcomeOf(const std::vector<SelectedTensor>& tensors);

}  // namespace sonde::rules
