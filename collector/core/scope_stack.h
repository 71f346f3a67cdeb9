// Pushes and pops a thread's open scopes. For collector/core/scopes.cpp, whose hot paths inline
// these functions. The thread that calls holds the guard of its state.
#pragma once

#include "collector/core/capture.h"
#include "collector/core/platform/clock.h"
#include "collector/core/record_place.h"
#include "collector/core/thread_state.h"

#include <cstdint>

namespace sonde::core {

// NVTX pops name no scope. So an NVTX scope that is not recorded still takes a place on the stack;
// otherwise its pop would end another scope. Past the stack's end the places are only counted.
inline void holdPlace(ThreadState* state, wire::Probe probe, std::uint8_t group) noexcept {
  if (probe != wire::Probe::Nvtx)
    return;
  if (state->scopeCount == wire::kMaxOpenScopes)
    ++state->deepScopes;
  else
    state->scopes[state->scopeCount++] = {
        0, 0, kUnrecorded, wire::SliceKind::Range, probe, group, 0, 0};
}

// Tokens carry the generation in their top byte. A child that ends a scope of its parent is thus
// distinguished from a mistake.
inline std::uint32_t makeToken(ThreadState* state) noexcept {
  std::uint32_t count = state->nextToken++ & 0x00ff'ffff;
  if (count == 0)
    count = state->nextToken++ & 0x00ff'ffff;
  return state->generation << 24 | count;
}

inline void removeAt(ThreadState* state, std::uint32_t position) noexcept {
  --state->scopeCount;
  for (std::uint32_t at = position; at < state->scopeCount; ++at)
    state->scopes[at] = state->scopes[at + 1];
}

// Whether the file has the scope. If the gates are open, or were open since the scope began, a
// silent scope gets into the file here.
[[gnu::cold, gnu::noinline]] inline bool showSilent(ThreadState* state,
                                                    std::uint32_t position) noexcept {
  if (state->scopes[position].isSilent == 0)
    return true;
  return wasEverFullSince(state->scopes[position]) && nextSlot(state);
}

[[gnu::cold, gnu::noinline]] inline void dropSilent(ThreadState* state,
                                                    std::uint32_t position) noexcept {
  --state->silentScopes;
  removeAt(state, position);
}

// Opens a silent scope: the file does not have it.
[[gnu::cold, gnu::noinline]] inline std::uint32_t beginSilent(
    ThreadState* state, const wire::OpenScope& scope) noexcept {
  wire::OpenScope& opened = state->scopes[state->scopeCount++];
  opened = scope;
  opened.isSilent = 1;
  stampSilent(opened);
  opened.token = makeToken(state);
  opened.beginTicks = readTicks();
  ++state->silentScopes;
  return opened.token;
}

}  // namespace sonde::core
