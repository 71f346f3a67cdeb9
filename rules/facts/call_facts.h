// Which scopes, operators and collectives each iteration and evaluation of a process had. Plain
// values; reading uses the database's thread.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sonde::rules {

using CallCounts = std::map<std::string, std::int64_t>;  // by name; never 0

// An iteration that is in no other one, with all since the one before ended, or an evaluation
// outside of iterations.
struct CallStretch {
  std::int64_t iteration = 0;  // of an evaluation: of the last one that began before it
  bool isEvaluation = false;
  CallCounts scopes;               // "module encoder.0", "optimizer SGD.step"
  CallCounts operators;            // "aten::mm"
  CallCounts arguments;            // "aten::mm [[64, 10], [10, 2]] ['float', 'float']"
  CallCounts collectives;          // "allreduce of 4096 bytes, float32"
  std::vector<std::string> order;  // the slices directly in it, by start; operators with their
                                   // name, others with kind and name
};

struct ProcessCalls {
  std::int64_t processId = 0;
  std::vector<CallStretch> stretches;  // iterations, then evaluations; both by start
  // Whether the process recorded any.
  bool hasOperators = false;
  bool hasArguments = false;
  bool hasCollectives = false;
};

// The order of a stretch has this many entries at most; the rest is left out.
inline constexpr std::size_t kMostOrdered = 4000;

struct CallFacts {
  std::map<std::int64_t, ProcessCalls> processes;  // by id; those with an ended iteration

  static Result<CallFacts> read(const store::Database& trace);
};

}  // namespace sonde::rules
