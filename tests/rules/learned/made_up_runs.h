// Good runs of two ranks with made-up values, that differ as runs with other seeds do. For tests.
#pragma once

#include "rules/learned/learn.h"
#include "tests/rules/training/tensor_values.h"

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace sonde::rules::test {

struct MadeUpRun {
  std::vector<ProcessFacts> facts;  // by rank
  std::vector<ProcessCalls> calls;

  RunObservations observed(const std::string& name = "run.sonde") const {
    std::vector<ObservedProcess> processes;
    for (std::size_t rank = 0; rank < facts.size(); ++rank)
      processes.push_back({&facts[rank], &calls[rank]});
    return observe(name, processes);
  }
  CallStretch& stretch(int rank, int iteration) {
    return calls[static_cast<std::size_t>(rank)].stretches[static_cast<std::size_t>(iteration)];
  }
  TensorFact& tensor(int rank, const std::string& name, int iteration) {
    for (TensorSeries& each : facts[static_cast<std::size_t>(rank)].tensors)
      if (each.collection == name)
        return each.values[static_cast<std::size_t>(iteration)];
    std::abort();
  }
};

// Other elements of the same recording.
inline void replaceValues(TensorFact& fact, const std::vector<double>& values) {
  TensorFact other;
  other.iteration = fact.iteration;
  other.tsNs = fact.tsNs;
  other.dtype = fact.dtype;
  other.shape = fact.shape;
  setValues(other, values);
  fact = other;
}

inline constexpr int kRunLength = 20;

inline CallStretch goodCalls(int iteration) {
  CallStretch calls;
  calls.iteration = iteration;
  calls.scopes = {{"forward forward", 1}, {"backward backward", 1}, {"optimizer SGD.step", 1}};
  calls.operators = {{"aten::mm", 6}, {"aten::zero_", 4}};
  calls.arguments = {{"aten::mm [[8, 4], [4, 2]] ['float', 'float']", 6}};
  calls.collectives = {{"allreduce of 64 bytes, float32", 2}};
  calls.order = {"aten::zero_", "forward forward", "backward backward", "optimizer SGD.step"};
  return calls;
}

// Weights and gradients are equal on both ranks, inputs are not.
inline MadeUpRun goodRun(unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  MadeUpRun run{std::vector<ProcessFacts>(2), std::vector<ProcessCalls>(2)};
  for (std::size_t rank = 0; rank < 2; ++rank) {
    run.facts[rank] = stepsOf(std::vector<std::int64_t>(kRunLength, 1000));
    run.facts[rank].name = "rank " + std::to_string(rank);
    run.facts[rank].rank = static_cast<std::int64_t>(rank);
    run.calls[rank].hasOperators = true;
    run.calls[rank].hasArguments = true;
    run.calls[rank].hasCollectives = true;
  }
  for (int i = 0; i < kRunLength; ++i) {
    const std::vector<double> weights = {1 + 0.1 * normal(random), -2 + 0.01 * i};
    const std::vector<double> gradients = {0.1 + 0.02 * normal(random), 0.2};
    const double loss = 2 / (1 + 0.1 * i) * std::exp(0.05 * normal(random));
    for (std::size_t rank = 0; rank < 2; ++rank) {
      ProcessFacts& facts = run.facts[rank];
      addValues(facts, "fc.weight", "weights", i, weights);
      addValues(facts, "fc.weight", "gradients", i, gradients);
      addValues(facts, "Net.0", "inputs", i, {normal(random), normal(random), 1, -1});
      facts.scalars["loss"].values.push_back({i, loss, 1});
      facts.scalars["rate"].values.push_back({i, 0.1 / (1 + i / 5), 1});
      run.calls[rank].stretches.push_back(goodCalls(i));
    }
  }
  return run;
}

inline std::vector<RunObservations> goodRuns(int count) {
  std::vector<RunObservations> runs;
  for (int i = 0; i < count; ++i)
    runs.push_back(goodRun(static_cast<unsigned>(i + 1)).observed("good" + std::to_string(i)));
  return runs;
}

}  // namespace sonde::rules::test
