// What the recorder gives the job along: where its own libraries are, and the environment that
// brings them into the job's processes. Plain functions; any thread.
#pragma once

#include "base/result.h"
#include "collector/core/platform/companions.h"
#include "recorder/options/cuda_options.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sonde::recorder {

struct Installation {
  std::filesystem::path preload;       // libsonde_preload.so
  std::filesystem::path pythonFolder;  // holds the package `sonde` and sitecustomize.py
};

// Beside the running program: ../lib/sonde. Fails when the library is not there or its path cannot
// stand in LD_PRELOAD.
Result<Installation> findInstallation();

// A number that tells its library that records from one built otherwise: FNV-1a of the file, in
// hexadecimal digits. Empty: it cannot be read.
std::string buildOf(const Installation& installation);

struct InjectionRequest {
  std::filesystem::path spoolFolder;
  std::optional<std::string> sources;  // as given with --sources
  CudaOptions cuda = {};
  core::CompanionSet companions = 0;        // that the run needs …
  core::CompanionSet called = 0;            // … and of which the job's first program can make use
  std::string torchOperators = {};          // "names", "shapes"; empty: none
  std::string moduleCategories = {};        // as moduleCategories() has them
  std::string tensorPlan = {};              // as readTensorPlan() has it
  std::filesystem::path tensorFolder = {};  // for tensors that are kept as a whole
  std::vector<std::filesystem::path> plugins = {};  // absolute; go behind Sonde's libraries
};

// `base` (NAME=VALUE) with the recorder's variables set: LD_PRELOAD and PYTHONPATH prepended to,
// the user's own injection libraries of NVTX and CUDA kept in SONDE_CHAIN_NVTX and
// SONDE_CHAIN_CUDA. SONDE_NCCL_LIBRARY and the like are what other programs preload, too, where
// they can make use of it (core::Companion); SONDE_PLUGIN_LIBRARIES has the plugins behind it. NCCL
// looks for its profiler plugin in the process, unless the user has named one.
std::vector<std::string> injectedEnvironment(const std::vector<std::string>& base,
                                             const Installation& installation,
                                             const InjectionRequest& request);

// The NCCL profiler plugin that a program with this environment (NAME=VALUE) gets where that is not
// Sonde's: NCCL_PROFILER_PLUGIN names it, or NCCL finds it by its default name. Empty: none. NCCL
// loads one.
std::string otherNcclPlugin(const std::vector<std::string>& environment);

// Of this process.
std::vector<std::string> ownEnvironment();

}  // namespace sonde::recorder
