#include "rules/reporters/reporters.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace sonde::rules {
namespace {

constexpr Verdict kOrder[] = {
    Verdict::Fired, Verdict::Error, Verdict::Insufficient, Verdict::Pass, Verdict::Skipped};

std::string summaryLine(const CheckReport& report) {
  std::map<Verdict, int> counts;
  int notRecorded = 0;
  int suppressed = 0;
  for (const CheckResult& result : report.results) {
    if (result.isUnasked)
      ++notRecorded;
    else if (!result.suppressed.empty())
      ++suppressed;
    else
      ++counts[result.outcome.verdict];
  }
  std::vector<std::string> parts;
  for (const Verdict verdict : kOrder)
    if (counts[verdict] > 0)
      parts.push_back(fmt::format("{} {}", counts[verdict], wordOf(verdict)));
  if (suppressed > 0)
    parts.push_back(fmt::format("{} suppressed", suppressed));
  if (notRecorded > 0)
    parts.push_back(fmt::format("{} not recorded", notRecorded));
  return parts.empty() ? "no rule ran\n" : fmt::format("{}\n", fmt::join(parts, ", "));
}

// Lines below a finding: why it does not count, or what to do.
std::string adviceOf(const CheckResult& result) {
  if (!result.suppressed.empty())
    return fmt::format("{:14}suppressed: {}\n", "", result.suppressed);
  if (result.outcome.verdict != Verdict::Fired)
    return "";
  std::string lines;
  if (!result.outcome.hint.empty())
    lines += fmt::format("{:14}hint: {}\n", "", result.outcome.hint);
  for (const std::string& command : result.outcome.next)
    lines += fmt::format("{:14}next: {}\n", "", command);
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

}  // namespace

std::string renderText(const CheckReport& report) {
  std::size_t ruleWidth = 0;
  std::size_t entityWidth = 0;
  for (const CheckResult& result : report.results) {
    ruleWidth = std::max(ruleWidth, result.rule.size());
    entityWidth = std::max(entityWidth, result.entity.size());
  }
  std::string text;
  for (const Verdict verdict : kOrder)
    for (const CheckResult& result : report.results)
      if (result.outcome.verdict == verdict && !result.isUnasked)
        text += fmt::format("{:<12}  {:<7}  {:<{}}  {:<{}}  {}\n",
                            wordOf(verdict),
                            wordOf(result.severity),
                            result.rule,
                            ruleWidth,
                            result.entity,
                            entityWidth,
                            result.outcome.message) +
                adviceOf(result);
  text += unaskedLines(report);
  for (const std::string& note : report.notes)
    text += fmt::format("note: {}\n", note);
  return text + summaryLine(report);
}

}  // namespace sonde::rules
