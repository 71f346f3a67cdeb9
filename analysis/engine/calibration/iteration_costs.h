// The iterations of a trace: which probes were on in each, and what recording took of it by probe,
// as far as costs are known. Uses the database's thread.
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
  std::int64_t mask;           // bits of model::kProbeWords: probes that were on throughout
  std::size_t block = 0;       // of consecutive iterations with one mask
  std::vector<double> costNs;  // by probe, as in IterationCosts
  bool isDisturbed = false;    // the recorder stored meanwhile

  double durationNs() const noexcept { return static_cast<double>(end - begin); }
};

// One process, in the order of time. The first iteration of each block is left out: caches still
// hold the previous block's data, and hooks were just installed or removed. Iterations during which
// the recorder stored are left out if enough others exist (iterations::Iterations).
struct CostedProcess {
  std::int64_t id;
  std::int64_t fullMask = 0;  // as iterations::Iterations has it
  std::size_t made = 0;       // including those left out
  std::vector<CostedIteration> iterations;
};

struct IterationCosts {
  std::vector<std::string> probes;  // those that recorded anything in an iteration
  // By probe: the cost of its calls while it is off, relative to CostedIteration::costNs, which
  // does not include it.
  std::vector<double> unrecorded;
  std::vector<CostedProcess> processes;
};

// Leaves out iterations in outline and iterations without an end.
Result<IterationCosts> readIterationCosts(const store::Database& trace,
                                          const correction::CostTable& known);

// Whether `probe` was on in the iteration.
bool isOn(const std::string& probe, const CostedIteration& iteration) noexcept;

}  // namespace sonde::engine::calibration
