// The plugins of one run, checked together. Plain functions; any thread, though the trial starts a
// process.
#pragma once

#include "base/result.h"
#include "plugins/host/plugin_file.h"

#include <string>
#include <vector>

namespace sonde::plugins {

// Each by itself, and that none comes twice and there are not too many. In the order given.
Result<std::vector<PluginFile>> checkPlugins(const std::vector<std::string>& paths);

// Whether the loader would find all that they need in a program with this environment (NAME=VALUE):
// one that lacks a library would keep each program of the job from starting. Asked of the loader
// itself, which lists libraries without running any code of theirs. `program`: a dynamic one of
// this machine, which does not run either.
Result<void> tryLoading(const std::vector<PluginFile>& plugins,
                        const std::string& program,
                        const std::vector<std::string>& environment);

}  // namespace sonde::plugins
