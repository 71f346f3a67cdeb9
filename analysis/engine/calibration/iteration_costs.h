// The iterations of a trace, with which probes were on in them, and what recording took of each by
// probe, as far as costs are known. Uses the database's thread.
#pragma once

#include "analysis/engine/correction/cost_table.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sonde::engine::calibration {

struct CostedIteration {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t mask;           // bits of model::kProbeWords: those that were on all the time
  std::size_t block = 0;       // of iterations one after the other with one mask
  std::vector<double> costNs;  // by probe, as in IterationCosts
  bool isDisturbed = false;    // the recorder stored meanwhile; those that are are left out

  double durationNs() const noexcept { return static_cast<double>(end - begin); }
};

// Of one process, in the order of time. The first of each block is left out: caches are still those
// of the one before, and hooks have just been put in place or taken out. So are those during which
// the recorder stored, where there are enough others (iterations::MaskedIterations).
struct CostedProcess {
  std::int64_t id;
  std::int64_t fullMask = 0;  // as iterations::MaskedIterations has it
  std::size_t made = 0;       // with those that are left out
  std::vector<CostedIteration> iterations;
};

struct IterationCosts {
  std::vector<std::string> probes;  // that recorded anything in an iteration
  // By probe: what its calls cost while it is off, over CostedIteration::costNs, which is without.
  std::vector<double> unrecorded;
  std::vector<CostedProcess> processes;
};

// Iterations in outline, and those without an end, are left out.
Result<IterationCosts> readIterationCosts(const store::Database& trace,
                                          const correction::CostTable& known);

// Whether `probe` was on in it.
bool isOn(const std::string& probe, const CostedIteration& iteration) noexcept;

}  // namespace sonde::engine::calibration
