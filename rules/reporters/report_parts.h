// The parts that several reports of a check share. Plain functions; any thread.
#pragma once

#include "rules/engine/check.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::rules {

// Pointers into `report`, the most serious verdict first, else in its order.
std::vector<const CheckResult*> mostSeriousFirst(const CheckReport& report);

// "1 fired, 2 pass", or "no rule ran".
std::string summaryOf(const CheckReport& report);

// How serious a problem CI should show: error for a rule that could not be evaluated or of severity
// error that had too little data, else the severity of a rule that fired. Unset: none.
std::optional<Severity> problemOf(const CheckResult& result);

// Why the result does not count: "suppressed: known (until 2027-01-31)". Empty: it does.
std::string reasonNotToCount(const CheckResult& result);

// The value as text: a list with ", " between its elements.
std::string textOf(const EvidenceValue& value);

// "train.py:12 (forward)"
std::string textOf(const Location& location);

// Lines with all that is known about a result beyond its message: "hint: …".
std::vector<std::string> factsOf(const Outcome& outcome);

// UTF-8 without the characters that XML 1.0 forbids (section 2.2): bytes that are no UTF-8 become
// U+FFFD, other forbidden characters are dropped.
std::string safeText(std::string_view text);

// Relative to `root` if it is below it, else unchanged. `root`: absolute; empty: none.
std::string pathWithin(const std::string& path, const std::string& root);

}  // namespace sonde::rules
