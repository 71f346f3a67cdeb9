#include "rules/reporters/report_parts.h"
#include "rules/reporters/reporters.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace sonde::rules {
namespace {

constexpr int kIndent = 14;  // of lines below a result

std::string below(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  std::string result;
  while (std::getline(lines, line))
    result += fmt::format("{:{}}{}\n", "", kIndent, line);
  return result;
}

// Lines below a finding: why it does not count, or what to do.
std::string adviceOf(const CheckResult& result) {
  if (!result.suppressed.empty())
    return below(reasonNotToCount(result));
  if (result.outcome.verdict != Verdict::Fired)
    return "";
  std::string lines;
  if (!result.outcome.hint.empty())
    lines += below("hint: " + result.outcome.hint);
  for (const std::string& command : result.outcome.next)
    lines += below("next: " + command);
  return lines;
}

const ConfiguredRule* ruleOf(const CheckResult& result, const Configuration& configuration) {
  const auto found = std::find_if(
      configuration.rules.begin(), configuration.rules.end(), [&](const ConfiguredRule& rule) {
        return rule.info->name == result.rule;
      });
  return found == configuration.rules.end() ? nullptr : &*found;
}

// Lines below a result that is not healthy: how the rule judges, by which parameters, and what it
// saw.
std::string explanationOf(const CheckResult& result, const Configuration& configuration) {
  if (result.outcome.verdict == Verdict::Pass)
    return "";
  std::string lines = below(reasonNotToCount(result));
  const ConfiguredRule* const rule = ruleOf(result, configuration);
  if (rule != nullptr)
    lines += below("rule: " + rule->info->details);
  if (rule != nullptr && !rule->parameters.values().empty()) {
    std::vector<std::string> settings;
    for (const auto& [name, value] : rule->parameters.values())
      settings.push_back(fmt::format("{} = {}", name, textOf(value)));
    lines += below(fmt::format("parameters: {}", fmt::join(settings, ", ")));
  }
  for (const std::string& fact : factsOf(result.outcome))
    lines += below(fact);
  return lines;
}

// The rules that nobody asked for and that saw nothing, in a line for each reason.
std::string unaskedLines(const CheckReport& report) {
  std::map<std::string, std::vector<std::string>> rulesByReason;
  for (const CheckResult& result : report.results) {
    if (!result.isUnasked)
      continue;
    std::vector<std::string>& rules = rulesByReason[result.outcome.message];
    if (rules.empty() || rules.back() != result.rule)
      rules.push_back(result.rule);
  }
  std::string lines;
  for (const auto& [reason, rules] : rulesByReason)
    lines += fmt::format("not judged: {}: {}\n", fmt::join(rules, ", "), reason);
  return lines;
}

std::string render(const CheckReport& report,
                   const std::function<std::string(const CheckResult&)>& linesBelow) {
  std::size_t ruleWidth = 0;
  std::size_t entityWidth = 0;
  for (const CheckResult& result : report.results) {
    ruleWidth = std::max(ruleWidth, result.rule.size());
    entityWidth = std::max(entityWidth, result.entity.size());
  }
  std::string text;
  for (const CheckResult* const result : mostSeriousFirst(report))
    if (!result->isUnasked)
      text += fmt::format("{:<12}  {:<7}  {:<{}}  {:<{}}  {}\n",
                          wordOf(result->outcome.verdict),
                          wordOf(result->severity),
                          result->rule,
                          ruleWidth,
                          result->entity,
                          entityWidth,
                          result->outcome.message) +
              linesBelow(*result);
  text += unaskedLines(report);
  for (const std::string& note : report.notes)
    text += fmt::format("note: {}\n", note);
  return text + summaryOf(report) + "\n";
}

}  // namespace

std::string renderText(const CheckReport& report) {
  return render(report, adviceOf);
}

std::string renderExplained(const CheckReport& report, const Configuration& configuration) {
  return render(report,
                [&](const CheckResult& result) { return explanationOf(result, configuration); });
}

}  // namespace sonde::rules
