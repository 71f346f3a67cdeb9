#include "rules/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

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
          {"evidence", evidenceOf(outcome)}};
}

std::string summaryLine(const CheckReport& report) {
  std::map<Verdict, int> counts;
  for (const CheckResult& result : report.results)
    ++counts[result.outcome.verdict];
  std::vector<std::string> parts;
  for (const Verdict verdict :
       {Verdict::Fired, Verdict::Error, Verdict::Insufficient, Verdict::Pass, Verdict::Skipped})
    if (counts[verdict] > 0)
      parts.push_back(fmt::format("{} {}", counts[verdict], wordOf(verdict)));
  return parts.empty() ? "no rule ran\n" : fmt::format("{}\n", fmt::join(parts, ", "));
}

}  // namespace

std::string renderText(const CheckReport& report) {
  std::size_t ruleWidth = 0;
  std::size_t entityWidth = 0;
  for (const CheckResult& result : report.results) {
    ruleWidth = std::max(ruleWidth, result.rule.size());
    entityWidth = std::max(entityWidth, result.entity.size());
  }
  std::string text;
  for (const CheckResult& result : report.results)
    text += fmt::format("{:<12}  {:<7}  {:<{}}  {:<{}}  {}\n",
                        wordOf(result.outcome.verdict),
                        wordOf(result.severity),
                        result.rule,
                        ruleWidth,
                        result.entity,
                        entityWidth,
                        result.outcome.message);
  return text + summaryLine(report);
}

std::string renderJson(const CheckReport& report) {
  json results = json::array();
  for (const CheckResult& result : report.results)
    results.push_back(jsonOf(result));
  const json document = {
      {"schema", 1}, {"verdict", wordOf(report.verdict())}, {"results", std::move(results)}};
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace sonde::rules
