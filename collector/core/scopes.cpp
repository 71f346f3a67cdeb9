// The scopes of emit.h: a thread's open scopes, and the records of their begins and ends.
#include "collector/core/calibration.h"
#include "collector/core/capture.h"
#include "collector/core/emit.h"
#include "collector/core/platform/clock.h"
#include "collector/core/record_place.h"
#include "collector/core/scope_stack.h"
#include "collector/core/scope_watch.h"
#include "collector/core/spool.h"
#include "collector/core/thread_state.h"

#include <stddef.h>
#include <string.h>

namespace sonde::core {

constinit std::atomic<const ScopeWatch*> gScopeWatch{nullptr};

namespace {

using wire::LossReason;
using wire::Probe;
using wire::RecordKind;

// The slow ends of the hot paths are out of line, so that the hot paths save no registers for them.
[[gnu::cold, gnu::noinline]] void loseScope(ThreadState* state,
                                            Probe probe,
                                            std::uint8_t group) noexcept {
  const bool deep = state->scopeCount == wire::kMaxOpenScopes;
  holdPlace(state, probe, group);
  leave(state);
  countLoss(probe, RecordKind::ScopeBegin, deep ? LossReason::Depth : whyNoRoom(gSpool));
}

std::atomic<std::uint64_t> gNextClockTicks{0};
constexpr std::uint64_t kClockPeriodTicks =
    2'000'000'000;  // a second or less on TSCs of 2 GHz and up, 2 s in ns

void keepClocksFresh(std::uint64_t now) noexcept {
  std::uint64_t due = gNextClockTicks.load(std::memory_order_relaxed);
  if (__builtin_expect(now < due, 1))
    return;
  if (gNextClockTicks.compare_exchange_strong(
          due, now + kClockPeriodTicks, std::memory_order_relaxed))
    recordClocks();
}

// The part of a self-calibrating run's ScopeEnd that follows an iteration's record.
struct ProbesBehind {
  wire::IterationProbes probes;
  wire::ProbeCalls calls[static_cast<int>(Probe::Count)];

  explicit ProbesBehind(const wire::OpenScope& iteration) noexcept {
    bool isDriving = false;
    probes.mask = probesOf(iteration, isDriving);
    probes.count = isDriving ? takeCounts(calls) : 0;
  }
  std::size_t bytes() const noexcept { return sizeof probes + probes.count * sizeof calls[0]; }
};
static_assert(offsetof(ProbesBehind, calls) == sizeof(wire::IterationProbes));

void putEnd(ThreadState* state,
            const wire::OpenScope& scope,
            std::uint64_t now,
            std::uint8_t flags,
            const ProbesBehind* behind) noexcept {
  const std::size_t more = behind != nullptr ? behind->bytes() : 0;
  auto* record = reserve<wire::ScopeEnd>(state, more);
  if (record == nullptr) {
    countLoss(scope.probe, RecordKind::ScopeEnd, whyNoRoom(gSpool));
    return;
  }
  record->header = {
      static_cast<std::uint16_t>(sizeof *record + more), RecordKind::ScopeEnd, flags, scope.token};
  record->ticks = now;
  if (behind != nullptr)
    memcpy(record + 1, behind, more);
  publish<wire::ScopeEnd>(state, more);
}

[[gnu::cold, gnu::noinline]] void endIterationAt(ThreadState* state,
                                                 std::uint32_t position,
                                                 std::uint64_t now) noexcept {
  const wire::OpenScope iteration = state->scopes[position];
  if (!wasFullSince(iteration)) {
    removeAt(state, position);
    putEnd(state, iteration, now, wire::ScopeEnd::kOutline, nullptr);
  } else if (gCalibrates) {
    const ProbesBehind behind(state->scopes[position]);
    removeAt(state, position);
    putEnd(state, iteration, now, wire::ScopeEnd::kProbes, &behind);
  } else {
    removeAt(state, position);
    putEnd(state, iteration, now, 0, nullptr);
  }
  iterationEnds();
}

void endAt(ThreadState* state, std::uint32_t position, std::uint64_t now) noexcept {
  if (__builtin_expect(state->scopes[position].kind == wire::SliceKind::Iteration, 0)) {
    endIterationAt(state, position, now);
    return;
  }
  const std::uint32_t token = state->scopes[position].token;
  const Probe probe = state->scopes[position].probe;
  if (__builtin_expect(state->silentScopes != 0, 0) && !showSilent(state, position)) {
    dropSilent(state, position);
    return;
  }
  removeAt(state, position);
  if (token == kUnrecorded)
    return;
  auto* record = reserve<wire::ScopeEnd>(state);
  if (record == nullptr) {
    countLoss(probe, RecordKind::ScopeEnd, whyNoRoom(gSpool));
    return;
  }
  record->header = {sizeof *record, RecordKind::ScopeEnd, 0, token};
  record->ticks = now;
  publish<wire::ScopeEnd>(state);
}

// Writes the begin and opens the scope. Returns the token, 0 if there is no room.
std::uint32_t beginAt(ThreadState* state,
                      wire::SliceKind kind,
                      std::uint32_t name,
                      Probe probe,
                      std::uint8_t group) noexcept {
  if (__builtin_expect(!isFull(), 0) && kind != wire::SliceKind::Iteration)
    return beginSilent(state, {0, name, 0, kind, probe, group, 0, 0});
  auto* record = reserve<wire::ScopeBegin>(state);
  if (record == nullptr)
    return 0;
  wire::OpenScope& scope = state->scopes[state->scopeCount];
  scope.name = name;
  scope.token = makeToken(state);
  scope.kind = kind;
  scope.probe = probe;
  scope.group = group;
  scope.isSilent = 0;
  record->header = {sizeof *record, RecordKind::ScopeBegin, detailOf(kind), name};
  record->token = scope.token;
  record->probe = probe;
  record->plugin = probe == Probe::Plugin ? group : std::uint8_t{0};
  // The clock is read last, so that Sonde's own work lies outside the scope.
  const std::uint64_t now = readTicks();
  record->ticks = scope.beginTicks = now;
  publish<wire::ScopeBegin>(state);
  ++state->scopeCount;
  if (kind != wire::SliceKind::Iteration)
    countRecorded(state, probe);
  return scope.token;
}

}  // namespace

// Defined here so that beginScope can inline it.
bool enabled(Probe probe) noexcept {
  const wire::ControlPage& control = *gSpool.control;
  const std::uint32_t mask = control.probeMask.load(std::memory_order_relaxed) &
                             wire::gateMask(control.capture.load(std::memory_order_relaxed) &
                                            control.recording.load(std::memory_order_relaxed));
  return (mask >> static_cast<int>(probe) & 1) != 0;
}

bool admits(Probe probe, std::uint32_t records) noexcept {
  if (enabled(probe))
    return true;
  if (__builtin_expect(gCalibrates, 0))
    countUnrecorded(probe, records);
  return false;
}

namespace {

[[gnu::always_inline]] inline std::uint32_t beginPlain(wire::SliceKind kind,
                                                       std::uint32_t name,
                                                       Probe probe,
                                                       std::uint8_t group) noexcept {
  ThreadState* state = enter(probe, RecordKind::ScopeBegin);
  if (state == nullptr)
    return 0;
  const std::uint32_t token =
      state->scopeCount < wire::kMaxOpenScopes ? beginAt(state, kind, name, probe, group) : 0;
  if (__builtin_expect(token == 0, 0)) {
    loseScope(state, probe, group);
    return 0;
  }
  const std::uint64_t now = state->scopes[state->scopeCount - 1].beginTicks;
  leave(state);
  keepClocksFresh(now);
  return token;
}

[[gnu::always_inline]] inline void endPlain(std::uint32_t token) noexcept {
  const std::uint64_t now = readTicks();
  ThreadState* state = enter(Probe::Annotation, RecordKind::ScopeEnd);
  if (state == nullptr)
    return;
  std::uint32_t position = state->scopeCount;
  while (position > 0 && state->scopes[position - 1].token != token)
    --position;
  const bool found = position > 0;
  if (found)
    endAt(state, position - 1, now);
  const bool mistake = !found && token >> 24 == (state->generation & 0xff);
  leave(state);
  if (__builtin_expect(mistake, 0))
    countLoss(Probe::Annotation, RecordKind::ScopeEnd, LossReason::Unbalanced);
}

[[gnu::always_inline]] inline bool endInnermostPlain(Probe probe, std::uint8_t group) noexcept {
  const std::uint64_t now = readTicks();
  ThreadState* state = enter(probe, RecordKind::ScopeEnd);
  if (state == nullptr)
    return false;
  bool found = state->deepScopes > 0;
  if (found) {
    --state->deepScopes;
  } else {
    std::uint32_t position = state->scopeCount;
    while (position > 0 && (state->scopes[position - 1].probe != probe ||
                            state->scopes[position - 1].group != group))
      --position;
    found = position > 0;
    if (found)
      endAt(state, position - 1, now);
  }
  leave(state);
  return found;
}

// Returns the change that ends the innermost open scope of the calling thread for which `isIt` is
// true.
template <typename IsIt>
ScopeChange endOf(IsIt isIt) noexcept {
  const ThreadState* const state = tState;
  if (!isCurrent(state))
    return {};
  for (std::uint32_t at = state->scopeCount; at > 0; --at) {
    if (isIt(state->scopes[at - 1]))
      return {state->scopes[at - 1].kind,
              state->scopes[at - 1].token,
              false,
              state->scopes[at - 1].name};
  }
  return {};
}

// The scope found no place on the stack.
void loseWatched(wire::SliceKind kind, std::uint32_t name) noexcept {
  scopeEnds(name);
  if (kind == wire::SliceKind::Iteration)
    iterationEnds();
}

// For watched scopes; out of line, so that the other scopes save no registers for it.
[[gnu::cold, gnu::noinline]] std::uint32_t beginWatched(wire::SliceKind kind,
                                                        std::uint32_t name,
                                                        Probe probe,
                                                        std::uint8_t group) noexcept {
  const ScopeWatch* const watch = gScopeWatch.load(std::memory_order_acquire);
  if (watch != nullptr)
    watch->before();
  scopeBegins(kind, name);
  const std::uint32_t token = beginPlain(kind, name, probe, group);
  if (token == 0)
    loseWatched(kind, name);
  else if (kind == wire::SliceKind::Iteration)
    stampIteration(token);
  if (watch != nullptr)
    watch->after({kind, token, token != 0});
  return token;
}

[[gnu::cold, gnu::noinline]] void endWatched(std::uint32_t token) noexcept {
  const ScopeWatch* const watch = gScopeWatch.load(std::memory_order_acquire);
  if (watch != nullptr)
    watch->before();
  const ScopeChange change =
      endOf([token](const wire::OpenScope& scope) { return scope.token == token; });
  endPlain(token);
  if (change.token != 0)
    scopeEnds(change.name);
  if (watch != nullptr)
    watch->after(change);
}

[[gnu::cold, gnu::noinline]] bool endInnermostWatched(Probe probe, std::uint8_t group) noexcept {
  const ScopeWatch* const watch = gScopeWatch.load(std::memory_order_acquire);
  if (watch != nullptr)
    watch->before();
  const ScopeChange change = endOf([probe, group](const wire::OpenScope& scope) {
    return scope.probe == probe && scope.group == group;
  });
  const bool found = endInnermostPlain(probe, group);
  if (change.token != 0)
    scopeEnds(change.name);
  if (watch != nullptr)
    watch->after(change);
  return found;
}

// Whether a watch follows the scopes, or their names decide what is recorded.
bool isWatched() noexcept {
  return __builtin_expect(gCapturesRange, 0) ||
         __builtin_expect(gScopeWatch.load(std::memory_order_relaxed) != nullptr, 0);
}

// Iterations are followed even if their probe is masked.
[[gnu::cold, gnu::noinline]] bool beginsMasked(wire::SliceKind kind, Probe probe) noexcept {
  return kind == wire::SliceKind::Iteration && isMasked(probe);
}

}  // namespace

std::uint32_t beginScope(wire::SliceKind kind,
                         std::uint32_t name,
                         Probe probe,
                         std::uint8_t group) noexcept {
  if (!enabled(probe) && !beginsMasked(kind, probe))
    return 0;
  return isWatched() || kind == wire::SliceKind::Iteration ? beginWatched(kind, name, probe, group)
                                                           : beginPlain(kind, name, probe, group);
}

void endScope(std::uint32_t token) noexcept {
  if (token == 0)
    return;
  if (isWatched())
    endWatched(token);
  else
    endPlain(token);
}

bool endInnermost(Probe probe, std::uint8_t group) noexcept {
  return isWatched() ? endInnermostWatched(probe, group) : endInnermostPlain(probe, group);
}

void skipScope(Probe probe, std::uint8_t group) noexcept {
  ThreadState* state = enter(probe, RecordKind::ScopeBegin);
  if (state == nullptr)
    return;
  holdPlace(state, probe, group);
  leave(state);
}

}  // namespace sonde::core
