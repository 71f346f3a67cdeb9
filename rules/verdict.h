// A rule's verdict and its severity. Plain values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sonde::rules {

enum class Verdict {
  Pass,          // enough data, and it is healthy
  Fired,         // enough data, and it is not
  Insufficient,  // applies here, but there is too little data; the message says how much more is
                 // needed
  Skipped,       // cannot apply here
  Error,         // the rule itself could not be evaluated
};

enum class Severity { Off, Info, Warning, Error };

std::string_view wordOf(Verdict verdict);
std::string_view wordOf(Severity severity);
std::optional<Severity> severityOf(std::string_view word);

using EvidenceValue = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>>;

// A rule's judgement so far.
struct Outcome {
  Verdict verdict = Verdict::Insufficient;
  std::string message;  // one sentence for a training engineer
  std::optional<double> value;
  std::optional<double> threshold;  // what `value` was compared with
  std::string window;               // the iterations that were judged: "iterations 5-104"
  std::int64_t samples = 0;
  std::map<std::string, EvidenceValue> evidence;
  // Insufficient only because this process never recorded the input: skipped if another process of
  // the job did.
  bool inputMissing = false;
};

}  // namespace sonde::rules
