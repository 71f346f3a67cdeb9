// What a trimmed trace has of each process: `meta` says it by keys "kept_ns:ID", as JSON. Merged
// with others it has that of the trimmed ones alone. For SQL over a trace.
#pragma once

namespace sonde::store {

// SQL: process_id, start_ns and end_ns of what was kept of each process that was trimmed: from the
// begin of the first of its iterations to the end of the last, of one without iterations the span
// over all.
inline constexpr char kKeptSpansSql[] =
    "SELECT p.id AS process_id, m.value ->> 0 AS start_ns, m.value ->> 1 AS end_ns"
    " FROM process p JOIN meta m ON m.key = 'kept_ns:' || p.id";

}  // namespace sonde::store
