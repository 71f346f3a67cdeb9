// The functions of libsonde_preload.so for libsonde_plugin.so, which starts the external probes. It
// looks the table up once, with dlsym("sonde_plugin_hooks"), before main, and ignores a table of
// another version. The functions are those of core/plugins.h. Any thread; no function locks,
// allocates or changes errno.
#pragma once

#include "collector/core/plugins.h"

#include <cstddef>
#include <cstdint>

namespace sonde::preload::plugin {

inline constexpr std::uint32_t kHooksVersion = 1;

struct Hooks {
  std::uint32_t version;
  bool (*isAsked)();  // whether the run requested plugins and this process records
  bool (*enabled)();
  std::uint64_t (*ticks)();
  decltype(&core::addPlugin) add;
  decltype(&core::pluginText) text;
  decltype(&core::pluginBegin) begin;
  decltype(&core::pluginEnd) end;
  decltype(&core::pluginCall) call;
  decltype(&core::pluginMark) mark;
  decltype(&core::pluginCounter) counter;
  decltype(&core::pluginValue) value;
  decltype(&core::pluginArgument) argument;
  decltype(&core::pluginNote) note;
  decltype(&core::countMisuse) misuse;
};

using FindHooks = const Hooks* (*)(std::uint32_t version);

}  // namespace sonde::preload::plugin
