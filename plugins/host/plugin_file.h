// Whether a file is a plugin that this Sonde can take, told from the file alone: no code of it runs
// in `sonde`. Plain functions; any thread.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <string>

namespace sonde::plugins {

struct PluginFile {
  std::filesystem::path path;  // absolute, as it can stand in LD_PRELOAD
  std::string name;
  std::string category;
  std::string version;
  std::string description;
};

// The error names the file, what is wrong with it and what to do: of another ABI both versions.
Result<PluginFile> checkPlugin(const std::filesystem::path& path);

}  // namespace sonde::plugins
