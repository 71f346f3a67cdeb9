// How busy the processors of a machine were while a process worked. Plain values; reading uses the
// database's thread.
#pragma once

#include "analysis/engine/intervals/intervals.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>

namespace sonde::engine::counters {

struct ProcessorUse {
  std::string host;
  std::int64_t processors = 0;
  double busy = 0;  // the mean number of processors that worked, for any process

  // Hardly any processor was idle.
  [[nodiscard]] bool isFull() const noexcept {
    constexpr double kFull = 0.9;
    return busy >= kFull * static_cast<double>(processors);
  }
};

// The use of the process's machine between the first and the last sample in `window`, by the host's
// clock.
// Unset: the number of processors is not known, or there are less than two samples.
Result<std::optional<ProcessorUse>> processorUse(const store::Database& trace,
                                                 std::int64_t processId,
                                                 const metrics::Interval& window);

}  // namespace sonde::engine::counters
