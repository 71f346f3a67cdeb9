#include "rules/reporters/evidence_json.h"
#include "rules/reporters/reporters.h"

#include <nlohmann/json.hpp>

namespace sonde::rules {
namespace {

using nlohmann::json;

json jsonOf(const CheckResult& result) {
  const Outcome& outcome = result.outcome;
  return {{"rule", result.rule},
          {"verdict", wordOf(outcome.verdict)},
          {"severity", wordOf(result.severity)},
          {"message", outcome.message},
          {"value", numberJson(outcome.value)},
          {"threshold", numberJson(outcome.threshold)},
          {"window", outcome.window.empty() ? json(nullptr) : json(outcome.window)},
          {"samples", outcome.samples},
          {"entity", result.entity},
          {"evidence", evidenceJson(outcome)},
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
