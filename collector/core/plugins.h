// The probes from outside that take part in this process: what they define and record, and what
// they asked for that cannot be. Linked into libsonde_preload.so alone.
//
// Every function may be called from any thread, from a signal handler and from a forked child; none
// allocates, locks, throws or changes errno. Nothing here trusts a number that a plugin has given.
#pragma once

#include "collector/core/emit.h"
#include "collector/wire/plugin_misuse.h"

#include <cstddef>
#include <cstdint>

namespace sonde::core {

struct Spool;

inline constexpr std::uint32_t kMaxPluginCounters = 1024;  // of all of them together

// Takes a plugin in; its number, 0 when there are too many or the spool has no room. All are ids of
// texts. Not for two threads at once.
std::uint8_t addPlugin(std::uint32_t name, std::uint32_t category, std::uint32_t version) noexcept;

// What a plugin has recorded and may end or say something of: 0 for nothing.
using PluginEvent = std::uint64_t;

// The functions below check what they are given, count what is wrong with it for the plugin, and do
// nothing then. `plugin` is a number that addPlugin() has given.
std::uint32_t pluginText(std::uint8_t plugin, const char* text, std::size_t length) noexcept;
PluginEvent pluginBegin(std::uint8_t plugin, std::uint32_t kind, std::uint32_t name) noexcept;
void pluginEnd(std::uint8_t plugin, PluginEvent scope) noexcept;
PluginEvent pluginCall(std::uint8_t plugin,
                       std::uint32_t kind,
                       std::uint32_t name,
                       std::uint64_t beginTicks,
                       std::uint64_t endTicks) noexcept;
PluginEvent pluginMark(std::uint8_t plugin, std::uint32_t name) noexcept;
// The same counter for the same name and unit.
std::uint32_t pluginCounter(std::uint8_t plugin, std::uint32_t name, std::uint32_t unit) noexcept;
void pluginValue(std::uint8_t plugin, std::uint32_t counter, double value) noexcept;
void pluginArgument(std::uint8_t plugin,
                    PluginEvent of,
                    std::uint32_t key,
                    wire::ArgType type,
                    std::uint64_t bits) noexcept;
// `plugin` 0: of all of them. Written also while nothing else is recorded.
void pluginNote(std::uint8_t plugin, std::uint32_t severity, std::uint32_t text) noexcept;

void countMisuse(std::uint8_t plugin, wire::PluginCall call, wire::PluginMistake mistake) noexcept;

// Before anything is recorded in `spool`: what an inherited id names is defined there.
void adoptPlugins(Spool& spool) noexcept;

}  // namespace sonde::core
