// The file of `sonde microbench -o FILE`, which `sonde whatif --model FILE` reads: models of
// collectives. Plain functions; any thread.
#pragma once

#include "analysis/engine/models/op_models.h"
#include "base/result.h"

#include <string>
#include <vector>

namespace sonde::cli {

std::string modelFileOf(const std::vector<engine::models::OpModel>& fitted);

// Io, Corrupt: the file cannot be read or is not such a file; the message has its name and the key
// that is missing or wrong.
Result<std::vector<engine::models::OpModel>> readModelFile(const std::string& path);

}  // namespace sonde::cli
