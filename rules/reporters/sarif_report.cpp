#include "base/fnv1a.h"
#include "rules/reporters/evidence_json.h"
#include "rules/reporters/report_parts.h"
#include "rules/reporters/reporters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

// Section numbers are of "Static Analysis Results Interchange Format (SARIF) Version 2.1.0".
namespace sonde::rules {
namespace {

using nlohmann::json;

// GitHub shows as many results of a file.
constexpr std::size_t kMostResults = 5000;
constexpr const char* kSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json";

// Braces are placeholders, so real ones are doubled (3.11.5).
std::string messageText(const std::string& text) {
  std::string doubled;
  for (const char each : text) {
    doubled += each;
    if (each == '{' || each == '}')
      doubled += each;
  }
  return doubled;
}

json messageOf(const std::string& text) {
  return {{"text", messageText(text)}};
}

std::string_view sarifLevel(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return "error";
    case Severity::Warning:
      return "warning";
    case Severity::Info:
      return "note";
    case Severity::Off:
      break;
  }
  return "none";
}

std::string_view sarifKind(Verdict verdict) {
  switch (verdict) {
    case Verdict::Fired:
      return "fail";
    case Verdict::Pass:
      return "pass";
    case Verdict::Skipped:
      return "notApplicable";
    case Verdict::Insufficient:
    case Verdict::Error:
      break;
  }
  return "open";
}

// The path of a URI by RFC 3986: all but unreserved characters and slashes are percent-encoded.
std::string percentEncoded(std::string_view path) {
  static constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  std::string uri;
  for (const char each : path)
    uri += kPlain.find(each) != std::string_view::npos
               ? std::string(1, each)
               : fmt::format("%{:02X}", static_cast<unsigned char>(each));
  return uri;
}

json artifactOf(const std::string& path, const std::string& sourceRoot) {
  const std::string within = pathWithin(path, sourceRoot);
  if (within.starts_with('/'))
    return {{"uri", "file://" + percentEncoded(within)}};
  return {{"uri", percentEncoded(within)}, {"uriBaseId", "%SRCROOT%"}};
}

json physicalLocation(const Location& location, const std::string& sourceRoot) {
  json physical = {{"artifactLocation", artifactOf(location.path, sourceRoot)}};
  if (location.line > 0)
    physical["region"] = {{"startLine", location.line}};
  return physical;
}

// "rank 3" is a process, "rank 0: fc1.weight" a thing of one.
json entityLocation(const std::string& entity) {
  json logical = {{"name", entity}};
  const std::size_t colon = entity.find(": ");
  if (colon != std::string::npos)
    logical = {{"name", entity.substr(colon + 2)}, {"fullyQualifiedName", entity}};
  else if (entity.starts_with("rank ") || entity.starts_with("process "))
    logical["kind"] = "process";
  else if (entity == "job")
    logical["kind"] = "job";
  return logical;
}

// Each place in the code; without one the file that was judged, because GitHub refuses results
// without a place.
json locationsOf(const CheckResult& result, const SarifOptions& options) {
  json places = json::array();
  for (const Location& location : result.outcome.locations) {
    json place = {{"physicalLocation", physicalLocation(location, options.sourceRoot)}};
    if (!location.function.empty())
      place["logicalLocations"] =
          json::array({{{"name", location.function}, {"kind", "function"}}});
    places.push_back(std::move(place));
  }
  if (places.empty()) {
    places.push_back(json::object());
    if (!options.subject.empty())
      places[0]["physicalLocation"] =
          physicalLocation({options.subject, 1, ""}, options.sourceRoot);
  }
  places[0]["logicalLocations"].push_back(entityLocation(result.entity));
  return places;
}

// The same in each run that finds the same, so without any measured value. A line moves when code
// above it changes, so it counts only if there is no function.
std::string fingerprintOf(const CheckResult& result, const std::string& sourceRoot) {
  std::string identity = result.rule + '\n' + result.entity;
  if (!result.outcome.locations.empty()) {
    const Location& code = result.outcome.locations.front();
    identity += '\n' + pathWithin(code.path, sourceRoot) + '\n' +
                (code.function.empty() ? std::to_string(code.line) : code.function);
  }
  return fmt::format("{:016x}", recorder::fnv1a(identity));
}

json suppressionsOf(const CheckResult& result) {
  json suppressions = json::array();  // of all results or of none (3.27.23)
  if (!result.suppressed.empty())
    suppressions.push_back(
        {{"kind", "external"}, {"status", "accepted"}, {"justification", result.suppressed}});
  return suppressions;
}

json propertiesOf(const CheckResult& result) {
  const Outcome& outcome = result.outcome;
  return {{"verdict", wordOf(outcome.verdict)},
          {"severity", wordOf(result.severity)},
          {"value", numberJson(outcome.value)},
          {"threshold", numberJson(outcome.threshold)},
          {"window", outcome.window},
          {"samples", outcome.samples},
          {"evidence", evidenceJson(outcome)},
          {"hint", outcome.hint},
          {"next", outcome.next}};
}

json resultOf(const CheckResult& result,
              const Configuration& configuration,
              const SarifOptions& options) {
  const Outcome& outcome = result.outcome;
  const bool isFailure = outcome.verdict == Verdict::Fired;
  const std::string fingerprint = fingerprintOf(result, options.sourceRoot);
  json written = {
      {"ruleId", result.rule},
      {"kind", sarifKind(outcome.verdict)},
      {"level", isFailure ? sarifLevel(result.severity) : "none"},  // 3.27.10
      {"message", messageOf(fmt::format("{}: {}", result.entity, outcome.message))},
      {"locations", locationsOf(result, options)},
      // GitHub compares only the first.
      {"partialFingerprints",
       {{"primaryLocationLineHash", fingerprint + ":1"}, {"sondeFinding/v1", fingerprint}}},
      {"suppressions", suppressionsOf(result)},
      {"properties", propertiesOf(result)}};
  const auto& rules = configuration.rules;
  const auto rule = std::find_if(rules.begin(), rules.end(), [&](const ConfiguredRule& each) {
    return each.info->name == result.rule;
  });
  if (rule != rules.end())
    written["ruleIndex"] = rule - rules.begin();
  return written;
}

json descriptorOf(const ConfiguredRule& rule) {
  const RuleInfo& info = *rule.info;
  const std::string details = info.details.empty() ? info.summary : info.details;
  std::string help = details;
  if (!info.needs.empty())
    help += fmt::format("\n\nIt needs records of {}.", info.needs);
  if (!info.hint.empty())
    help += fmt::format("\n\nWhen it fires: {}.", info.hint);
  for (const std::string& command : info.next)
    help += "\n\n" + command;
  return {{"id", info.name},
          {"shortDescription", {{"text", info.summary}}},
          {"fullDescription", {{"text", details}}},
          {"help", {{"text", help}}},
          {"defaultConfiguration", {{"level", sarifLevel(rule.severity)}}}};
}

json notification(std::string_view level, const std::string& text) {
  return {{"level", level}, {"message", messageOf(text)}};
}

json invocationOf(const CheckReport& report, std::size_t leftOut) {
  json execution = json::array();
  bool isSuccessful = true;
  for (const CheckResult& result : report.results)
    if (result.outcome.verdict == Verdict::Error) {
      execution.push_back(notification(
          "error", fmt::format("{}: {}: {}", result.rule, result.entity, result.outcome.message)));
      execution.back()["associatedRule"] = {{"id", result.rule}};
      isSuccessful = false;
    }
  if (leftOut > 0)
    execution.push_back(
        notification("warning", fmt::format("{} less serious results are left out", leftOut)));
  json configuration = json::array();
  for (const std::string& note : report.notes)
    configuration.push_back(notification("warning", note));
  return {{"executionSuccessful", isSuccessful},
          {"toolExecutionNotifications", std::move(execution)},
          {"toolConfigurationNotifications", std::move(configuration)}};
}

std::vector<const CheckResult*> resultsFor(const CheckReport& report, bool onlyFindings) {
  std::vector<const CheckResult*> results = mostSeriousFirst(report);
  std::erase_if(results, [&](const CheckResult* result) {
    return onlyFindings && !(result->counts() && result->outcome.verdict == Verdict::Fired);
  });
  return results;
}

}  // namespace

std::string renderSarif(const CheckReport& report,
                        const Configuration& configuration,
                        const SarifOptions& options) {
  std::vector<const CheckResult*> chosen = resultsFor(report, options.onlyFindings);
  const std::size_t leftOut = chosen.size() - std::min(chosen.size(), kMostResults);
  chosen.resize(chosen.size() - leftOut);
  json results = json::array();
  for (const CheckResult* const result : chosen)
    results.push_back(resultOf(*result, configuration, options));
  json rules = json::array();
  for (const ConfiguredRule& rule : configuration.rules)
    rules.push_back(descriptorOf(rule));
  const json run = {
      {"tool",
       {{"driver",
         {{"name", "Sonde"}, {"version", options.version}, {"rules", std::move(rules)}}}}},
      {"invocations", json::array({invocationOf(report, leftOut)})},
      {"results", std::move(results)}};
  const json document = {{"$schema", kSchema}, {"version", "2.1.0"}, {"runs", json::array({run})}};
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace sonde::rules
