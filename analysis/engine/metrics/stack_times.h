// Time by stack, from the samples of threads' stacks: of the whole trace, or of one rank, some
// iterations, a range of time, or an operation. On the caller's thread.
#pragma once

#include "analysis/engine/intervals/intervals.h"
#include "analysis/model/code.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <functional>
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
  std::string operation = {};          // the name of a scope; empty: anywhere
  std::optional<Interval> range = {};  // job time
};

// One row that the clock counts.
struct StackSampleAt {
  std::int64_t processId = 0;
  std::int64_t threadId = 0;
  std::int64_t stackId = 0;  // 0: unwinding failed, or isOther
  bool truncated = false;
  bool isOther = false;   // neither on a processor nor in a recorded wait
  std::int64_t ns = 0;    // its time; bytes if they are allocated
  std::int64_t atNs = 0;  // job time
};

// Visits the samples in any order. A sample is in an operation if its thread is. A thread without
// any scopes, such as a library's worker, is in an operation when its process is: some thread is in
// the operation, and none in a scope outside it.
//
// NotFound: the trace has no samples, or no allocations or CUDA calls with a stack.
// InvalidArgument: no such rank, iteration or operation; the message lists the existing ones. If
// the filter matches no samples, none is visited.
Result<void> visitStackSamples(const store::Database& trace,
                               const StackFilter& filter,
                               const std::function<void(const StackSampleAt&)>& visit);

// Their sums by process, thread and stack; empty if the filter matches no samples. Errors likewise.
Result<std::vector<model::StackTime>> stackTimes(const store::Database& trace,
                                                 const StackFilter& filter);

}  // namespace sonde::engine::metrics
