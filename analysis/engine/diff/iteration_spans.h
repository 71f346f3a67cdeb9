// The work of a trace's ranks and their devices in one iteration, with its times: for timelines of
// two runs, one above the other. Plain values; reading uses the database's thread.
#pragma once

#include "analysis/engine/diff/iteration_times.h"
#include "analysis/engine/intervals/intervals.h"
#include "analysis/model/words.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sonde::engine::diff {

struct IterationLength {
  IterationName name;
  std::int64_t ns = 0;  // of the rank where it took longest
};
// By the begin on the first rank that has it. Without iterations that were recorded in part.
Result<std::vector<IterationLength>> readIterationLengths(const store::Database& trace);

// The iterations that lie in the range of job time as a whole, on each rank that has them, by
// number. A part of an iteration cannot be compared with whole ones. Without iterations that were
// recorded in part.
Result<std::set<IterationName>> readIterationsWithin(const store::Database& trace,
                                                     const metrics::Interval& within);

// Times count from the first rank's begin of the iteration, on the job's clock.
struct OperationSpan {
  std::size_t lane = 0;
  std::string operation;                 // empty: outside of all
  std::optional<model::SliceKind> kind;  // of the operation; unset: outside of all
  std::string name;                      // of a kernel or copy; empty on the host
  std::int64_t beginNs = 0;
  std::int64_t endNs = 0;
};

struct SpanLane {
  std::string name;  // "rank 0", "rank 0, devices"
  std::optional<std::int64_t> rank;
};

struct IterationSpans {
  std::vector<SpanLane> lanes;       // by rank, the host before its devices
  std::vector<OperationSpan> spans;  // by lane, then by begin
  std::int64_t durNs = 0;            // to the last rank's end of the iteration
};

// On the host: the innermost operation of each thread. On devices: work that runs meanwhile, with
// the operation that launched it. Both are clipped to the iteration on their rank. Empty: the trace
// has no such iteration. Times are as recorded. Corrupt: an id or a time is invalid.
Result<IterationSpans> readIterationSpans(const store::Database& trace, const IterationName& name);

}  // namespace sonde::engine::diff
