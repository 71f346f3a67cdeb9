// Judges made-up facts of a process by a built-in rule. For tests.
#pragma once

#include "rules/engine/check.h"
#include "rules/engine/rule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sonde::rules::test {

// Iterations of these durations, in ns, one after the other from 0 on.
inline ProcessFacts stepsOf(const std::vector<std::int64_t>& durations) {
  ProcessFacts facts;
  facts.id = 1;
  facts.name = "rank 0";
  std::int64_t start = 0;
  for (const std::int64_t duration : durations) {
    facts.steps.push_back({static_cast<std::int64_t>(facts.steps.size()), start, duration, false});
    start += duration;
  }
  return facts;
}

// Iterations of 1000 ns with a value of a scalar each.
inline ProcessFacts scalarOf(const std::string& name, const std::vector<double>& values) {
  ProcessFacts facts = stepsOf(std::vector<std::int64_t>(values.size(), 1000));
  std::int64_t number = 0;
  for (const double value : values)
    facts.scalars[name].values.push_back({number++, value, 1});
  return facts;
}

// Adds a value of a tensor with 100 finite elements, and returns it. Requires: values come in
// order.
inline TensorFact& addTensor(ProcessFacts& facts,
                             const std::string& name,
                             const std::string& collection,
                             std::int64_t iteration,
                             std::int64_t tsNs = 0) {
  auto series = std::find_if(facts.tensors.begin(), facts.tensors.end(), [&](const auto& each) {
    return each.name == name && each.collection == collection;
  });
  if (series == facts.tensors.end())
    series = facts.tensors.insert(facts.tensors.end(), {name, collection, "other", {}});
  TensorFact value;
  value.iteration = iteration;
  value.tsNs = tsNs;
  value.elements = 100;
  series->values.push_back(value);
  return series->values.back();
}

class ProcessRule : public ::testing::Test {
 protected:
  explicit ProcessRule(const std::string& name)
      : info_(*findRule(name)), parameters_(info_.parameters) {}

  // After the rule's warm-up, without patience.
  Outcome judgeFacts(const ProcessFacts& facts) const {
    const auto warmup = static_cast<std::size_t>(parameters_.integer("warmup"));
    return std::get<ProcessJudge>(info_.judge)(ProcessView(facts, facts.steps.size(), warmup),
                                               parameters_);
  }

  const RuleInfo& info_;
  Parameters parameters_;
};

}  // namespace sonde::rules::test
