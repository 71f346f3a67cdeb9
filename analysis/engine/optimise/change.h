// A change of a job's settings that may make it faster, and changes that exclude each other. Plain
// values; any thread.
#pragma once

#include "analysis/engine/whatif/question.h"

#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::optimise {

struct Change {
  std::string what;      // for people: "reduce gradients in buckets of 50 MiB"
  std::string setting;   // in the training program: "DistributedDataParallel(bucket_cap_mb=50)"
  std::string question;  // the options of `sonde whatif` that ask the same
  whatif::Question ask;
  double samples = 1;  // that an iteration works on, as a multiple of those now
  // The memory that a rank holds beyond what it holds between iterations, as a multiple of that
  // now.
  double activations = 1;
};

// At most one of these applies.
struct Family {
  std::string name;  // of the question
  std::vector<Change> changes = {};
  // A question whose answer none of these changes undercuts. nullopt: none is known.
  std::optional<whatif::Question> ideal = {};
};

}  // namespace sonde::engine::optimise
