// How a job used CUDA, as the trace that is still being written says. Plain functions; any thread.
#pragma once

#include "analysis/store/btrfs.h"

#include <filesystem>
#include <string>
#include <vector>

namespace sonde::recorder {

// Of the first of its processes that gave a GPU work.
struct CudaUse {
  std::string cupti;  // the library that recorded it; empty: none did
  std::string gpu;    // UUID, as in device.uuid; empty: not known
};

CudaUse cudaUseOf(const std::filesystem::path& part);

// Whether another recording of this user that still goes on has seen that GPU at work, or may have:
// its trace cannot be read while it is written, in folders of which `isLocked` says so. Sessions
// are looked for in `places`; `own` is that of the one who asks.
bool anotherRecordingMayUse(const std::string& gpu,
                            const std::filesystem::path& own,
                            const std::vector<std::filesystem::path>& places,
                            bool (*isLocked)(const std::filesystem::path&) = store::isOnBtrfs);

}  // namespace sonde::recorder
