// What the ranks in a trace spent in each of their iterations: on the host, on devices, by kernel.
// Plain values; reading uses the database's thread.
#pragma once

#include "analysis/engine/correction/cost_table.h"
#include "analysis/engine/diff/subject.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::diff {

// From where it is known what recording cost.
struct CostSource {
  bool known = false;   // else times are as recorded
  bool ownRun = false;  // the run calibrated itself
  // Of the error of its iterations, the noise of that calibration, as a share: it is the run's own.
  // The rest (what loops have found, and what is assumed of calibrations) is off by the same in all
  // runs whose costs are told in the same way.
  double noise = 0;
  std::string recorder;  // its probes, build and processor

  bool sharedWith(const CostSource& other) const {
    return known && other.known && ownRun == other.ownRun && recorder == other.recorder;
  }
};

// What an iteration is known by on all ranks: its number, and how often that had come before, as a
// program may count from 0 again in each epoch.
struct IterationName {
  std::int64_t number = 0;
  std::int64_t occurrence = 0;

  auto operator<=>(const IterationName&) const = default;
};

struct IterationTimes {
  std::optional<std::int64_t> rank;
  std::vector<IterationName> iterations;  // by begin, each once
  Times times;  // each as long as `iterations`, that of iterations always; Subject::rank is nothing
  Times raw;    // the same as recorded, with what recording took
  Times errors;             // standard errors of what was taken out of them
  std::size_t partial = 0;  // iterations that are left out since fewer probes recorded in them
  CostSource costs;
};

// Whether the cost of recording is taken out, where it is known; `measured`: costs from elsewhere,
// which count before those of the trace.
struct Correcting {
  bool wanted = true;
  const correction::CostSet* measured = nullptr;
};

// Of all processes that have iterations. What a device does counts for the iteration that launched
// it, else for the one in which it began.
// Corrupt: ids or times are none.
Result<std::vector<IterationTimes>> readIterationTimes(const store::Database& trace,
                                                       const Dimensions& by,
                                                       const Correcting& correcting = {});

}  // namespace sonde::engine::diff
