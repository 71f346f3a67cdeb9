// Whether a file is a plugin that this Sonde can use, judged by the file alone: none of its code
// runs in `sonde`. Plain functions; any thread.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <string>

namespace sonde::plugins {

struct PluginFile {
  std::filesystem::path path;  // absolute, usable in LD_PRELOAD
  std::string name;
  std::string category;
  std::string version;
  std::string description;
};

// The error names the file, the fault and the remedy; for another ABI, both versions.
Result<PluginFile> checkPlugin(const std::filesystem::path& path);

}  // namespace sonde::plugins
