// The table of plugin/plugin_hooks.h, which this library provides to libsonde_plugin.so, the
// starter of external probes.

#include "collector/core/emit.h"
#include "collector/core/platform/clock.h"
#include "collector/core/platform/hooks.h"
#include "collector/preload/plugin/plugin_hooks.h"

namespace sonde::preload::plugin {
namespace {

bool isAsked() noexcept {
  return core::isSource(wire::Probe::Plugin);
}

bool enabled() noexcept {
  return core::enabled(wire::Probe::Plugin);
}

std::uint64_t ticks() noexcept {
  return core::readTicks();
}

constexpr Hooks kHooks = {kHooksVersion,
                          isAsked,
                          enabled,
                          ticks,
                          core::addPlugin,
                          core::pluginText,
                          core::pluginBegin,
                          core::pluginEnd,
                          core::pluginCall,
                          core::pluginMark,
                          core::pluginCounter,
                          core::pluginValue,
                          core::pluginArgument,
                          core::pluginNote,
                          core::countMisuse};

}  // namespace
}  // namespace sonde::preload::plugin

SONDE_EXPORT const sonde::preload::plugin::Hooks* sonde_plugin_hooks(std::uint32_t version) {
  using namespace sonde::preload::plugin;
  return version == kHooksVersion ? &kHooks : nullptr;
}
