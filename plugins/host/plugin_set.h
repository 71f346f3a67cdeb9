// The plugins of one run, checked together. Plain functions; any thread, though the trial starts a
// process.
#pragma once

#include "base/result.h"
#include "plugins/host/plugin_file.h"

#include <string>
#include <vector>

namespace sonde::plugins {

// Checks each plugin, that none is given twice, and that there are not too many. Keeps the order.
Result<std::vector<PluginFile>> checkPlugins(const std::vector<std::string>& paths);

// Whether the loader would find everything that the plugins need in a program with this environment
// (NAME=VALUE). A plugin that lacks a library would prevent every program of the job from starting.
// Asks the loader itself, which lists libraries without running their code. `program`: a dynamic
// program for this machine, which is not run either.
Result<void> tryLoading(const std::vector<PluginFile>& plugins,
                        const std::string& program,
                        const std::vector<std::string>& environment);

}  // namespace sonde::plugins
