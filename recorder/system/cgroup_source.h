// The limits of a container, a service or a batch job, and how often it was throttled. Reads the
// recorder's control group, which is also the job's, in both versions of the kernel's interface.
// Among the enclosing groups, the innermost one with a limit counts.
#pragma once

#include "recorder/system/kernel_file.h"
#include "recorder/system/source.h"

#include <optional>

namespace sonde::recorder::system {

class CgroupSource final : public Source {
 public:
  explicit CgroupSource(const Roots& roots);
  void sample(Readings& into) override;

 private:
  void sampleMemory(Readings& into);
  void sampleCpu(Readings& into);
  void set(std::optional<std::size_t>& metric, const Metric& is, double value, Readings& into);

  bool inMicroseconds_ = true;  // cpu.stat reports throttled_usec, as in version 2
  KernelFile memory_;
  KernelFile memoryLimit_;
  KernelFile memoryEvents_;
  KernelFile cpuStat_;
  KernelFile cpuQuota_;   // "QUOTA PERIOD" in version 2, the quota in version 1
  KernelFile cpuPeriod_;  // version 1
  std::optional<std::size_t> usedMetric_;
  std::optional<std::size_t> limitMetric_;
  std::optional<std::size_t> killsMetric_;
  std::optional<std::size_t> throttledMetric_;
  std::optional<std::size_t> periodsMetric_;
  std::optional<std::size_t> coresMetric_;
};

}  // namespace sonde::recorder::system
