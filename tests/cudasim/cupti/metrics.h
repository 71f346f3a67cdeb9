#pragma once
// The metrics of the simulated chip, the counters that each needs, and the pass of a replay in
// which these are collected. Pure functions; any thread.
//
// A pass has room for this many counters of each group:
//   4  of sm__ and smsp__ (CUDASIM_COUNTERS_PER_PASS)     2  of dram__
//   3  of sm__sass_                                       1  of sim__
// gpu__time_duration and sim__kernel_time need none. A counter that two metrics need is collected
// once. The n-th counter of a group is in pass n / room. The number of passes is that of the group
// that needs the most.

#include "tests/cudasim/core/counters.h"

#include <cupti.h>

#include <array>
#include <cstdint>
#include <optional>

namespace cudasim {

enum class Chip : uint8_t { Sim100, Sim200 };

// With CUDASIM_OTHER_CHIP, all devices but the first are sim200.
Chip chipOf(size_t device);
const char* chipName(Chip chip);
// Null: no such chip.
std::optional<Chip> chipCalled(const char* name);

using MetricSet = uint32_t;   // a bit for each metric
using CounterSet = uint32_t;  // a bit for each Counter

struct Schedule {
  uint32_t passes = 0;
  std::array<CounterSet, kCounters> ofPass{};
};

// CUPTI_ERROR_INVALID_PARAMETER if there is no name, or a null one.
CUptiResult findMetrics(const char* const* names, size_t count, MetricSet* metrics);

// Sim100 lacks dram__bytes_op_…. Sim200 has only these of dram__, and no tensor cores.
bool hasAll(Chip chip, MetricSet metrics);

Schedule scheduleOf(MetricSet metrics);

// Requires: one bit is set. NaN unless all its counters are in `collected`.
double evaluate(MetricSet metric, Counters counters, CounterSet collected);

}  // namespace cudasim
