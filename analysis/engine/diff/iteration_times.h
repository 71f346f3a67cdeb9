// The time that the ranks of a trace spent in each iteration: on the host, on devices, by kernel.
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

// The source of the recording costs.
struct CostSource {
  bool known = false;   // false: times are as recorded
  bool ownRun = false;  // the run calibrated itself
  // The calibration's noise as a share of its iterations' error; it is the run's own. The rest
  // comes from loops and assumptions, and is the same in all runs whose costs have the same source.
  double noise = 0;
  std::string recorder;  // its probes, build and processor

  bool sharedWith(const CostSource& other) const {
    return known && other.known && ownRun == other.ownRun && recorder == other.recorder;
  }
};

// Identifies an iteration on all ranks: its number, and how often that number occurred before,
// since a program may count from 0 again in each epoch.
struct IterationName {
  std::int64_t number = 0;
  std::int64_t occurrence = 0;

  auto operator<=>(const IterationName&) const = default;
};

struct IterationTimes {
  std::optional<std::int64_t> rank;
  std::vector<IterationName> iterations;  // by begin, without duplicates
  Times times;   // each as long as `iterations`; that of iterations always exists; Subject::rank is
                 // unset
  Times raw;     // the same as recorded, including what recording took
  Times errors;  // standard errors of the subtracted costs
  std::size_t partial = 0;  // iterations left out because fewer probes recorded in them
  CostSource costs;
};

// Whether to subtract known costs of recording. `measured`: costs from elsewhere, which take
// precedence over the trace's.
struct Correcting {
  bool wanted = true;
  const correction::CostSet* measured = nullptr;
};

// All processes that have iterations. Device work counts for the iteration that launched it, else
// for the one in which it began. Corrupt: an id or a time is invalid.
Result<std::vector<IterationTimes>> readIterationTimes(const store::Database& trace,
                                                       const Dimensions& by,
                                                       const Correcting& correcting = {});

}  // namespace sonde::engine::diff
