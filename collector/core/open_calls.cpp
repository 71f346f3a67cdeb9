#include "collector/core/open_calls.h"

#include "collector/core/spool.h"
#include "collector/core/thread_state.h"
#include "collector/core/vfork.h"

#include <string.h>

namespace sonde::core {
namespace {

using wire::OpenCalls;

constexpr auto kRelaxed = std::memory_order_relaxed;

std::uint32_t depthOf(const OpenCalls& calls) noexcept {
  const std::uint64_t depth = calls.state.load(kRelaxed) & OpenCalls::kDepthMask;
  return depth < OpenCalls::kMost ? static_cast<std::uint32_t>(depth) : OpenCalls::kMost;
}

// A reader that sees any of the stores that follow sees the version odd.
std::uint64_t beginChange(OpenCalls& calls) noexcept {
  const std::uint64_t before = calls.state.load(kRelaxed);
  const std::uint64_t version = (before & ~OpenCalls::kDepthMask) | OpenCalls::kVersion;
  calls.state.store(version | (before & OpenCalls::kDepthMask), kRelaxed);
  std::atomic_thread_fence(std::memory_order_release);
  return version + OpenCalls::kVersion;
}

void endChange(OpenCalls& calls, std::uint64_t version, std::uint32_t depth) noexcept {
  calls.state.store(version | depth, std::memory_order_release);
}

// The depth without calls that were left. On an alternate signal stack above the thread's own
// stack, calls may wrongly count as left; they are then missing.
std::uint32_t depthOfLiving(const ThreadState* state,
                            const OpenCalls& calls,
                            const void* frame) noexcept {
  std::uint32_t depth = depthOf(calls);
  while (depth > 0 && state->openFrames[depth - 1] <= frame)
    --depth;
  return depth;
}

// Takes the calling thread's guard; does not count a loss if it is already taken.
ThreadState* enterQuietly(const char* frame) noexcept {
  ThreadState* state = tState;
  if (!isCurrent(state))
    state = registerSelf();
  if (state == nullptr || state->busy.load(kRelaxed) != 0)
    return nullptr;
  takeGuard(state, frame);
  return state;
}

}  // namespace

OpenCall openRecord(const void* record,
                    std::uint32_t bytes,
                    wire::RecordKind kind,
                    const void* frame) noexcept {
  const char here = 0;
  if (inNotedVforkChild())
    return {};
  ThreadState* state = enterQuietly(&here);
  if (state == nullptr)
    return {};
  OpenCall open;
  if (state->slot != nullptr || nextSlot(state)) {
    OpenCalls& calls = state->slot->calls;
    const std::uint32_t depth = depthOfLiving(state, calls, frame);
    if (depth < OpenCalls::kMost) {
      const std::uint64_t version = beginChange(calls);
      memcpy(calls.records[depth], record, bytes);
      auto* header = reinterpret_cast<wire::RecordHeader*>(calls.records[depth]);
      header->size = static_cast<std::uint16_t>(bytes);
      header->kind = kind;
      state->openFrames[depth] = frame;
      endChange(calls, version, depth + 1);
      open.depth = depth;
    }
  }
  leave(state);
  return open;
}

void closeCall(OpenCall call) noexcept {
  if (call.depth == OpenCall::kNotShown)
    return;
  const char here = 0;
  ThreadState* state = tState;
  if (!isCurrent(state) || state->busy.load(kRelaxed) != 0)
    return;  // a forked child has no open calls; a later call closes those that a handler leaves
  takeGuard(state, &here);
  if (state->slot != nullptr && depthOf(state->slot->calls) > call.depth)
    endChange(state->slot->calls, beginChange(state->slot->calls), call.depth);
  leave(state);
}

void copyOpenCalls(const OpenCalls& from, OpenCallCopy& to) noexcept {
  to.depth = depthOf(from);
  memcpy(to.records, from.records, to.depth * OpenCalls::kRecordBytes);
}

void setOpenCalls(OpenCalls& to, const OpenCallCopy& from) noexcept {
  const std::uint64_t version = beginChange(to);
  memcpy(to.records, from.records, from.depth * OpenCalls::kRecordBytes);
  endChange(to, version, from.depth);
}

}  // namespace sonde::core
