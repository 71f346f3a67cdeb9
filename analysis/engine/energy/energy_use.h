// The energy that meters of a job's machines and devices recorded in the ranks' windows, also by
// iteration and by operation. Plain values; reading uses the database's thread.
//
// A machine's meter (RAPL) measures everything on it. Its energy is divided among the threads of
// the job there, each in its innermost operation, or outside of all unless it only waits. A
// device's energy is divided among the operations that launched its work. energy_shares.h explains
// how, and the error. Meters may include each other, as a package includes its cores: do not add
// them up.
#pragma once

#include "analysis/engine/energy/energy_shares.h"
#include "analysis/engine/metrics/ranks.h"
#include "analysis/engine/metrics/throughput.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::energy {

struct OperationEnergy {
  std::string name;
  Share share;
};

struct EnergyUse {
  std::string meter;       // the counter's name
  std::string place;       // the machine's name, or "gpu 0"
  bool isDevice = false;   // false: of the whole machine
  bool fromPower = false;  // integrated from a meter of power
  EnergyShares energy;
  std::vector<OperationEnergy> operations;  // most first; with energy.idle they sum to all of it
  std::int64_t iterations = 0;              // of the rank with the most iterations
  std::optional<double> watts;              // mean
  std::optional<double> joulesPerIteration;
  std::optional<double> samplesPerJoule;  // of the ranks on it, if all report them
  std::optional<double> tokensPerJoule;
};

// Ordered by machine, then device. Empty if no meter was recorded. `throughput`: of the ranks.
// `within`: job time; energy, shares and power are then those in it. Amounts per iteration and per
// sample follow from that power and the iterations of the whole trace.
Result<std::vector<EnergyUse>> energyUses(const store::Database& trace,
                                          const std::vector<metrics::RankProcess>& ranks,
                                          const std::vector<metrics::Throughput>& throughput,
                                          const std::optional<metrics::Interval>& within = {});

}  // namespace sonde::engine::energy
