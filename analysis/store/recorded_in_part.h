// What the table `meta` of a trace says when its processes, at their own times, left out some of
// what they did: by `--capture`, towards `--max-size`, while they were paused, or of a ring that
// has let go of the oldest. So what one end has of a stream is no measure for the other.
#pragma once

namespace sonde::store {

// An expression of SQL.
inline constexpr char kRecordedInPart[] =
    "EXISTS (SELECT 1 FROM meta WHERE key IN ('capture', 'thinned', 'paused') OR (key = "
    "'discarded' AND value <> '0'))";

}  // namespace sonde::store
