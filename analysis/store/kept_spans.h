// What a trimmed trace has of each process. For SQL over a trace.
#pragma once

namespace sonde::store {

// SQL: process_id, start_ns and end_ns of what was kept of each process: from the begin of the
// first of its iterations to the end of the last, of one without iterations the span over all. No
// rows: the trace is whole.
inline constexpr char kKeptSpansSql[] =
    "SELECT p.id AS process_id, coalesce(s.b, a.b) AS start_ns, coalesce(s.e, a.e) AS end_ns"
    " FROM process p JOIN (SELECT min(start_ns) AS b, max(start_ns + coalesce(dur_ns, 0)) AS e"
    " FROM iteration) a LEFT JOIN (SELECT process_id, min(start_ns) AS b,"
    " max(start_ns + coalesce(dur_ns, 0)) AS e FROM iteration GROUP BY process_id) s"
    " ON s.process_id = p.id WHERE a.b IS NOT NULL"
    " AND EXISTS (SELECT 1 FROM meta WHERE key = 'trimmed')";

}  // namespace sonde::store
