// The plugins of this process: finds them among the loaded libraries, checks them and calls their
// callbacks. On the thread that starts, ends or forks the process; keeps errno.
#pragma once

#include "collector/preload/plugin/plugin_hooks.h"

namespace sonde::preload::plugin {

// Call once. `libraries`: the value of SONDE_PLUGIN_LIBRARIES, whose first item is this library.
void startPlugins(const Hooks& hooks, const char* libraries);
void stopPlugins();

}  // namespace sonde::preload::plugin
