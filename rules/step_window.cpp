#include "rules/step_window.h"

#include <fmt/format.h>

namespace sonde::rules {

void StepWindow::add(std::int64_t iteration, double value) {
  steps_.push_back({iteration, value});
  if (steps_.size() > limit_)
    steps_.pop_front();
}

std::vector<double> StepWindow::values() const {
  std::vector<double> values;
  values.reserve(steps_.size());
  for (const Value& step : steps_)
    values.push_back(step.value);
  return values;
}

Outcome StepWindow::outcome() const {
  Outcome outcome;
  outcome.samples = count();
  if (!steps_.empty())
    outcome.window =
        fmt::format("iterations {}-{}", steps_.front().iteration, steps_.back().iteration);
  return outcome;
}

}  // namespace sonde::rules
