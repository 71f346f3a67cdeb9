// The spans that a trimmed trace kept of each process: keys "kept_ns:ID" of `meta`, as JSON. A
// merged trace has them only for the trimmed parts. For SQL over a trace.
#pragma once

namespace sonde::store {

// SQL: process_id, start_ns and end_ns of the kept part of each trimmed process: from the begin of
// its first iteration to the end of its last; without iterations the span over all processes.
inline constexpr char kKeptSpansSql[] =
    "SELECT p.id AS process_id, m.value ->> 0 AS start_ns, m.value ->> 1 AS end_ns"
    " FROM process p JOIN meta m ON m.key = 'kept_ns:' || p.id";

}  // namespace sonde::store
