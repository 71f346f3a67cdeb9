// How exact a replay of a job is: the numbers of `sonde replay`. Uses the
// database's thread.
#pragma once

#include "analysis/engine/graph/trace_graph.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::engine::replay {

struct RankReplay {
  std::int64_t rank = -1;
  double measuredNs = 0;  // mean of the judged iterations
  double replayedNs = 0;
};

struct ReplayReport {
  std::int64_t iterations = 0;  // judged; 0: the trace has none and was replayed as a whole
  double measuredNs = 0;        // mean of the judged iterations, and over the ranks
  double replayedNs = 0;
  double error = 0;          // (replayed - measured) / measured
  double standardError = 0;  // of `error`, as iterations vary
  double noise = 0;          // standard deviation of the judged iterations / mean
  double gapShare = 0;       // of the critical paths: gaps, and waits for something unknown
  std::optional<double> predictedError;  // `error` if the gaps are those of other iterations
  std::vector<RankReplay> ranks;
};

enum class Judge {
  Identity,  // all iterations, with their own durations and gaps: `error` is that of the arithmetic
  Odd,       // iterations with even numbers, with gaps of each other, against those with odd ones
};

// NotFound: nothing to judge, as of a trace without iterations of both parities.
Result<ReplayReport> replayReport(const store::Database& trace,
                                  const graph::TraceGraph& graph,
                                  Judge judge);

// When each node begins in that replay. The nodes keep their durations.
std::vector<std::int64_t> replayedBegins(const graph::TraceGraph& graph, Judge judge);

}  // namespace sonde::engine::replay
