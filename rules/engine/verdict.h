// A rule's verdict, the evidence for it, and its severity. Plain values.
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

using EvidenceValue = std::
    variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<std::string>>;

// A line of the user's code.
struct Location {
  std::string path;
  std::int64_t line = 0;  // 0: unknown
  std::string function;   // empty: unknown
};

// A stretch of job time, in ns.
struct TimeRange {
  std::int64_t fromNs = 0;
  std::int64_t toNs = 0;
};

// A rule's judgement of one entity.
struct Outcome {
  Verdict verdict = Verdict::Insufficient;
  std::string message;  // one sentence for a training engineer
  std::optional<double> value;
  std::optional<double> threshold;  // what `value` was compared with
  std::string window;               // the iterations that were judged: "iterations 5-104"
  std::int64_t samples = 0;
  std::map<std::string, EvidenceValue> evidence;
  std::optional<TimeRange> time;    // when
  std::string query;                // SQL that shows the evidence; empty: none
  std::vector<Location> locations;  // the code that did it, the most relevant first
  std::string hint;                 // what to do; empty: RuleInfo::hint
  std::vector<std::string> next;  // commands that show more, the best first; empty: RuleInfo::next
  // Insufficient only because the input was never recorded. Skipped for a process if another one of
  // the job recorded it.
  bool inputMissing = false;
};

// The judgement of one entity: "rank 3", "job", "rank 0: fc1.weight".
struct Finding {
  std::string entity;
  Outcome outcome;
};

}  // namespace sonde::rules
