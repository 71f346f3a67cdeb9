// The evidence of an outcome as JSON. A plain function; any thread.
#pragma once

#include "rules/engine/verdict.h"

#include <optional>

#include <nlohmann/json_fwd.hpp>

namespace sonde::rules {

// An object: the rule's evidence, and `time_range`, `query` and `locations` if there are any.
nlohmann::json evidenceJson(const Outcome& outcome);

// JSON has neither NaN nor infinity: null.
nlohmann::json numberJson(const std::optional<double>& value);

}  // namespace sonde::rules
