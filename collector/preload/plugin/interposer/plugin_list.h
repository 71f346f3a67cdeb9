// The plugins of this process: found among what the loader has loaded, checked, and their callbacks
// called. On the thread that begins or ends the process, or that forked it; keeps errno.
#pragma once

#include "collector/preload/plugin/plugin_hooks.h"

namespace sonde::preload::plugin {

// Once. `libraries`: the value of SONDE_PLUGIN_LIBRARIES, whose first item is this library.
void startPlugins(const Hooks& hooks, const char* libraries);
void stopPlugins();

}  // namespace sonde::preload::plugin
