#include "tests/cudasim/cupti/metrics.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

namespace cudasim {
namespace {

struct Metric {
  const char* name;
  Counter first;
  Counter second;   // the same again: none
  double peak = 0;  // 100 × first / (peak × second); 0: the sum
};

constexpr Metric sum(Counter counter, const char* name) {
  return {name, counter, counter};
}
#define CUDASIM_OP(op) "sm__sass_thread_inst_executed_op_" op "_pred_on.sum"

constexpr Metric kMetrics[] = {
    {"sm__warps_active.avg.pct_of_peak_sustained_active",
     Counter::SmWarpsActive,
     Counter::SmCyclesActive,
     kWarpsOfMultiprocessor},
    {"smsp__cycles_active.avg.pct_of_peak_sustained_elapsed",
     Counter::SmspCyclesActive,
     Counter::SmspCyclesElapsed,
     1},
    {"sim__two_passes.sum", Counter::First, Counter::Second},
    sum(Counter::SmspInst, "smsp__inst_executed.sum"),
    sum(Counter::SmCyclesActive, "sm__cycles_active.sum"),
    sum(Counter::SmWarpsActive, "sm__warps_active.sum"),
    sum(Counter::SmCyclesElapsed, "sm__cycles_elapsed.sum"),
    sum(Counter::Time, "gpu__time_duration.sum"),
    sum(Counter::KernelTime, "sim__kernel_time.sum"),
    sum(Counter::DramRead, "dram__bytes_read.sum"),
    sum(Counter::DramWrite, "dram__bytes_write.sum"),
    sum(Counter::DramRead, "dram__bytes_op_read.sum"),
    sum(Counter::DramWrite, "dram__bytes_op_write.sum"),
    sum(Counter::TensorInst, "sm__inst_executed_pipe_tensor.sum"),
    sum(Counter::Fadd, CUDASIM_OP("fadd")),
    sum(Counter::Fmul, CUDASIM_OP("fmul")),
    sum(Counter::Ffma, CUDASIM_OP("ffma")),
    sum(Counter::Hadd, CUDASIM_OP("hadd")),
    sum(Counter::Hmul, CUDASIM_OP("hmul")),
    sum(Counter::Hfma, CUDASIM_OP("hfma")),
    sum(Counter::Dadd, CUDASIM_OP("dadd")),
    sum(Counter::Dmul, CUDASIM_OP("dmul")),
    sum(Counter::Dfma, CUDASIM_OP("dfma")),
};
static_assert(std::size(kMetrics) <= 8 * sizeof(MetricSet));

enum class Group : uint8_t { Sm, Dram, Sass, Sim, None };

Group groupOf(Counter counter) {
  if (counter == Counter::Time || counter == Counter::KernelTime) {
    return Group::None;
  }
  if (counter >= Counter::First) {
    return Group::Sim;
  }
  if (counter >= Counter::Fadd) {
    return Group::Sass;
  }
  return counter >= Counter::DramRead ? Group::Dram : Group::Sm;
}

uint32_t roomOf(Group group) {
  static const uint32_t ofSm = [] {
    const char* text = std::getenv("CUDASIM_COUNTERS_PER_PASS");
    return text ? std::max(1U, static_cast<uint32_t>(std::atoi(text))) : 4U;
  }();
  switch (group) {
    case Group::Sm:
      return ofSm;
    case Group::Dram:
      return 2;
    case Group::Sass:
      return 3;
    case Group::Sim:
      return 1;
    case Group::None:
      return kCounters;
  }
  return 1;
}

CounterSet bit(Counter counter) {
  return CounterSet{1} << static_cast<uint32_t>(counter);
}

CounterSet countersOf(MetricSet metrics) {
  CounterSet counters = 0;
  for (size_t i = 0; i < std::size(kMetrics); ++i) {
    if (metrics >> i & 1) {
      counters |= bit(kMetrics[i].first) | bit(kMetrics[i].second);
    }
  }
  return counters;
}

bool has(Chip chip, const std::string& metric) {
  const bool isOp = metric.rfind("dram__bytes_op", 0) == 0;
  const bool isDram = metric.rfind("dram__", 0) == 0;
  const bool isTensor = metric == "sm__inst_executed_pipe_tensor.sum";
  return chip == Chip::Sim100 ? !isOp : !isTensor && (isOp || !isDram);
}

}  // namespace

Chip chipOf(size_t device) {
  static const bool isMixed = std::getenv("CUDASIM_OTHER_CHIP");
  return isMixed && device > 0 ? Chip::Sim200 : Chip::Sim100;
}

const char* chipName(Chip chip) {
  return chip == Chip::Sim100 ? "sim100" : "sim200";
}

std::optional<Chip> chipCalled(const char* name) {
  for (const Chip chip : {Chip::Sim100, Chip::Sim200}) {
    if (std::strcmp(name, chipName(chip)) == 0) {
      return chip;
    }
  }
  return std::nullopt;
}

bool hasAll(Chip chip, MetricSet metrics) {
  for (size_t i = 0; i < std::size(kMetrics); ++i) {
    if (metrics >> i & 1 && !has(chip, kMetrics[i].name)) {
      return false;
    }
  }
  return true;
}

CUptiResult findMetrics(const char* const* names, size_t count, MetricSet* metrics) {
  if (!names || count == 0) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  *metrics = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!names[i]) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    const auto* found =
        std::find_if(std::begin(kMetrics), std::end(kMetrics), [&](const Metric& metric) {
          return std::strcmp(metric.name, names[i]) == 0;
        });
    if (found == std::end(kMetrics)) {
      return CUPTI_ERROR_INVALID_METRIC_NAME;
    }
    *metrics |= MetricSet{1} << (found - std::begin(kMetrics));
  }
  return CUPTI_SUCCESS;
}

Schedule scheduleOf(MetricSet metrics) {
  const CounterSet counters = countersOf(metrics);
  std::array<uint32_t, 5> inGroup{};
  Schedule schedule;
  for (size_t i = 0; i < kCounters; ++i) {
    const auto counter = static_cast<Counter>(i);
    if (counters & bit(counter)) {
      const Group group = groupOf(counter);
      const uint32_t pass = inGroup[static_cast<size_t>(group)]++ / roomOf(group);
      schedule.ofPass[pass] |= bit(counter);
      schedule.passes = std::max(schedule.passes, pass + 1);
    }
  }
  return schedule;
}

double evaluate(MetricSet metric, Counters counters, CounterSet collected) {
  if ((countersOf(metric) & ~collected) != 0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const Metric& found = kMetrics[__builtin_ctz(metric)];
  const auto first = static_cast<double>(counters[found.first]);
  const auto second = static_cast<double>(counters[found.second]);
  if (found.peak > 0) {
    return 100 * first / (found.peak * second);
  }
  return found.first == found.second ? first : first + second;
}

}  // namespace cudasim
