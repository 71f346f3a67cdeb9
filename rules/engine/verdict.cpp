#include "rules/engine/verdict.h"

#include <array>
#include <utility>

namespace sonde::rules {
namespace {

constexpr std::array<std::pair<Severity, std::string_view>, 4> kSeverities = {{
    {Severity::Off, "off"},
    {Severity::Info, "info"},
    {Severity::Warning, "warning"},
    {Severity::Error, "error"},
}};

}  // namespace

std::string_view wordOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::Pass:
      return "pass";
    case Verdict::Fired:
      return "fired";
    case Verdict::Insufficient:
      return "insufficient";
    case Verdict::Skipped:
      return "skipped";
    case Verdict::Error:
      return "error";
  }
  return "error";
}

std::string_view wordOf(Severity severity) {
  for (const auto& [known, word] : kSeverities)
    if (known == severity)
      return word;
  return "warning";
}

std::optional<Severity> severityOf(std::string_view word) {
  for (const auto& [severity, known] : kSeverities)
    if (known == word)
      return severity;
  return std::nullopt;
}

}  // namespace sonde::rules
