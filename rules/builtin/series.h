// The newest values of a series, as rules judge them. Plain functions; any thread.
#pragma once

#include "rules/engine/verdict.h"
#include "rules/facts/process_facts.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sonde::rules {

// The last `window` of them.
template <typename T>
std::span<const T> newest(std::span<const T> values, std::int64_t window) {
  const auto most = static_cast<std::size_t>(window);
  return values.size() <= most ? values : values.subspan(values.size() - most);
}

std::vector<double> valuesOf(std::span<const SeriesValue> series);

// A judgement of these values without a verdict yet.
Outcome outcomeOf(std::span<const SeriesValue> series);

// "iterations 5-104"; empty for none.
std::string windowOf(std::int64_t first, std::int64_t last);

// The duration in ns of each iteration that is in no other one.
std::vector<SeriesValue> durationsOf(const ProcessView& view);

// Insufficient, with a message about what has to be recorded: nobody recorded the scalar in these
// iterations. `rule`'s parameter `parameter` names the scalar.
Outcome scalarMissing(const ProcessView& view,
                      const std::string& scalar,
                      const std::string& parameter);

}  // namespace sonde::rules
