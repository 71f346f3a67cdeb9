// Time by stack, from the samples of threads' stacks: of the whole trace, or of one rank, some
// iterations, or an operation. On the caller's thread.
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

// Cpu: on a processor. Blocked: recorded waits of threads. Wall: both, and all other time. Device:
// devices worked for a call. Allocated: not time, but bytes.
enum class StackClock { Cpu, Blocked, Wall, Device, Allocated };

struct StackFilter {
  StackClock clock = StackClock::Cpu;
  std::optional<std::int64_t> rank = {};
  std::optional<std::pair<std::int64_t, std::int64_t>> iterations = {};  // from, to, by number
  std::string operation = {};  // the name of a scope; empty: anywhere
};

// By process, thread and stack. A sample is in an operation if its thread is. A thread without any
// scopes, such as a library's worker, is in an operation when its process is: some thread is in the
// operation, and none in a scope outside it.
//
// NotFound: the trace has no samples, or no allocations or CUDA calls with a stack.
// InvalidArgument: no such rank, iteration or operation; the message lists the existing ones. If
// the filter matches no samples, the result is empty.
Result<std::vector<model::StackTime>> stackTimes(const store::Database& trace,
                                                 const StackFilter& filter);

}  // namespace sonde::engine::metrics
