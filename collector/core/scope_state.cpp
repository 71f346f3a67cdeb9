// emit.h's queries about the calling thread's open scopes.
#include "collector/core/emit.h"
#include "collector/core/thread_state.h"

namespace sonde::core {

using wire::Probe;

OpenScopeState scopeState(std::uint32_t token, Probe probe, std::uint8_t group) noexcept {
  const ThreadState* state = tState;
  const std::uint32_t open = isCurrent(state) ? state->scopeCount : 0;
  for (std::uint32_t at = open; at > 0; --at) {
    const wire::OpenScope& scope = state->scopes[at - 1];
    if (scope.token == token)
      return scope.probe == probe && scope.group == group ? OpenScopeState::Own
                                                          : OpenScopeState::Foreign;
  }
  return token >> 24 == (imageGeneration() & 0xff) ? OpenScopeState::NotOpen
                                                   : OpenScopeState::Inherited;
}

std::uint32_t openScopes(Probe probe, std::uint8_t group) noexcept {
  const ThreadState* state = tState;
  if (!isCurrent(state))
    return 0;
  std::uint32_t count = 0;
  for (std::uint32_t at = 0; at < state->scopeCount; ++at)
    count += state->scopes[at].probe == probe && state->scopes[at].group == group ? 1 : 0;
  return count;
}

}  // namespace sonde::core
