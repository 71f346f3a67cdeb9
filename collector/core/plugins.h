// The external probes of this process: their definitions and records, and their invalid requests.
// Linked into libsonde_preload.so only.
//
// Any thread, a signal handler and a forked child may call every function. None allocates, locks,
// throws or changes errno. No function trusts a number that a plugin passes.
#pragma once

#include "collector/core/emit.h"
#include "collector/wire/plugin_misuse.h"

#include <cstddef>
#include <cstdint>

namespace sonde::core {

struct Spool;

inline constexpr std::uint32_t kMaxPluginCounters = 1024;  // of all plugins together

// Registers a plugin. Returns its number, 0 if there are too many or the spool has no room. All
// parameters are ids of texts. Two threads must not call it at once.
std::uint8_t addPlugin(std::uint32_t name, std::uint32_t category, std::uint32_t version) noexcept;

// A record of a plugin that it may end or add arguments to; 0: none.
using PluginEvent = std::uint64_t;

// The functions below check their arguments. On an invalid one they count the mistake for the
// plugin and do nothing else. `plugin`: a number that addPlugin() returned.
std::uint32_t pluginText(std::uint8_t plugin, const char* text, std::size_t length) noexcept;
PluginEvent pluginBegin(std::uint8_t plugin, std::uint32_t kind, std::uint32_t name) noexcept;
void pluginEnd(std::uint8_t plugin, PluginEvent scope) noexcept;
PluginEvent pluginCall(std::uint8_t plugin,
                       std::uint32_t kind,
                       std::uint32_t name,
                       std::uint64_t beginTicks,
                       std::uint64_t endTicks) noexcept;
PluginEvent pluginMark(std::uint8_t plugin, std::uint32_t name) noexcept;
// Returns the same counter for the same name and unit.
std::uint32_t pluginCounter(std::uint8_t plugin, std::uint32_t name, std::uint32_t unit) noexcept;
void pluginValue(std::uint8_t plugin, std::uint32_t counter, double value) noexcept;
void pluginArgument(std::uint8_t plugin,
                    PluginEvent of,
                    std::uint32_t key,
                    wire::ArgType type,
                    std::uint64_t bits) noexcept;
// `plugin` 0: about all plugins. Written even while nothing else is recorded.
void pluginNote(std::uint8_t plugin, std::uint32_t severity, std::uint32_t text) noexcept;

void countMisuse(std::uint8_t plugin, wire::PluginCall call, wire::PluginMistake mistake) noexcept;

// Call it before anything is recorded in `spool`: defines there what inherited ids refer to.
void adoptPlugins(Spool& spool) noexcept;

}  // namespace sonde::core
