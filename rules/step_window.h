// The last steps of an entity with the value to judge: an iteration's duration, a loss. Part of a
// rule, with the same thread rules.
#pragma once

#include "rules/verdict.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace sonde::rules {

class StepWindow {
 public:
  struct Value {
    std::int64_t iteration;
    double value;
  };

  explicit StepWindow(std::int64_t limit) : limit_(static_cast<std::size_t>(limit)) {}

  void add(std::int64_t iteration, double value);
  const std::deque<Value>& steps() const noexcept { return steps_; }
  std::vector<double> values() const;
  std::int64_t count() const noexcept { return static_cast<std::int64_t>(steps_.size()); }
  std::int64_t limit() const noexcept { return static_cast<std::int64_t>(limit_); }

  // A judgement of these steps without a verdict yet.
  Outcome outcome() const;

 private:
  std::size_t limit_;
  std::deque<Value> steps_;
};

}  // namespace sonde::rules
