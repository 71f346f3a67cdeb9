// How much time the samples of threads' stacks stand for, by stack: of the whole trace, or of one
// rank, of some iterations, of an operation. On the caller's thread.
#pragma once

#include "analysis/model/code.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sonde::engine::metrics {

// Time on a processor; that threads waited in what was recorded of them; both, and what else
// passed. That devices worked for a call. No time: bytes that were allocated.
enum class StackClock { Cpu, Blocked, Wall, Device, Allocated };

struct StackFilter {
  StackClock clock = StackClock::Cpu;
  std::optional<std::int64_t> rank = {};
  std::optional<std::pair<std::int64_t, std::int64_t>> iterations = {};  // from, to, by number
  std::string operation = {};  // the name of a scope; empty: wherever it was
};

// By process, thread and stack. A sample is in an operation where its thread is. One of a thread
// that is in no scope at all, as a library's workers are, is in it where its process is: where some
// thread is in the operation, and none in a scope outside it.
//
// NotFound: the trace has no samples, or no allocations or CUDA calls with a stack.
// InvalidArgument: no such rank, iteration or operation; the message says what there is. What is
// asked for may have no samples all the same: the result is empty.
Result<std::vector<model::StackTime>> stackTimes(const store::Database& trace,
                                                 const StackFilter& filter);

}  // namespace sonde::engine::metrics
