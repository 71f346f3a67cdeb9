#include "rules/reporters/report_parts.h"
#include "rules/reporters/reporters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace sonde::rules {
namespace {

// GitHub refuses a step summary of more than 1 MiB; other commands may have written to it.
constexpr std::size_t kMostSummaryBytes = 786'432;

// As the runner undoes it: %25 %0D %0A, and in properties %3A %2C.
std::string commandText(std::string_view text, bool isProperty) {
  std::string result;
  for (const char each : safeText(text)) {
    const bool isSpecial =
        each == '%' || each == '\r' || each == '\n' || (isProperty && (each == ':' || each == ','));
    if (isSpecial)
      result += fmt::format("%{:02X}", static_cast<unsigned char>(each));
    else
      result += each;
  }
  return result;
}

std::string_view commandOf(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return "error";
    case Severity::Warning:
      return "warning";
    case Severity::Info:
    case Severity::Off:
      break;
  }
  return "notice";
}

std::string property(const char* name, std::string_view value) {
  return fmt::format("{}={}", name, commandText(value, true));
}

std::string annotation(const CheckResult& result, Severity severity, const std::string& root) {
  const Outcome& outcome = result.outcome;
  std::string properties = property("title", fmt::format("{} ({})", result.rule, result.entity));
  if (!outcome.locations.empty()) {
    const Location& code = outcome.locations.front();
    properties += "," + property("file", pathWithin(code.path, root));
    if (code.line > 0)
      properties += fmt::format(",line={}", code.line);
  }
  std::string message = outcome.message;
  if (!outcome.hint.empty())
    message += "\nhint: " + outcome.hint;
  for (const std::string& command : outcome.next)
    message += "\nnext: " + command;
  return fmt::format("::{} {}::{}\n", commandOf(severity), properties, commandText(message, false));
}

// Text in a cell of a table in GitHub's Markdown.
std::string cellText(std::string_view text) {
  static constexpr std::string_view kMarks = "\\`*_[]|~$#!@";
  std::string result;
  for (const char each : safeText(text)) {
    if (each == '<')
      result += "&lt;";
    else if (each == '>')
      result += "&gt;";
    else if (each == '&')
      result += "&amp;";
    else if (each == '\n' || each == '\r' || each == '\t')
      result += ' ';
    else if (kMarks.find(each) != std::string_view::npos)
      result += std::string("\\") + each;
    else
      result += each;
  }
  return result;
}

bool needsAttention(const CheckResult& result) {
  return !result.isUnasked && result.outcome.verdict != Verdict::Pass &&
         result.outcome.verdict != Verdict::Skipped;
}

std::string rowOf(const CheckResult& result) {
  const std::string reason = reasonNotToCount(result);
  std::string message = result.outcome.message;
  if (!result.suppressed.empty())
    message += " — " + reason;
  return fmt::format("| {} | {} | {} | {} | {} |\n",
                     wordOf(result.outcome.verdict),
                     wordOf(result.severity),
                     cellText(result.rule),
                     cellText(result.entity),
                     cellText(message));
}

}  // namespace

std::string renderGithub(const CheckReport& report, const std::string& sourceRoot) {
  std::string lines;
  for (const CheckResult* const result : mostSeriousFirst(report))
    if (const auto severity = problemOf(*result))
      lines += annotation(*result, *severity, sourceRoot);
  for (const std::string& note : report.notes)
    lines += fmt::format(
        "::notice {}::{}\n", property("title", "sonde check"), commandText(note, false));
  return lines + "sonde check: " + summaryOf(report) + "\n";
}

std::string renderGithubSummary(const CheckReport& report) {
  std::string text = fmt::format("### sonde check: {}\n\n", summaryOf(report));
  if (std::any_of(report.results.begin(), report.results.end(), needsAttention))
    text += "| verdict | severity | rule | entity | message |\n|---|---|---|---|---|\n";
  std::size_t leftOut = 0;
  for (const CheckResult* const result : mostSeriousFirst(report)) {
    if (!needsAttention(*result))
      continue;
    const std::string row = rowOf(*result);
    if (leftOut > 0 || text.size() + row.size() > kMostSummaryBytes)
      ++leftOut;
    else
      text += row;
  }
  if (leftOut > 0)
    text += fmt::format("\n{} more results are not in this table.\n", leftOut);
  for (const std::string& note : report.notes)
    text += fmt::format("\nNote: {}\n", cellText(note));
  return text + "\n";
}

}  // namespace sonde::rules
