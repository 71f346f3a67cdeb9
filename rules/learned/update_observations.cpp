// How weights follow their gradients, by the means of both.
#include "rules/learned/observers.h"

#include <algorithm>
#include <map>
#include <optional>

namespace sonde::rules {
namespace {

// By iteration; only those recorded once.
using Means = std::map<std::int64_t, double>;

constexpr double kHalfUnit = 0x1p-24;  // greatest relative rounding of a number of 32 bits

Means meansOf(const TensorSeries& series) {
  Means means;
  std::map<std::int64_t, int> recordings;
  for (const TensorFact& fact : series.values) {
    ++recordings[fact.iteration];
    if (fact.mean && fact.finite() == fact.elements)
      means[fact.iteration] = *fact.mean;
  }
  for (const auto& [iteration, count] : recordings)
    if (count > 1)
      means.erase(iteration);
  return means;
}

// The rounding of a mean of many elements, each of which is rounded independently.
double roundingOf(const TensorSeries& series) {
  double greatest = 0;
  for (const TensorFact& fact : series.values)
    if (fact.elements > 0)
      greatest = std::max(greatest, kHalfUnit * fact.l2 / static_cast<double>(fact.elements));
  return greatest;
}

std::optional<double> at(const Means& means, std::int64_t iteration) {
  const auto found = means.find(iteration);
  return found == means.end() ? std::nullopt : std::optional(found->second);
}

// The update of an iteration. Unset: a neighbour of it was not recorded.
std::optional<UpdatePoint> updateIn(const Means& weights,
                                    const Means& gradients,
                                    std::int64_t iteration,
                                    bool isFirst,
                                    double rounding) {
  const auto before = at(weights, iteration - 1);
  const auto now = at(weights, iteration);
  const auto after = at(weights, iteration + 1);
  const auto gradient = at(gradients, iteration);
  if (!now || !after || !gradient || (!before && !isFirst))
    return std::nullopt;
  return UpdatePoint{*now - *after, before ? *before - *now : 0, *gradient, *now, rounding};
}

}  // namespace

void observeUpdates(const ProcessFacts& facts, Observer& observer) {
  std::map<std::string, const TensorSeries*> gradients;
  for (const TensorSeries& series : facts.tensors)
    if (series.collection == "gradients")
      gradients[series.name] = &series;
  for (const TensorSeries& series : facts.tensors) {
    const auto gradient = gradients.find(series.name);
    if (series.collection != "weights" || gradient == gradients.end() || facts.steps.empty())
      continue;
    const Means weights = meansOf(series);
    const Means slopes = meansOf(*gradient->second);
    const std::int64_t first = facts.steps.front().number;
    const double rounding = roundingOf(series);
    for (const auto& [iteration, mean] : weights)
      if (observer.observes(iteration))
        if (const auto update = updateIn(weights, slopes, iteration, iteration == first, rounding))
          observer.addUpdate({"updates", series.name + " (weights)", "follows its gradient"},
                             "tensors of weights",
                             observer.tick(iteration),
                             *update);
  }
}

}  // namespace sonde::rules
