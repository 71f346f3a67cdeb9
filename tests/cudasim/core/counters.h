#pragma once
// The values of hardware counters for a kernel. They are pure functions of its grid, its block and
// its duration, so that a test can compute a profiler's expected result. Elapsed time and cycles
// are those of the measured range, T, whether a kernel runs in it or not.
//
//   D  duration in ns        W  warps = blocks × ceil(threads of a block / 32)
//   N  threads               S  multiprocessors that it uses = min(blocks, 132)
//   B  blocks                R  warps on each of these = min(64, ceil(W / S))
//
//   gpu__time_duration.sum    T              sm__inst_executed_pipe_tensor.sum  5 W
//   sm__cycles_elapsed.sum    132 × 2 T      smsp__inst_executed.sum            100 W
//   sm__cycles_active.sum     S × 3 D / 2    dram__bytes_read.sum               8 N
//   sm__warps_active.sum      R × the above  dram__bytes_write.sum              4 N
//   smsp__cycles_elapsed.sum  4 × those of the SM
//   smsp__cycles_active.sum   min(4, R) × those of the SM
//   sm__sass_thread_inst_executed_op_…_pred_on.sum
//                             N × fadd 10, fmul 11, ffma 12, hadd 4, hmul 5, hfma 6, dadd 1,
//                             dmul 2, dfma 3
//   sim__first.sum            W              sim__second.sum                    2 W
//   sim__kernel_time.sum      D

#include "tests/cudasim/core/activity.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace cudasim {

constexpr uint64_t kWarpsOfMultiprocessor = 64;

enum class Counter : uint8_t {
  Time,
  KernelTime,
  SmCyclesElapsed,
  SmCyclesActive,
  SmWarpsActive,
  TensorInst,
  SmspCyclesElapsed,
  SmspCyclesActive,
  SmspInst,
  DramRead,
  DramWrite,
  Fadd,
  Fmul,
  Ffma,
  Hadd,
  Hmul,
  Hfma,
  Dadd,
  Dmul,
  Dfma,
  First,
  Second,
};
constexpr size_t kCounters = static_cast<size_t>(Counter::Second) + 1;

struct Counters {
  std::array<uint64_t, kCounters> values{};

  uint64_t& operator[](Counter counter) { return values[static_cast<size_t>(counter)]; }
  Counters& operator+=(const Counters& other);
};

const char* counterName(Counter counter);

Counters countersOfRange(uint64_t ns);
Counters countersOf(const Extent& grid, const Extent& block, uint64_t durationNs);

}  // namespace cudasim
