// What a plugin is handed: a sonde_plugin_host of its own, by whose address Sonde knows which
// plugin calls. The tables live as long as the process. Any thread, but for openHost().
#pragma once

#include "collector/preload/plugin/plugin_hooks.h"
#include "plugins/api/sonde_plugin.h"

#include <cstdint>

namespace sonde::preload::plugin {

// Once, before anything else here.
void useHooks(const Hooks& hooks) noexcept;

// The table of the plugin with this number, as Hooks::add() gave it.
const sonde_plugin_host* openHost(std::uint8_t number) noexcept;
// From now on what comes through it is a mistake of the plugin's.
void closeHost(const sonde_plugin_host* host) noexcept;

}  // namespace sonde::preload::plugin
