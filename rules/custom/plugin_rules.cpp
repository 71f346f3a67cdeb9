#include "rules/custom/plugin_rules.h"

#include "analysis/store/trace_file.h"
#include "plugins/host/descriptor.h"
#include "rules/custom/own_program.h"
#include "rules/custom/plugin_judge.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

namespace sonde::rules {
namespace {

using nlohmann::json;
using plugins::faultyPlugin;

constexpr plugins::DescriptorKind kKind = {"sonde_rule_descriptor",
                                           "rule",
                                           "sonde_rule.h",
                                           "SONDE_RULE_HEAD",
                                           SONDE_RULE_ABI,
                                           sizeof(sonde_rule_plugin)};
static_assert(offsetof(sonde_rule_plugin, version) == offsetof(plugins::DescriptorHead, version));

Result<void> checkParameters(const std::string& of, const sonde_rule& rule) {
  SONDE_TRY(plugins::checkArray("the parameters of " + of, rule.parameters, rule.parameter_count));
  std::set<std::string> names{"severity"};
  for (std::size_t i = 0; i < rule.parameter_count; ++i) {
    const sonde_rule_parameter& each = rule.parameters[i];
    SONDE_TRY(plugins::checkName(fmt::format("parameter {} of {}", i + 1, of), each.name, "_"));
    const std::string what = fmt::format("the parameter '{}' of {}", each.name, of);
    if (!names.insert(each.name).second)
      return faultyPlugin(what, "is there twice, or is 'severity'");
    SONDE_TRY(plugins::checkLine("the help of " + what, each.help));
    if (each.type < SONDE_RULE_INTEGER || each.type > SONDE_RULE_TEXT)
      return faultyPlugin(what, fmt::format("has the type {}, which does not exist", each.type));
    if (each.type == SONDE_RULE_TEXT)
      SONDE_TRY(plugins::checkLine("the default of " + what, each.text));
    if (!(each.minimum <= each.maximum))
      return faultyPlugin(what, "has a minimum above its maximum");
  }
  return {};
}

Result<void> checkRule(const sonde_rule& rule, std::size_t number) {
  SONDE_TRY(plugins::checkName(fmt::format("rule {}", number), rule.name, "-"));
  const std::string of = fmt::format("the rule '{}'", rule.name);
  if (findRule(rule.name) != nullptr)
    return faultyPlugin(of, "has the name of a rule of Sonde: give it another name");
  SONDE_TRY(plugins::checkLine("the summary of " + of, rule.summary));
  if (rule.hint != nullptr)
    SONDE_TRY(plugins::checkLine("the hint of " + of, rule.hint));
  SONDE_TRY(checkParameters(of, rule));
  if (rule.judge == nullptr)
    return faultyPlugin(of, "has no function judge");
  return {};
}

Result<void> checkRules(const sonde_rule_plugin& plugin) {
  if (plugin.rule_count == 0)
    return faultyPlugin("it", "has no rules");
  SONDE_TRY(plugins::checkArray("its rules", plugin.rules, plugin.rule_count));
  std::set<std::string> names;
  for (std::size_t i = 0; i < plugin.rule_count; ++i) {
    SONDE_TRY(checkRule(plugin.rules[i], i + 1));
    if (!names.insert(plugin.rules[i].name).second)
      return faultyPlugin(fmt::format("the rule '{}'", plugin.rules[i].name), "is there twice");
  }
  return {};
}

Result<const sonde_rule_plugin*> loadPlugin(const std::filesystem::path& path) {
  SONDE_TRY_ASSIGN(const void* const loaded, plugins::loadDescriptor(path, kKind));
  const auto* const plugin = static_cast<const sonde_rule_plugin*>(loaded);
  if (const auto checked = checkRules(*plugin); !checked)
    return plugins::refusedPlugin(path, checked.error().message);
  return plugin;
}

ParameterSpec specOf(const sonde_rule_parameter& parameter) {
  ParameterSpec spec{parameter.name, parameter.integer, parameter.help};
  if (parameter.type == SONDE_RULE_REAL)
    spec.fallback = parameter.real;
  if (parameter.type == SONDE_RULE_TEXT)
    spec.fallback = std::string(parameter.text);
  if (parameter.minimum < parameter.maximum) {
    spec.minimum = parameter.minimum;
    spec.maximum = parameter.maximum;
  }
  return spec;
}

json valuesOf(const Parameters& parameters) {
  json values = json::object();
  for (const auto& [name, value] : parameters.values())
    values[name] = std::visit([](const auto& each) { return json(each); }, value);
  return values;
}

json evidenceOf(const EvidenceValue& value) {
  return std::visit([](const auto& each) { return json(each); }, value);
}

json jsonOf(const Finding& finding) {
  const Outcome& outcome = finding.outcome;
  json object = {{"entity", finding.entity},
                 {"verdict", static_cast<int>(outcome.verdict)},
                 {"message", outcome.message},
                 {"samples", outcome.samples},
                 {"query", outcome.query},
                 {"hint", outcome.hint},
                 {"evidence", json::object()}};
  if (outcome.value)
    object["value"] = *outcome.value;
  if (outcome.threshold)
    object["threshold"] = *outcome.threshold;
  if (outcome.time)
    object["time"] = {outcome.time->fromNs, outcome.time->toNs};
  for (const auto& [name, value] : outcome.evidence)
    object["evidence"][name] = evidenceOf(value);
  return object;
}

// Requires: from jsonOf().
Finding findingIn(const json& object) {
  Finding finding{object.at("entity").get<std::string>(), {}};
  Outcome& outcome = finding.outcome;
  outcome.verdict = static_cast<Verdict>(object.at("verdict").get<int>());
  outcome.message = object.at("message").get<std::string>();
  outcome.samples = object.at("samples").get<std::int64_t>();
  outcome.query = object.at("query").get<std::string>();
  outcome.hint = object.at("hint").get<std::string>();
  if (object.contains("value"))
    outcome.value = object["value"].get<double>();
  if (object.contains("threshold"))
    outcome.threshold = object["threshold"].get<double>();
  if (object.contains("time"))
    outcome.time =
        TimeRange{object["time"][0].get<std::int64_t>(), object["time"][1].get<std::int64_t>()};
  for (const auto& [name, value] : object.at("evidence").items()) {
    EvidenceValue& kept = outcome.evidence[name];
    if (value.is_number_integer())
      kept = value.get<std::int64_t>();
    else if (value.is_number())
      kept = value.get<double>();
    else
      kept = value.get<std::string>();
  }
  return finding;
}

Result<std::vector<Finding>> judgeApart(const std::filesystem::path& plugin,
                                        const std::string& rule,
                                        const store::Database& trace,
                                        const Parameters& parameters) {
  const json request = {{"plugin", plugin.string()},
                        {"rule", rule},
                        {"trace", trace.path().string()},
                        {"values", valuesOf(parameters)}};
  SONDE_TRY_ASSIGN(const std::string text,
                   runOwnProgram(kJudgeProgram, request.dump(), kPluginLimit));
  const json answer = json::parse(text, nullptr, false);
  if (!answer.is_object())
    return Error{ErrorCode::InvalidArgument, "its process ended before the result was complete"};
  if (answer.contains("error"))
    return Error{ErrorCode::InvalidArgument, answer["error"].get<std::string>()};
  std::vector<Finding> findings;
  for (const json& each : answer.at("findings"))
    findings.push_back(findingIn(each));
  return findings;
}

std::shared_ptr<const RuleInfo> infoOf(const std::filesystem::path& path, const sonde_rule& rule) {
  auto info = std::make_shared<RuleInfo>();
  info->name = rule.name;
  info->profile = Profile::Ci;
  info->summary = rule.summary;
  info->details = "a rule of " + path.filename().string();
  info->hint = rule.hint == nullptr ? "" : rule.hint;
  for (std::size_t i = 0; i < rule.parameter_count; ++i)
    info->parameters.push_back(specOf(rule.parameters[i]));
  info->judge = JobJudge([path, name = info->name](Facts& facts, const Parameters& parameters) {
    return judgeApart(path, name, facts.trace(), parameters);
  });
  return info;
}

// By the order of the rule's parameters. Texts are those of `values`.
std::vector<sonde_rule_value> valuesFor(const sonde_rule& rule, const json& values) {
  std::vector<sonde_rule_value> all;
  for (std::size_t i = 0; i < rule.parameter_count; ++i) {
    const json& value = values.at(rule.parameters[i].name);
    sonde_rule_value each{0, 0, ""};
    if (value.is_string())
      each.text = value.get_ref<const std::string&>().c_str();
    else
      each.real = value.get<double>();
    if (value.is_number_integer())
      each.integer = value.get<std::int64_t>();
    all.push_back(each);
  }
  return all;
}

Result<std::vector<Finding>> judgeRequest(const json& request) {
  SONDE_TRY_ASSIGN(const sonde_rule_plugin* const plugin,
                   loadPlugin(request.at("plugin").get<std::string>()));
  const std::string name = request.at("rule").get<std::string>();
  const auto* const end = plugin->rules + plugin->rule_count;
  const auto* const rule =
      std::find_if(plugin->rules, end, [&](const sonde_rule& each) { return each.name == name; });
  if (rule == end)
    return Error{ErrorCode::InvalidArgument, "the plugin has changed since it was loaded"};
  SONDE_TRY_ASSIGN(const store::Database trace,
                   store::openTrace(request.at("trace").get<std::string>()));
  return judgeByPlugin(*rule, valuesFor(*rule, request.at("values")), trace);
}

std::string answerTo(const std::string& request) {
  json answer;
  try {
    const auto found = judgeRequest(json::parse(request));
    if (found) {
      answer["findings"] = json::array();
      for (const Finding& finding : *found)
        answer["findings"].push_back(jsonOf(finding));
    } else {
      answer["error"] = found.error().message;
    }
  } catch (const json::exception& error) {
    answer["error"] = fmt::format("the request is no request: {}", error.what());
  }
  return answer.dump();
}

}  // namespace

Result<std::vector<std::shared_ptr<const RuleInfo>>> loadPluginRules(
    const std::filesystem::path& path) {
  SONDE_TRY_ASSIGN(const sonde_rule_plugin* const plugin, loadPlugin(path));
  std::vector<std::shared_ptr<const RuleInfo>> rules;
  for (std::size_t i = 0; i < plugin->rule_count; ++i)
    rules.push_back(infoOf(std::filesystem::absolute(path), plugin->rules[i]));
  return rules;
}

void judgeAsOwnProgram() {
  const int output = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  const std::string request{std::istreambuf_iterator<char>(std::cin), {}};
  const std::string answer = answerTo(request);
  for (std::size_t written = 0; written < answer.size();) {
    const ssize_t more = write(output, answer.data() + written, answer.size() - written);
    if (more <= 0)
      return;
    written += static_cast<std::size_t>(more);
  }
}

}  // namespace sonde::rules
