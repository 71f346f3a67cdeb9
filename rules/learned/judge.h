// Which learned invariants a run breaks. Plain functions; any thread.
#pragma once

#include "rules/learned/invariants.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sonde::rules {

struct JudgeSettings {
  double widen = 1;    // ranges become this many times as wide, around their middle
  std::string ignore;  // a shell pattern for subjects that are not judged; empty: none
};

// An invariant that a process, or the job, broke; the first time.
struct BrokenInvariant {
  const Invariant* invariant;
  Tick tick;
  std::string observed;
  std::string expected;
  std::int64_t times = 0;  // observations that broke it
  double distance = 0;     // of a count: how far it is off, the logarithm of the ratio
};

struct InvariantJudgement {
  std::vector<BrokenInvariant> broken;  // by process, iteration, then order of observationKinds()
  std::int64_t held = 0;
  std::int64_t samples = 0;
  // Invariants whose source the run did not record, by source; but not those of evaluations.
  std::map<std::string, std::int64_t> unrecorded;
  // Others that nothing was observed of.
  std::int64_t unseen = 0;
};

// Requires: `learned` outlives the result.
InvariantJudgement judgeInvariants(const LearnedInvariants& learned,
                                   const RunObservations& run,
                                   const JudgeSettings& settings);

}  // namespace sonde::rules
