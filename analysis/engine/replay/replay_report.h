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

// Iterations whose graphs have one structure.
struct GroupReplay {
  std::int64_t iterations = 0;  // judged
  std::int64_t nodes = 0;       // mean of an iteration
  double measuredNs = 0;        // mean of the judged iterations
  double replayedNs = 0;
  std::optional<double> error;  // nullopt: the replay has no iteration of the group
};

struct ReplayReport {
  std::int64_t iterations = 0;  // judged; 0: the trace has none and was replayed as a whole
  std::int64_t leftOut = 0;     // iterations that not all ranks have
  double measuredNs = 0;        // mean of the judged iterations, and over the ranks
  double replayedNs = 0;
  double error = 0;  // (replayed - measured) / measured
  // That of `error`, as iterations vary; nullopt: too few do not show it.
  std::optional<double> standardError;
  // Standard deviation of the judged iterations / mean; nullopt: no group has two of them.
  std::optional<double> noise;
  double gapShare = 0;  // of the critical paths: gaps, and waits for something unknown
  // `error` if the gaps are those of other iterations; of the groups that have others.
  std::optional<double> predictedError;
  std::vector<RankReplay> ranks;
  std::vector<GroupReplay> groups;  // in the order in which they first occur
};

enum class Judge {
  Identity,  // all iterations, with their own durations and gaps: `error` is that of the arithmetic
  Odd,       // iterations with even numbers, with gaps of each other, against those with odd ones;
             // if numbers repeat, by their places in time, from 0
};

// Compares iterations within their groups: the error of the whole is the mean of the groups', each
// by its judged iterations. Iterations that not all ranks have are neither judged nor predict
// others. NotFound: nothing to judge, as of a trace without iterations of both parities in one
// group.
Result<ReplayReport> replayReport(const store::Database& trace,
                                  const graph::TraceGraph& graph,
                                  Judge judge);

// When each node begins in that replay. The nodes keep their durations.
Result<std::vector<std::int64_t>> replayedBegins(const store::Database& trace,
                                                 const graph::TraceGraph& graph,
                                                 Judge judge);

}  // namespace sonde::engine::replay
