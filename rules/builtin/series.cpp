#include "rules/builtin/series.h"

#include <fmt/format.h>

namespace sonde::rules {

std::vector<double> valuesOf(std::span<const SeriesValue> series) {
  std::vector<double> values;
  values.reserve(series.size());
  for (const SeriesValue& each : series)
    values.push_back(each.value);
  return values;
}

std::string windowOf(std::int64_t first, std::int64_t last) {
  return fmt::format("iterations {}-{}", first, last);
}

Outcome outcomeOf(std::span<const SeriesValue> series) {
  Outcome outcome;
  outcome.samples = static_cast<std::int64_t>(series.size());
  if (!series.empty())
    outcome.window = windowOf(series.front().iteration, series.back().iteration);
  return outcome;
}

std::vector<SeriesValue> durationsOf(const ProcessView& view) {
  std::vector<SeriesValue> durations;
  for (const StepFact& step : view.steps())
    if (!step.isInner)
      durations.push_back({step.number, static_cast<double>(step.durNs), 1});
  return durations;
}

Outcome scalarMissing(const ProcessView& view,
                      const std::string& scalar,
                      const std::string& parameter) {
  Outcome outcome;
  const std::int64_t strays = view.strays(scalar);
  const std::size_t iterations = view.ended();
  outcome.inputMissing = strays == 0;
  if (strays > 0)
    outcome.message = fmt::format(
        "none of the {} values of '{}' belongs to one of the {} iterations: record it inside an "
        "iteration, or after it on the same thread",
        strays,
        scalar,
        iterations);
  else
    outcome.message = fmt::format(
        "no scalar '{0}' in {1} iterations: record one with sonde.scalar(\"{0}\", value), or set "
        "the parameter {2}",
        scalar,
        iterations,
        parameter);
  return outcome;
}

}  // namespace sonde::rules
