// Whether `meta` shows that the processes of a trace each left out some events at their own times:
// by `--capture`, near `--max-size`, while paused, or because a ring dropped the oldest. Then the
// two ends of a stream cannot be compared.
#pragma once

namespace sonde::store {

// An SQL expression.
inline constexpr char kRecordedInPart[] =
    "EXISTS (SELECT 1 FROM meta WHERE key IN ('capture', 'thinned', 'paused') OR (key = "
    "'discarded' AND value <> '0'))";

}  // namespace sonde::store
