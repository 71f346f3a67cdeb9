// Starts libsonde_stack.so, which copies threads' stacks, and passes it the table of
// stack/stack_hooks.h.

#include "collector/preload/stack/stack_probe.h"

#include "collector/core/definitions.h"
#include "collector/core/emit.h"
#include "collector/core/platform/clock.h"
#include "collector/core/platform/symbol_versions.h"
#include "collector/core/sample_slot.h"
#include "collector/core/stack_events.h"
#include "collector/core/vfork.h"
#include "collector/preload/common/process_fact.h"
#include "collector/preload/stack/stack_hooks.h"

#include <dlfcn.h>
#include <string.h>

namespace sonde::preload {
namespace stack {
namespace {

constinit std::atomic<const Sampler*> gSampler{nullptr};

char* reserve(std::size_t bytes) noexcept {
  if (!core::enabled(wire::Probe::Stack) || core::inNotedVforkChild())
    return nullptr;
  core::ThreadState* state = core::tState;
  if (!core::isCurrent(state))
    state = core::registerSelf();
  if (state == nullptr)
    return nullptr;
  char* place = core::reserveSample(state, bytes);
  if (place == nullptr)
    core::countLoss(
        wire::Probe::Stack, wire::RecordKind::StackSample, core::whyNoRoom(core::gSpool));
  return place;
}

void publish(std::size_t bytes) noexcept {
  core::publishSample(core::tState, bytes);
}

std::uint64_t ticks() noexcept {
  return core::readTicks();
}

void lose(std::uint32_t count) noexcept {
  core::countLoss(
      wire::Probe::Stack, wire::RecordKind::StackSample, wire::LossReason::Signal, count);
}

void defineCode(const char* lines, std::size_t length) noexcept {
  if (!core::attached())
    return;
  auto* definition = reinterpret_cast<wire::CodeDefinition*>(core::claimDefinition(
      core::gSpool, wire::DefinitionKind::Code, sizeof(wire::CodeDefinition) + length));
  if (definition == nullptr)
    return;
  definition->length = static_cast<std::uint32_t>(length);
  memcpy(definition + 1, lines, length);
  core::commitDefinition(&definition->header);
}

std::uint32_t intern(const char* text, std::size_t length) noexcept {
  return core::intern(text, length);
}

void say(const char* text) noexcept {
  sayFact("stack", "%s", text);
}

void attach() noexcept {
  core::attached();
}

constinit Hooks gHooks = {kHooksVersion,
                          {},
                          reserve,
                          publish,
                          ticks,
                          lose,
                          defineCode,
                          intern,
                          say,
                          core::inVforkChild,
                          attach};

// Called from here, because the other library may not be initialised yet.
__attribute__((constructor(104))) void begin() {
  const auto* session = core::gSpool.session;
  if (!core::isSource(wire::Probe::Stack) || session->stack.perSecond == 0)
    return;
  const auto begin = reinterpret_cast<Begin>(dlsym(RTLD_DEFAULT, "sonde_stack_begin"));
  if (begin == nullptr) {
    dlerror();  // otherwise the program's next dlerror() would report this lookup
    return;
  }
  gHooks.rule = session->stack;
  const Sampler* sampler = begin(&gHooks);
  gSampler.store(sampler, std::memory_order_relaxed);
  constexpr std::uint32_t kEvents = wire::StackRule::kAtCollective | wire::StackRule::kAtBlock |
                                    wire::StackRule::kAtAllocation | wire::StackRule::kAtCuda;
  if (sampler != nullptr)
    core::takeStacksAt(session->stack.flags & kEvents, sampler->take);
}

}  // namespace
}  // namespace stack

void childHasBegun() noexcept {
  if (const auto* sampler = stack::gSampler.load(std::memory_order_relaxed); sampler != nullptr)
    sampler->childBegins();
}

void noteCodeAtEnd() noexcept {
  if (const auto* sampler = stack::gSampler.load(std::memory_order_relaxed); sampler != nullptr)
    sampler->processEnds();
}

void stopStacks() noexcept {
  if (const auto* sampler = stack::gSampler.load(std::memory_order_relaxed); sampler != nullptr)
    sampler->stop();
}

}  // namespace sonde::preload
