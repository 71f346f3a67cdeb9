// Reports with a result of each kind and with hostile texts, and programs that read documents. For
// tests.
#pragma once

#include "rules/engine/check.h"
#include "tests/support/run_program.h"

#include <limits>
#include <string>
#include <vector>

namespace sonde::rules::test {

using sonde::test::Finished;
using sonde::test::readText;
using sonde::test::runProgram;
using sonde::test::TemporaryFolder;
using sonde::test::writeText;

// All that has a meaning somewhere, control characters, a NUL, bytes that are no UTF-8, and U+FFFE.
inline constexpr char kHostileBytes[] =
    "a b/\xC3\xBC&<x>\"'|`*_[l](u){0}%0A%:,;\r\n\t\x01\x1B[1m\0\xFF\xEF\xBF\xBE]]>::e::";
inline const std::string kHostile(kHostileBytes, sizeof kHostileBytes - 1);
// As XML and GitHub can have it.
inline const std::string kSafe =
    "a b/\xC3\xBC&<x>\"'|`*_[l](u){0}%0A%:,;\r\n\t[1m\xEF\xBF\xBD\xEF\xBF\xBD]]>::e::";

inline CheckResult resultOf(Verdict verdict,
                            Severity severity,
                            const std::string& message,
                            const std::string& rule = "step-outlier") {
  CheckResult result;
  result.rule = rule;
  result.entity = "rank 0";
  result.severity = severity;
  result.outcome.verdict = verdict;
  result.outcome.message = message;
  return result;
}

// A result of each kind, by severity where that matters.
inline CheckReport everyKind() {
  CheckReport report;
  report.results = {resultOf(Verdict::Pass, Severity::Error, "healthy"),
                    resultOf(Verdict::Fired, Severity::Error, "fired error"),
                    resultOf(Verdict::Fired, Severity::Warning, "fired warning"),
                    resultOf(Verdict::Fired, Severity::Info, "fired info"),
                    resultOf(Verdict::Insufficient, Severity::Error, "too little, error"),
                    resultOf(Verdict::Insufficient, Severity::Warning, "too little, warning"),
                    resultOf(Verdict::Skipped, Severity::Error, "no GPU"),
                    resultOf(Verdict::Error, Severity::Info, "broken"),
                    resultOf(Verdict::Fired, Severity::Error, "known fault"),
                    resultOf(Verdict::Insufficient, Severity::Info, "no tensors")};
  report.results[8].suppressed = "repair (until 2027-01-05)";
  report.results[9].isUnasked = true;
  report.notes = {"a note"};
  return report;
}

inline CheckReport hostileReport() {
  CheckReport report;
  report.results = {resultOf(Verdict::Fired, Severity::Error, kHostile)};
  CheckResult& result = report.results[0];
  result.rule = kHostile;
  result.entity = kHostile;
  result.outcome.hint = kHostile;
  result.outcome.next = {kHostile};
  result.outcome.window = kHostile;
  result.outcome.query = kHostile;
  result.outcome.evidence = {{kHostile, kHostile},
                             {"list", std::vector<std::string>{kHostile, "b"}},
                             {"nan", std::numeric_limits<double>::quiet_NaN()}};
  result.outcome.value = std::numeric_limits<double>::infinity();
  result.outcome.locations = {{kHostile, 7, kHostile}};
  report.results.push_back(resultOf(Verdict::Skipped, Severity::Error, kHostile));
  report.results.push_back(resultOf(Verdict::Error, Severity::Error, kHostile));
  report.results.push_back(resultOf(Verdict::Fired, Severity::Info, kHostile));
  report.results.push_back(resultOf(Verdict::Fired, Severity::Error, "m"));
  report.results.back().suppressed = kHostile;
  report.notes = {kHostile};
  return report;
}

inline Finished runScript(const std::string& script, const std::string& document) {
  const TemporaryFolder folder;
  writeText(folder / "document", document);
  return runProgram({SONDE_PYTHON, SONDE_SOURCE_DIR "/tests/rules/" + script, folder / "document"});
}

}  // namespace sonde::rules::test
