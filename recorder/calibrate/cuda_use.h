// How a job used CUDA, read from its unfinished trace. Plain functions; any thread.
#pragma once

#include "analysis/store/btrfs.h"

#include <filesystem>
#include <string>
#include <vector>

namespace sonde::recorder {

// For the first of its processes that gave work to a GPU.
struct CudaUse {
  std::string cupti;  // the library that recorded it; empty: none
  std::string gpu;    // UUID, as in device.uuid; empty: unknown
};

CudaUse cudaUseOf(const std::filesystem::path& part);

// Whether another running recording of this user has seen that GPU at work, or may have: the
// unfinished trace cannot be read in folders for which `isLocked` returns true. Searches `places`
// for sessions; `own` is the caller's session.
bool anotherRecordingMayUse(const std::string& gpu,
                            const std::filesystem::path& own,
                            const std::vector<std::filesystem::path>& places,
                            bool (*isLocked)(const std::filesystem::path&) = store::isOnBtrfs);

}  // namespace sonde::recorder
