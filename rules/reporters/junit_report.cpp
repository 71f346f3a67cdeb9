#include "rules/reporters/report_parts.h"
#include "rules/reporters/reporters.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace sonde::rules {
namespace {

// Line breaks as references: a parser would turn those in attributes into spaces (XML 1.0, section
// 3.3.3) and drop carriage returns (2.11).
std::string escaped(std::string_view text, bool isAttribute) {
  std::string result;
  for (const char each : safeText(text)) {
    switch (each) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\r':
        result += "&#13;";
        break;
      case '\n':
        result += isAttribute ? "&#10;" : "\n";
        break;
      case '\t':
        result += isAttribute ? "&#9;" : "\t";
        break;
      default:
        result += each;
    }
  }
  return result;
}

enum class CaseKind { Passed, Failed, Broken, Skipped };

CaseKind kindOf(const CheckResult& result) {
  if (!result.counts())
    return CaseKind::Skipped;
  switch (result.outcome.verdict) {
    case Verdict::Fired:
      return result.severity == Severity::Error ? CaseKind::Failed : CaseKind::Passed;
    case Verdict::Error:
      return CaseKind::Broken;
    case Verdict::Pass:
      return CaseKind::Passed;
    case Verdict::Insufficient:
    case Verdict::Skipped:
      return CaseKind::Skipped;
  }
  return CaseKind::Broken;
}

std::string factLines(const CheckResult& result) {
  std::string lines = result.outcome.message + "\n";
  for (const std::string& fact : factsOf(result.outcome))
    lines += fact + "\n";
  return lines;
}

std::string element(const char* name, const CheckResult& result) {
  return fmt::format("    <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n",
                     name,
                     wordOf(result.outcome.verdict),
                     escaped(result.outcome.message, true),
                     escaped(factLines(result), false));
}

std::string skippedElement(const CheckResult& result) {
  const std::string reason = reasonNotToCount(result);
  return fmt::format("    <skipped type=\"{}\" message=\"{}\"/>\n",
                     wordOf(result.outcome.verdict),
                     escaped(reason.empty() ? result.outcome.message : reason, true));
}

// A pass has nothing below it. A rule below severity error that fired has its text as output.
std::string contentOf(const CheckResult& result) {
  switch (kindOf(result)) {
    case CaseKind::Failed:
      return element("failure", result);
    case CaseKind::Broken:
      return element("error", result);
    case CaseKind::Skipped:
      return skippedElement(result);
    case CaseKind::Passed:
      break;
  }
  if (result.outcome.verdict != Verdict::Fired)
    return "";
  return fmt::format("    <system-out>{}: {}</system-out>\n",
                     wordOf(result.severity),
                     escaped(factLines(result), false));
}

std::string testCase(const CheckResult& result) {
  const std::string opening = fmt::format(R"(  <testcase name="{}" classname="{}")",
                                          escaped(result.entity, true),
                                          escaped(result.rule, true));
  const std::string content = contentOf(result);
  return content.empty() ? opening + "/>\n" : opening + ">\n" + content + "  </testcase>\n";
}

}  // namespace

std::string renderJunit(const CheckReport& report) {
  int failures = 0;
  int errors = 0;
  int skipped = 0;
  std::string cases;
  for (const CheckResult& result : report.results) {
    const CaseKind kind = kindOf(result);
    failures += kind == CaseKind::Failed ? 1 : 0;
    errors += kind == CaseKind::Broken ? 1 : 0;
    skipped += kind == CaseKind::Skipped ? 1 : 0;
    cases += testCase(result);
  }
  std::string notes;
  for (const std::string& note : report.notes)
    notes += escaped(note, false) + "\n";
  if (!notes.empty())
    cases += "  <system-out>" + notes + "</system-out>\n";
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"sonde check\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
      "skipped=\"{}\">\n{}</testsuite>\n",
      report.results.size(),
      failures,
      errors,
      skipped,
      cases);
}

}  // namespace sonde::rules
