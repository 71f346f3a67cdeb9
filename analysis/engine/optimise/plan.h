// The optimiser: which changes of its settings make a job fastest, alone and together. Uses the
// database's thread.
//
// Each family of changes (families.h) is a question of engine/whatif with several settings. The
// search (search.h) predicts combinations of them by the replay of the job's graph. A combination
// is judged by its time for each sample.
#pragma once

#include "analysis/engine/optimise/change.h"
#include "analysis/engine/optimise/memory_need.h"
#include "analysis/engine/whatif/asked_job.h"
#include "base/progress.h"
#include "base/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::optimise {

// Ways to predict fewer combinations. The plan is the same without them, up to kSameTime.
struct Accelerations {
  bool bounds = true;  // leave out combinations whose bound is not below the best time so far
  bool chain = true;   // leave out sizes of buckets by dPRO's chain
};

struct PlanOptions {
  // Families of changes by name; empty: those of FamilyKind::isDefault.
  std::vector<std::string> questions = {};
  // More families, such as those of plugins. Their questions are asked before all others.
  std::vector<Family> more = {};
  // A device, or a process without one, may hold no more.
  std::optional<std::int64_t> memoryBytes = {};
  // Changes that save a smaller part of the baseline in the plan are not part of it.
  double leastGain = 0.01;
  // Asked before each prediction; then the best plan so far is returned.
  std::function<bool()> isToStop = {};
  Progress progress = {};
  Accelerations use = {};
};

// The mean iteration, and the interval that 95 of 100 real ones would lie in.
struct Prediction {
  double ns = 0;
  double lowNs = 0;
  double highNs = 0;
};

struct PlannedChange {
  std::string family;
  Change change;
  Prediction alone;
  double gain = 0;  // alone: the saved part of the time for each sample
  // The part of the baseline that the plan saves only with it. Negative: the plan needs it to fit
  // into the memory.
  double gainInPlan = 0;
};

// The best change of a family that the plan does without.
struct OtherChange {
  std::string family;
  Change change;
  double ns = 0;    // alone
  double gain = 0;  // as above
};

struct LeftOut {
  std::string family;
  std::string reason;
};

struct Plan {
  std::int64_t iterations = 0;  // 0: the job has none, and times are those of the whole trace
  double baselineNs = 0;
  std::vector<PlannedChange> changes;  // those that save most in the plan come first
  // The options of `sonde whatif` that ask for the whole plan, in the order in which they apply.
  std::vector<std::string> questions;
  Prediction together;
  double gain = 0;     // of all, as above
  double samples = 1;  // of an iteration with the plan, as a multiple of those now
  std::vector<OtherChange> others;
  std::vector<LeftOut> leftOut;
  std::optional<MemoryNeed> memory;  // only with PlanOptions::memoryBytes
  double peakBytes = 0;              // with the plan
  std::int64_t replays = 0;
  bool isComplete = false;  // no combination of the changes is faster
  std::vector<std::string> notes;
};

// InvalidArgument: there is no family of a name. NotFound: the trace allows none of the questions,
// or no combination fits into the memory. Others are those of questions.
Result<Plan> plan(const whatif::AskedJob& job, const PlanOptions& options);

}  // namespace sonde::engine::optimise
