// The changes that the optimiser tries, by the question that predicts them. Uses the database's
// thread.
#pragma once

#include "analysis/engine/optimise/change.h"
#include "analysis/engine/whatif/asked_job.h"
#include "base/result.h"

#include <string>
#include <vector>

namespace sonde::engine::optimise {

// A question of which families are made.
struct FamilyKind {
  const char* name;
  // Tried unless the user names questions. Others change what an iteration learns from.
  bool isDefault;
  // The settings to try of this job. NotFound: the trace lacks what the question needs.
  Result<Family> (*make)(const whatif::AskedJob& job);
  // The same without leaving out any by theorems; nullptr: make() leaves out none.
  Result<Family> (*makeWhole)(const whatif::AskedJob& job) = nullptr;
};

// In the order in which their questions are asked of a job.
const std::vector<FamilyKind>& familyKinds();

// InvalidArgument: neither a kind nor one of `more` has one of these names.
Result<void> checkNames(const std::vector<std::string>& names, const std::vector<Family>& more);

}  // namespace sonde::engine::optimise
