// The iterations, scalars and tensors of each process: the input of rules about a process. Plain
// values; reading uses the database's thread.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"
#include "rules/facts/tensor_facts.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sonde::rules {

// An iteration that has ended.
struct StepFact {
  std::int64_t number = 0;
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;
  bool isInner = false;  // it is inside another iteration of its thread

  std::int64_t endNs() const noexcept { return startNs + durNs; }
};

// A scalar in an iteration: the mean of its values there, which may be NaN or infinite.
struct SeriesValue {
  std::int64_t iteration = 0;
  double value = 0;
  std::int64_t count = 1;  // values in the iteration
};

struct ScalarSeries {
  std::vector<SeriesValue> values;  // by iteration
  std::int64_t outside = 0;         // values without an iteration
};

struct ProcessFacts {
  std::int64_t id = 0;
  std::string name;  // "rank 3", "process 4711"
  std::optional<std::int64_t> rank;
  std::string host;
  std::filesystem::path folder;                 // of the trace; saved tensors are below it
  std::vector<StepFact> steps;                  // by number
  std::map<std::string, ScalarSeries> scalars;  // by name
  std::vector<TensorSeries> tensors;            // in the order of their first values
};

// The facts of a process as they were when a number of its iterations had ended. A rule that asks
// whether a fault lasts judges several such views. Requires: the facts outlive it.
class ProcessView {
 public:
  explicit ProcessView(const ProcessFacts& facts) : ProcessView(facts, facts.steps.size(), 0) {}
  // The first `steps` iterations, without those up to the end of the first `warmup` that are in no
  // other one.
  ProcessView(const ProcessFacts& facts, std::size_t steps, std::size_t warmup);

  const ProcessFacts& process() const noexcept { return *facts_; }
  std::span<const StepFact> steps() const noexcept;
  std::size_t warmup() const noexcept { return warmup_; }
  // Iterations that had ended and are in no other one, with those of the warm-up.
  std::size_t ended() const noexcept;
  // Values in these iterations. Empty: there are none.
  std::span<const SeriesValue> scalar(const std::string& name) const;
  // Values of the process that belong to none of its iterations.
  std::int64_t strays(const std::string& name) const;
  std::span<const TensorFact> of(const TensorSeries& series) const;

 private:
  template <typename T>
  std::span<const T> within(const std::vector<T>& values) const;

  const ProcessFacts* facts_;
  std::size_t warmup_;
  std::size_t first_ = 0;
  std::size_t end_;
};

// The facts of all processes. grow() adds the rows that the trace has got since; the result is the
// same as that of a new read().
class RunFacts {
 public:
  static Result<RunFacts> read(const store::Database& trace);
  Result<void> grow(const store::Database& trace);

  // Those with an ended iteration; ranks first, in order.
  const std::vector<const ProcessFacts*>& processes() const noexcept { return withSteps_; }

 private:
  Result<void> readProcesses(const store::Database& trace);
  Result<void> readSteps(const store::Database& trace);
  Result<void> readScalars(const store::Database& trace);
  Result<void> readTensors(const store::Database& trace);

  std::map<std::int64_t, ProcessFacts> all_;  // by id
  std::vector<const ProcessFacts*> withSteps_;
  std::int64_t lastScalar_ = 0;  // rowid
  std::int64_t lastTensor_ = 0;
};

}  // namespace sonde::rules
