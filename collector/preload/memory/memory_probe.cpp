// Starts libsonde_memory.so, which intercepts the functions that allocate memory, and passes it the
// table of memory/memory_hooks.h.

#include "collector/core/emit.h"
#include "collector/core/platform/clock.h"
#include "collector/core/platform/symbol_versions.h"
#include "collector/core/spool.h"
#include "collector/core/vfork.h"
#include "collector/preload/common/process_fact.h"
#include "collector/preload/memory/memory_hooks.h"

#include <dlfcn.h>

namespace sonde::preload::memory {
namespace {

bool records() noexcept {
  return core::admits(wire::Probe::Memory) && !core::inNotedVforkChild();
}

std::uint64_t ticks() noexcept {
  return core::readTicks();
}

bool allocated(const wire::Allocation& record) noexcept {
  return core::emitAllocation(record);
}

void released(const wire::Release& record) noexcept {
  core::emitRelease(record);
}

void lose() noexcept {
  core::countLoss(wire::Probe::Memory, wire::RecordKind::Allocation, wire::LossReason::Blocks);
}

void say(const char* text) noexcept {
  sayFact("memory", "%s", text);
}

constexpr Hooks kHooks = {kHooksVersion, records, ticks, allocated, released, lose, say};

// Called from here, because the other library may not be initialised yet.
__attribute__((constructor(104))) void begin() {
  if (!core::isSource(wire::Probe::Memory))
    return;
  const auto begin = reinterpret_cast<Begin>(dlsym(RTLD_DEFAULT, "sonde_memory_begin"));
  if (begin == nullptr)
    dlerror();  // otherwise the program's next dlerror() would report this lookup
  else
    begin(&kHooks, core::gSpool.session->memoryThreshold);
}

}  // namespace
}  // namespace sonde::preload::memory
