// The tables that plugins get: each plugin has its own sonde_plugin_host, whose address identifies
// the plugin in a call. The tables live as long as the process. Any thread, except openHost().
#pragma once

#include "collector/preload/plugin/plugin_hooks.h"
#include "plugins/api/sonde_plugin.h"

#include <cstdint>

namespace sonde::preload::plugin {

// Call once, before anything else here.
void useHooks(const Hooks& hooks) noexcept;

// Returns the table of the plugin with this number, which Hooks::add() returned.
const sonde_plugin_host* openHost(std::uint8_t number) noexcept;
// From now on every call through it is counted as a mistake of the plugin.
void closeHost(const sonde_plugin_host* host) noexcept;

}  // namespace sonde::preload::plugin
