// The parts of a run that a trace has, as `meta` shows them. For SQL over a trace.
#pragma once

namespace sonde::store {

// SQL: process_id, start_ns and end_ns of the kept part of each process of a trimmed trace: from
// the begin of its first iteration to the end of its last; without iterations the span over all
// processes. They are keys "kept_ns:ID", as JSON. A merged trace has them only for trimmed parts.
inline constexpr char kKeptSpansSql[] =
    "SELECT p.id AS process_id, m.value ->> 0 AS start_ns, m.value ->> 1 AS end_ns"
    " FROM process p JOIN meta m ON m.key = 'kept_ns:' || p.id";

// An SQL expression: whether the processes each left out some events at their own times: by
// `--capture`, near `--max-size`, while paused, or because a ring dropped the oldest. Then the two
// ends of a stream cannot be compared.
inline constexpr char kRecordedInPart[] =
    "EXISTS (SELECT 1 FROM meta WHERE key IN ('capture', 'thinned', 'paused') OR (key = "
    "'discarded' AND value <> '0'))";

}  // namespace sonde::store
