// The file of `sonde microbench -o FILE`, which `sonde whatif --model FILE` reads: models of
// collectives and of operators. Plain functions; any thread.
#pragma once

#include "analysis/engine/models/model_set.h"
#include "base/result.h"

#include <string>

namespace sonde::cli {

std::string modelFileOf(const engine::models::ModelSet& fitted);

// Io, Corrupt: the file cannot be read or is not such a file; the message has its name and the key
// that is missing or wrong.
Result<engine::models::ModelSet> readModelFile(const std::string& path);
// The same of an option `--model`; without it none.
Result<engine::models::ModelSet> givenModels(const std::string& path);

}  // namespace sonde::cli
