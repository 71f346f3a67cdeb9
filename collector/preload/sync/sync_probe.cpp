// The table of sync/sync_hooks.h, which this library provides to libsonde_sync.so. That library
// intercepts the functions that threads wait in.

#include "collector/preload/sync/sync_probe.h"

#include "collector/core/emit.h"
#include "collector/core/open_calls.h"
#include "collector/core/platform/clock.h"
#include "collector/core/platform/hooks.h"
#include "collector/core/thread_state.h"
#include "collector/core/vfork.h"
#include "collector/preload/sync/sync_hooks.h"

namespace sonde::preload::sync {
namespace {

using core::ThreadState;

bool records() noexcept {
  return core::enabled(wire::Probe::Sync) && !core::inNotedVforkChild();
}

bool admits() noexcept {
  return core::admits(wire::Probe::Sync) && !core::inNotedVforkChild();
}

std::uint64_t ticks() noexcept {
  return core::readTicks();
}

std::int32_t thread() noexcept {
  const ThreadState* state = core::tState;
  if (!core::isCurrent(state))
    state = core::registerSelf();
  return state == nullptr ? 0 : state->tid.load(std::memory_order_relaxed);
}

void waited(const char* call, const wire::Handoff& record) noexcept {
  wire::Handoff named = record;
  named.header.subject = core::intern(call);
  core::emitHandoff(named);
}

void paused(const char* call, std::uint64_t begin) noexcept {
  notePause(call, begin, core::readTicks());
}

OpenWait waits(const char* call, const wire::Handoff& record, const void* frame) noexcept {
  const std::uint32_t name = core::intern(call);
  if (record.object != 0) {
    wire::Handoff named = record;
    named.header.subject = name;
    return core::openCall(named, wire::RecordKind::Handoff, frame).depth;
  }
  wire::Call pause{};
  pause.header.subject = name;
  pause.header.detail = static_cast<std::uint8_t>(wire::SliceKind::Wait);
  pause.beginTicks = record.beginTicks;
  pause.probe = wire::Probe::Sync;
  return core::openCall(pause, wire::RecordKind::Call, frame).depth;
}

void goesOn(OpenWait wait) noexcept {
  core::closeCall({wait});
}

static_assert(kNotShown == core::OpenCall::kNotShown);
constexpr Hooks kHooks = {
    kHooksVersion, records, admits, ticks, thread, waited, paused, waits, goesOn};

}  // namespace
}  // namespace sonde::preload::sync

namespace sonde::preload {

void notePause(const char* call, std::uint64_t beginTicks, std::uint64_t endTicks) noexcept {
  constexpr std::uint64_t kShortest = 4000;  // 1 to 4 us
  if (endTicks - beginTicks < kShortest || !sync::records())
    return;
  core::emitCall(
      wire::SliceKind::Wait, core::intern(call), wire::Probe::Sync, beginTicks, endTicks);
}

}  // namespace sonde::preload

SONDE_EXPORT const sonde::preload::sync::Hooks* sonde_sync_hooks(
    std::uint32_t version, sonde::preload::sync::ThreadEnds threadEnds) {
  using namespace sonde::preload::sync;
  if (version != kHooksVersion)
    return nullptr;
  sonde::core::gThreadEnds.store(threadEnds, std::memory_order_relaxed);
  return &kHooks;
}
