#include "rules/reporters/reporters.h"

#include <cmath>

#include <nlohmann/json.hpp>

namespace sonde::rules {
namespace {

using nlohmann::json;

json numberOrNull(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? json(*value) : json(nullptr);
}

json evidenceOf(const Outcome& outcome) {
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

json jsonOf(const CheckResult& result) {
  const Outcome& outcome = result.outcome;
  return {{"rule", result.rule},
          {"verdict", wordOf(outcome.verdict)},
          {"severity", wordOf(result.severity)},
          {"message", outcome.message},
          {"value", numberOrNull(outcome.value)},
          {"threshold", numberOrNull(outcome.threshold)},
          {"window", outcome.window.empty() ? json(nullptr) : json(outcome.window)},
          {"samples", outcome.samples},
          {"entity", result.entity},
          {"evidence", evidenceOf(outcome)},
          {"hint", outcome.hint},
          {"next", outcome.next},
          {"suppressed", result.suppressed.empty() ? json(nullptr) : json(result.suppressed)}};
}

}  // namespace

std::string renderJson(const CheckReport& report) {
  json results = json::array();
  for (const CheckResult& result : report.results)
    results.push_back(jsonOf(result));
  const json document = {{"schema", 1},
                         {"verdict", wordOf(report.verdict())},
                         {"results", std::move(results)},
                         {"notes", report.notes}};
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string renderJson(const CheckResult& result) {
  return jsonOf(result).dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace sonde::rules
