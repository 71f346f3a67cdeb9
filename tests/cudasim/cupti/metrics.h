#pragma once
// The metrics of the simulated chip, what counters each needs, and in which pass of a replay these
// are collected. Pure functions; any thread.
//
// A pass has room for so many counters of each group:
//   4  of sm__ and smsp__ (CUDASIM_COUNTERS_PER_PASS)     2  of dram__
//   3  of sm__sass_                                       1  of sim__
// gpu__time_duration and sim__kernel_time need none. A counter that two metrics need is collected
// once. The n-th counter of a group is in pass n / room; the passes are those of the group that
// needs most.

#include "tests/cudasim/core/counters.h"

#include <cupti.h>

#include <array>
#include <cstdint>
#include <optional>

namespace cudasim {

enum class Chip : uint8_t { Sim100, Sim200 };

// Sim200 is that of devices but the first with CUDASIM_OTHER_CHIP.
Chip chipOf(size_t device);
const char* chipName(Chip chip);
// Null: there is no such chip.
std::optional<Chip> chipCalled(const char* name);

using MetricSet = uint32_t;   // a bit for each metric
using CounterSet = uint32_t;  // a bit for each Counter

struct Schedule {
  uint32_t passes = 0;
  std::array<CounterSet, kCounters> ofPass{};
};

// CUPTI_ERROR_INVALID_PARAMETER when there is no name or a null one.
CUptiResult findMetrics(const char* const* names, size_t count, MetricSet* metrics);

// Sim100 has no dram__bytes_op_…, sim200 has nothing else of dram__, and no tensor cores.
bool hasAll(Chip chip, MetricSet metrics);

Schedule scheduleOf(MetricSet metrics);

// Requires: one bit is set. NaN when not all its counters are `collected`.
double evaluate(MetricSet metric, Counters counters, CounterSet collected);

}  // namespace cudasim
