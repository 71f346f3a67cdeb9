#include "rules/reporters/report_parts.h"

#include "base/utf8.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <type_traits>

namespace sonde::rules {
namespace {

constexpr Verdict kOrder[] = {
    Verdict::Fired, Verdict::Error, Verdict::Insufficient, Verdict::Pass, Verdict::Skipped};

std::string timeLine(const TimeRange& time) {
  return fmt::format("time: {} to {} ns", time.fromNs, time.toNs);
}

}  // namespace

std::vector<const CheckResult*> mostSeriousFirst(const CheckReport& report) {
  std::vector<const CheckResult*> ordered;
  for (const Verdict verdict : kOrder)
    for (const CheckResult& result : report.results)
      if (result.outcome.verdict == verdict)
        ordered.push_back(&result);
  return ordered;
}

std::string summaryOf(const CheckReport& report) {
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
  return parts.empty() ? "no rule ran" : fmt::format("{}", fmt::join(parts, ", "));
}

std::optional<Severity> problemOf(const CheckResult& result) {
  if (!result.counts())
    return std::nullopt;
  if (result.outcome.verdict == Verdict::Error)
    return Severity::Error;
  if (result.outcome.verdict == Verdict::Fired)
    return result.severity;
  if (result.outcome.verdict == Verdict::Insufficient && result.severity == Severity::Error)
    return Severity::Error;
  return std::nullopt;
}

std::string reasonNotToCount(const CheckResult& result) {
  if (!result.suppressed.empty())
    return "suppressed: " + result.suppressed;
  return result.isUnasked ? "not recorded, and not asked for: " + result.outcome.message : "";
}

std::string textOf(const EvidenceValue& value) {
  return std::visit(
      [](const auto& each) -> std::string {
        using Value = std::decay_t<decltype(each)>;
        if constexpr (std::is_same_v<Value, double>)
          return fmt::format("{:g}", each);
        else if constexpr (std::is_same_v<Value, std::string> ||
                           std::is_same_v<Value, std::int64_t>)
          return fmt::format("{}", each);
        else
          return fmt::format("{}", fmt::join(each, ", "));
      },
      value);
}

std::string textOf(const Location& location) {
  std::string text = location.path;
  if (location.line > 0)
    text += fmt::format(":{}", location.line);
  return location.function.empty() ? text : fmt::format("{} ({})", text, location.function);
}

std::vector<std::string> factsOf(const Outcome& outcome) {
  std::vector<std::string> lines;
  if (outcome.value)
    lines.push_back(fmt::format("value: {:g}", *outcome.value));
  if (outcome.threshold)
    lines.push_back(fmt::format("threshold: {:g}", *outcome.threshold));
  if (!outcome.window.empty())
    lines.push_back(fmt::format("window: {}, {} samples", outcome.window, outcome.samples));
  for (const auto& [key, value] : outcome.evidence)
    lines.push_back(fmt::format("{}: {}", key, textOf(value)));
  if (outcome.time)
    lines.push_back(timeLine(*outcome.time));
  for (const Location& location : outcome.locations)
    lines.push_back("code: " + textOf(location));
  if (!outcome.query.empty())
    lines.push_back("query: " + outcome.query);
  if (!outcome.hint.empty())
    lines.push_back("hint: " + outcome.hint);
  for (const std::string& command : outcome.next)
    lines.push_back("next: " + command);
  return lines;
}

std::string safeText(std::string_view text) {
  const std::string valid = toText(text);
  std::string safe;
  safe.reserve(valid.size());
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const auto byte = static_cast<unsigned char>(valid[i]);
    const std::string_view three = std::string_view(valid).substr(i, 3);
    if (three == "\xEF\xBF\xBE" || three == "\xEF\xBF\xBF")  // U+FFFE, U+FFFF
      i += 2;
    else if (byte >= 0x20 || byte == '\t' || byte == '\n' || byte == '\r')
      safe += valid[i];
  }
  return safe;
}

std::string pathWithin(const std::string& path, const std::string& root) {
  const std::filesystem::path normal = std::filesystem::path(path).lexically_normal();
  if (root.empty() || !normal.is_absolute())
    return normal.string();
  const std::filesystem::path relative =
      normal.lexically_relative(std::filesystem::path(root).lexically_normal());
  const bool isBelow = !relative.empty() && relative != "." && *relative.begin() != "..";
  return (isBelow ? relative : normal).string();
}

}  // namespace sonde::rules
