// The energy that meters of a job's machines and devices recorded: of the ranks' windows, by
// iteration, and by operation. Plain values; reading uses the database's thread.
//
// A machine's meter (RAPL) is of all that it does, whoever makes it; what is active are the threads
// of the job there, each in its innermost operation, or outside of all where it does not just wait.
// A device's is divided among the operations that launched what runs on it. energy_shares.h has
// how, and how sure that is. Meters may be parts of each other, as cores are of a package: they are
// not added up.
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
  bool isDevice = false;   // else it is of all that a machine does
  bool fromPower = false;  // of a meter of power, from reading to reading
  EnergyShares energy;
  std::vector<OperationEnergy> operations;  // most first; with energy.idle all of it
  std::int64_t iterations = 0;              // of the rank that has most of them
  std::optional<double> watts;              // mean
  std::optional<double> joulesPerIteration;
  std::optional<double> samplesPerJoule;  // of the ranks on it, where all of them tell
  std::optional<double> tokensPerJoule;
};

// By machine, then device. Empty where no meter was recorded. `throughput`: of the ranks.
Result<std::vector<EnergyUse>> energyUses(const store::Database& trace,
                                          const std::vector<metrics::RankProcess>& ranks,
                                          const std::vector<metrics::Throughput>& throughput);

}  // namespace sonde::engine::energy
