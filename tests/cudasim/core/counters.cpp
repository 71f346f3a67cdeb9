#include "tests/cudasim/core/counters.h"

#include "tests/cudasim/core/attributes.h"

#include <algorithm>

namespace cudasim {
namespace {

#define CUDASIM_OP(op) "sm__sass_thread_inst_executed_op_" op "_pred_on.sum"

constexpr std::array<const char*, kCounters> kNames = {
    "gpu__time_duration.sum",   "sim__kernel_time.sum",    "sm__cycles_elapsed.sum",
    "sm__cycles_active.sum",    "sm__warps_active.sum",    "sm__inst_executed_pipe_tensor.sum",
    "smsp__cycles_elapsed.sum", "smsp__cycles_active.sum", "smsp__inst_executed.sum",
    "dram__bytes_read.sum",     "dram__bytes_write.sum",   CUDASIM_OP("fadd"),
    CUDASIM_OP("fmul"),         CUDASIM_OP("ffma"),        CUDASIM_OP("hadd"),
    CUDASIM_OP("hmul"),         CUDASIM_OP("hfma"),        CUDASIM_OP("dadd"),
    CUDASIM_OP("dmul"),         CUDASIM_OP("dfma"),        "sim__first.sum",
    "sim__second.sum"};

// Operations per thread, from Fadd on.
constexpr std::array<uint64_t, 9> kOperations = {10, 11, 12, 4, 5, 6, 1, 2, 3};

uint64_t volume(const Extent& extent) {
  return uint64_t{extent.x} * extent.y * extent.z;
}

uint64_t divideUp(uint64_t a, uint64_t b) {
  return b ? (a + b - 1) / b : 0;
}

}  // namespace

Counters& Counters::operator+=(const Counters& other) {
  for (size_t i = 0; i < kCounters; ++i) {
    values[i] += other.values[i];
  }
  return *this;
}

const char* counterName(Counter counter) {
  return kNames[static_cast<size_t>(counter)];
}

Counters countersOfRange(uint64_t ns) {
  Counters counters;
  counters[Counter::Time] = ns;
  counters[Counter::SmCyclesElapsed] = 2 * ns * kMultiprocessors;
  counters[Counter::SmspCyclesElapsed] = 4 * counters[Counter::SmCyclesElapsed];
  return counters;
}

Counters countersOf(const Extent& grid, const Extent& block, uint64_t durationNs) {
  const uint64_t blocks = volume(grid);
  const uint64_t threads = blocks * volume(block);
  const uint64_t warps = blocks * divideUp(volume(block), 32);
  const uint64_t used = std::min<uint64_t>(blocks, kMultiprocessors);
  const uint64_t resident = std::min(kWarpsOfMultiprocessor, divideUp(warps, used));

  Counters counters;
  counters[Counter::KernelTime] = durationNs;
  counters[Counter::SmCyclesActive] = used * (3 * durationNs / 2);
  counters[Counter::SmWarpsActive] = resident * counters[Counter::SmCyclesActive];
  counters[Counter::TensorInst] = 5 * warps;
  counters[Counter::SmspCyclesActive] =
      std::min<uint64_t>(4, resident) * counters[Counter::SmCyclesActive];
  counters[Counter::SmspInst] = 100 * warps;
  counters[Counter::DramRead] = 8 * threads;
  counters[Counter::DramWrite] = 4 * threads;
  for (size_t i = 0; i < kOperations.size(); ++i) {
    counters.values[static_cast<size_t>(Counter::Fadd) + i] = kOperations[i] * threads;
  }
  counters[Counter::First] = warps;
  counters[Counter::Second] = 2 * warps;
  return counters;
}

}  // namespace cudasim
