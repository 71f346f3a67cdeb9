// When open iterations will end, by what other iterations did at the same point. Plain values and
// pure functions; any thread.
//
// The idea to name a straggler before its step ends, from its progress at the same elapsed time,
// is that of NURD (Ding et al., "NURD: Negative-Unlabeled Learning for Online Datacenter Straggler
// Prediction", MLSys 2022). Here the earlier iterations of the rank take the place of a learned
// model.
#pragma once

#include "analysis/engine/standstill/open_iterations.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::engine::standstill {

struct ForeseenEnd {
  std::string name;  // "rank 3"
  std::int64_t number = 0;
  std::int64_t startNs = 0;  // of its host
  std::int64_t elapsedNs = 0;
  std::int64_t ended = 0;       // events
  std::int64_t references = 0;  // iterations that it is compared with
  bool byPeers = false;  // with those of other ranks, because it has too few; else with its own
  double usualNs = 0;    // length of a reference, the median
  double dueNs = 0;      // when the next event ended in them, the median
  double noiseNs = 0;    // how much that varies
  double lateNs = 0;     // elapsedNs less dueNs; negative: the event is not due yet
  // The length of the iteration if the rest takes its usual time, and if it takes as much longer as
  // the part so far.
  double lowNs = 0;
  double highNs = 0;
  // Iterations since the begin of the job, by the usual time: 12.3 is 30 % of iteration 12.
  double position = 0;
};

// One for each rank with an open iteration and at least `minReferences` references. The first
// iteration of a process is none.
std::vector<ForeseenEnd> foreseenEnds(const std::vector<RankProgress>& ranks,
                                      std::size_t minReferences);

}  // namespace sonde::engine::standstill
