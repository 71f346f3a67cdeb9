// A check's report as text to read and for other programs. Invalid UTF-8 becomes U+FFFD in all
// reports but text. Plain functions; any thread.
#pragma once

#include "rules/engine/check.h"

#include <string>

namespace sonde::rules {

// One line per result, the most serious first, and a summary line. Findings that fired have lines
// with advice below them.
std::string renderText(const CheckReport& report);

// The same, but below each result that is not a pass: the rule's details, its parameters and the
// evidence.
std::string renderExplained(const CheckReport& report, const Configuration& configuration);

// A JSON document: {"schema", "verdict", "results": […]}.
std::string renderJson(const CheckReport& report);
// One of its results, on one line.
std::string renderJson(const CheckResult& result);

// JUnit's XML by the schema junit-10.xsd of Jenkins: a test suite with a test case per result.
// Failures are rules of severity error that fired, errors are rules that could not be evaluated.
// Results without a verdict, and those that do not count, are skipped.
std::string renderJunit(const CheckReport& report);

struct SarifOptions {
  std::string version = {};     // of Sonde
  std::string sourceRoot = {};  // absolute; code below it gets a relative URI. Empty: none
  // The file to which results without code belong: the rules file, or a trace. Empty: none.
  std::string subject = {};
  // Only rules that fired and count. GitHub makes an alert of every result, whatever its kind, and
  // ignores suppressions.
  bool onlyFindings = false;
};

// SARIF 2.1.0 (OASIS, 2020): one run with at most 5,000 results, the most serious ones.
// `configuration`: of this report.
std::string renderSarif(const CheckReport& report,
                        const Configuration& configuration,
                        const SarifOptions& options);

// Workflow commands of GitHub Actions: a line `::error title=…,file=…,line=…::message` (or
// warning, notice) for each problem, then a summary line. `sourceRoot` as above.
std::string renderGithub(const CheckReport& report, const std::string& sourceRoot);

// A Markdown table of all results for GitHub's step summary, cut before its limit of 1 MiB.
std::string renderGithubSummary(const CheckReport& report);

}  // namespace sonde::rules
