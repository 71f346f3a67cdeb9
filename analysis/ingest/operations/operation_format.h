// Recognises operation-level traces. A free function; any thread.
#pragma once

#include "base/result.h"

#include <filesystem>

namespace sonde::ingest {

// Whether a file of the Trace Event Format is an operation-level trace: one of its first thousand
// spans has the arguments `step`, `model_chunk`, `mb_id` and `seq_id`. A file that `sonde export`
// wrote is none. Errors are ByteSource's; a damaged file is none.
Result<bool> isOperationLevel(const std::filesystem::path& file);

}  // namespace sonde::ingest
