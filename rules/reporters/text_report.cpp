#include "rules/reporters/report_parts.h"
#include "rules/reporters/reporters.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
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

bool isSkipped(const CheckResult& result) {
  return result.outcome.verdict == Verdict::Skipped && result.suppressed.empty();
}

// One line for all results of a kind: the names of their rules, with the number of results if the
// rule has others, too. A single rule has its reason.
std::string foldedLine(const CheckReport& report,
                       std::string_view title,
                       bool (*isFolded)(const CheckResult&)) {
  struct Count {
    std::size_t folded = 0;
    std::size_t all = 0;
    std::string reason;
  };
  std::map<std::string, Count> byRule;
  for (const CheckResult& result : report.results) {
    Count& count = byRule[result.rule];
    ++count.all;
    if (isFolded(result) && count.folded++ == 0)
      count.reason = result.outcome.message;
  }
  std::vector<std::string> rules;
  std::string reason;
  for (const auto& [rule, count] : byRule) {
    if (count.folded == 0)
      continue;
    rules.push_back(count.folded == count.all
                        ? rule
                        : fmt::format("{} ({} of {})", rule, count.folded, count.all));
    reason = count.reason;
  }
  if (rules.empty())
    return "";
  return rules.size() == 1 ? fmt::format("{}: {}: {}\n", title, rules.front(), reason)
                           : fmt::format("{}: {}\n", title, fmt::join(rules, ", "));
}

std::string foldedLines(const CheckReport& report) {
  return foldedLine(report, "skipped", isSkipped) +
         foldedLine(report, "not recorded", [](const CheckResult& each) { return each.isUnasked; });
}

// Results that take one line: of one rule and verdict. Findings have a line each.
struct TextLine {
  const CheckResult* result;
  std::string entity;
  bool isLast = true;  // of its rule and verdict: advice follows
};

bool isOfSameKind(const CheckResult& a, const CheckResult& b) {
  return a.rule == b.rule && a.severity == b.severity && a.outcome.verdict == b.outcome.verdict &&
         a.suppressed == b.suppressed && a.outcome.hint == b.outcome.hint;
}

// Joined: healthy entities share a line, and what was skipped has none.
std::vector<TextLine> linesOf(const CheckReport& report, bool isJoined) {
  std::vector<TextLine> lines;
  std::size_t joined = 0;  // into the last line
  for (const CheckResult* const result : mostSeriousFirst(report)) {
    if (result->isUnasked || (isJoined && isSkipped(*result)))
      continue;
    const bool isSame = !lines.empty() && isOfSameKind(*lines.back().result, *result);
    if (isSame && isJoined && result->outcome.verdict != Verdict::Fired) {
      lines.back().entity = fmt::format("{} and {} more", lines.back().result->entity, ++joined);
      continue;
    }
    if (isSame && isJoined)
      lines.back().isLast = false;
    joined = 0;
    lines.push_back({result, result->entity});
  }
  return lines;
}

std::string render(const CheckReport& report,
                   bool isJoined,
                   const std::function<std::string(const CheckResult&)>& linesBelow) {
  const std::vector<TextLine> lines = linesOf(report, isJoined);
  std::size_t ruleWidth = 0;
  std::size_t entityWidth = 0;
  for (const TextLine& line : lines) {
    ruleWidth = std::max(ruleWidth, line.result->rule.size());
    entityWidth = std::max(entityWidth, line.entity.size());
  }
  std::string text;
  for (const TextLine& line : lines) {
    text += fmt::format("{:<12}  {:<7}  {:<{}}  {:<{}}  {}\n",
                        wordOf(line.result->outcome.verdict),
                        wordOf(line.result->severity),
                        line.result->rule,
                        ruleWidth,
                        line.entity,
                        entityWidth,
                        line.result->outcome.message);
    if (line.isLast)
      text += linesBelow(*line.result);
  }
  text += isJoined ? foldedLines(report) : unaskedLines(report);
  for (const std::string& note : report.notes)
    text += fmt::format("note: {}\n", note);
  return text + summaryOf(report) + "\n";
}

}  // namespace

std::string renderText(const CheckReport& report) {
  return render(report, true, adviceOf);
}

std::string renderExplained(const CheckReport& report, const Configuration& configuration) {
  return render(report, false, [&](const CheckResult& result) {
    return explanationOf(result, configuration);
  });
}

}  // namespace sonde::rules
