#include "rules/reporters/evidence_json.h"

#include <cmath>

#include <nlohmann/json.hpp>

namespace sonde::rules {

nlohmann::json evidenceJson(const Outcome& outcome) {
  using nlohmann::json;
  json evidence = json::object();
  for (const auto& [key, value] : outcome.evidence)
    evidence[key] = std::visit([](const auto& each) { return json(each); }, value);
  if (outcome.time)
    evidence["time_range"] = {outcome.time->fromNs, outcome.time->toNs};
  if (!outcome.query.empty())
    evidence["query"] = outcome.query;
  for (const Location& place : outcome.locations)
    evidence["locations"].push_back(
        {{"path", place.path}, {"line", place.line}, {"function", place.function}});
  return evidence;
}

nlohmann::json numberJson(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

}  // namespace sonde::rules
