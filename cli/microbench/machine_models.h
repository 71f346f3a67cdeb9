// Measures this machine, and fits models to the times. Takes up to ten seconds; one thread.
#pragma once

#include "analysis/engine/models/model_set.h"
#include "base/result.h"
#include "cli/text/table.h"

namespace sonde::cli {

struct MachineModels {
  engine::models::ModelSet models;
  Table times;  // what they were fitted to
};

// Io: the machine has no TCP of its own.
Result<MachineModels> measureMachine();

}  // namespace sonde::cli
