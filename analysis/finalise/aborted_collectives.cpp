#include "analysis/finalise/aborted_collectives.h"

#include <cstdint>
#include <string_view>

namespace sonde::ingest {
namespace {

constexpr std::string_view kAborts =
    "CREATE TEMP TABLE abort AS SELECT a.owner_id AS communicator_id, min(a.value) AS ns FROM arg "
    "a "
    "JOIN string s ON s.id = a.key_id WHERE a.owner = 'communicator' AND s.text = 'aborted_ns' "
    "GROUP BY 1";

// `told`: communicators with some known ends, and their last collective known to have ended before
// the abort. A collective without bytes never runs. The end may be unknown for what a CUDA graph
// launches or a copy engine carries out.
constexpr std::string_view kMark =
    "CREATE TEMP TABLE told AS SELECT communicator_id, max(CASE WHEN start_ns + dur_ns <= ns THEN "
    "start_ns END) AS last_ns FROM collective JOIN temp.abort USING (communicator_id) WHERE dur_ns "
    "IS NOT NULL GROUP BY 1;"
    "CREATE TEMP TABLE fact AS SELECT a.owner_id, s.text AS key FROM arg a JOIN string s ON s.id = "
    "a.key_id WHERE a.owner = 'collective' AND s.text IN ('graph', 'unfinished');"
    "CREATE INDEX temp.fact_by_owner ON fact(owner_id, key);"
    "CREATE TEMP TABLE cut AS SELECT c.id FROM collective c JOIN temp.abort a USING "
    "(communicator_id) LEFT JOIN temp.told t USING (communicator_id) LEFT JOIN slice s ON s.id = "
    "c.slice_id WHERE c.start_ns <= a.ns AND c.bytes IS NOT 0 AND (c.start_ns + c.dur_ns > a.ns OR "
    "(c.dur_ns IS NULL AND ((s.start_ns + s.dur_ns <= a.ns) IS NOT 1 OR EXISTS (SELECT 1 FROM "
    "temp.fact WHERE owner_id = c.id AND key = 'unfinished') OR (t.communicator_id IS NOT NULL AND "
    "c.start_ns > coalesce(t.last_ns, c.start_ns - 1) AND c.algorithm IS NOT 'CE' AND NOT EXISTS "
    "(SELECT 1 FROM temp.fact WHERE owner_id = c.id AND key = 'graph')))));"
    "UPDATE collective SET dur_ns = NULL WHERE id IN (SELECT id FROM temp.cut);"
    "INSERT INTO string(text) SELECT 'aborted' WHERE NOT EXISTS (SELECT 1 FROM string WHERE text = "
    "'aborted');"
    "INSERT INTO arg SELECT 'collective', id, (SELECT id FROM string WHERE text = 'aborted'), 1 "
    "FROM temp.cut;"
    "DROP TABLE temp.cut; DROP TABLE temp.fact; DROP TABLE temp.told";

}  // namespace

Result<void> markAbortedCollectives(store::Database& trace) {
  SONDE_TRY(trace.exec(kAborts));
  SONDE_TRY_ASSIGN(const std::int64_t aborts,
                   trace.queryInteger("SELECT count(*) FROM temp.abort"));
  if (aborts > 0)
    SONDE_TRY(trace.exec(kMark));
  return trace.exec("DROP TABLE temp.abort");
}

}  // namespace sonde::ingest
