// Prepares the job's environment: where Sonde's libraries are, and the variables that load them
// into the job's processes. Plain functions; any thread.
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
  std::filesystem::path pythonFolder;  // contains the package `sonde` and sitecustomize.py
};

// Looks next to the running program, in ../lib/sonde. Fails if the library is not there or its path
// cannot be used in LD_PRELOAD.
Result<Installation> findInstallation();

// Identifies the build of the recording library: FNV-1a of the file, in hexadecimal digits. Empty:
// it cannot be read.
std::string buildOf(const Installation& installation);

struct InjectionRequest {
  std::filesystem::path spoolFolder;
  std::optional<std::string> sources;  // as given with --sources
  CudaOptions cuda = {};
  core::CompanionSet companions = 0;        // needed by the run …
  core::CompanionSet called = 0;            // … and those that the job's first program can use
  std::string torchOperators = {};          // "names", "shapes"; empty: none
  std::string moduleCategories = {};        // from moduleCategories()
  std::string tensorPlan = {};              // from readTensorPlan()
  std::filesystem::path tensorFolder = {};  // for tensors that are stored completely
  std::vector<std::filesystem::path> plugins = {};  // absolute; preloaded after Sonde's libraries
};

// Returns `base` (NAME=VALUE) with the recorder's variables. Prepends to LD_PRELOAD and PYTHONPATH.
// Keeps the user's own injection libraries of NVTX and CUDA in SONDE_CHAIN_NVTX and
// SONDE_CHAIN_CUDA. SONDE_NCCL_LIBRARY and similar variables name libraries that other programs
// preload if they can use them (core::Companion). SONDE_PLUGIN_LIBRARIES also names the plugins,
// after the library. NCCL looks for its profiler plugin in the process, unless the user has named
// one.
std::vector<std::string> injectedEnvironment(const std::vector<std::string>& base,
                                             const Installation& installation,
                                             const InjectionRequest& request);

// The NCCL profiler plugin that a program with this environment (NAME=VALUE) gets, if it is not
// Sonde's. NCCL_PROFILER_PLUGIN names it, or NCCL finds it by its default name. Empty: none. NCCL
// loads only one.
std::string otherNcclPlugin(const std::vector<std::string>& environment);

// This process's environment.
std::vector<std::string> ownEnvironment();

}  // namespace sonde::recorder
