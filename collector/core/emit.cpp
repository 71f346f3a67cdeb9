#include "collector/core/emit.h"

#include "collector/core/clock.h"
#include "collector/core/definitions.h"
#include "collector/core/spool.h"
#include "collector/core/syscalls.h"
#include "collector/core/thread_state.h"

#include <string.h>

namespace sonde::core {
namespace {

using wire::LossReason;
using wire::Probe;
using wire::RecordKind;

std::atomic<std::uint64_t> gNextClockTicks{0};
constexpr std::uint64_t kClockPeriodTicks =
    2'000'000'000;  // a second or less on TSCs of 2 GHz and up, 2 s in ns

// Where the thread's next record goes; nullptr when there is no room. Requires: the guard. Records
// are built in place: one built on the stack and copied would be read back before its stores have
// left the store buffer.
template <typename Record>
Record* reserve(ThreadState* state) noexcept {
  if (__builtin_expect(state->end - state->cursor < static_cast<std::ptrdiff_t>(sizeof(Record)),
                       0) &&
      !nextSlot(state))
    return nullptr;
  return reinterpret_cast<Record*>(state->cursor);
}

// An argument belongs to the last record of its thread that is of none of these.
template <typename Record>
inline constexpr bool kTakesArguments = true;
template <>
inline constexpr bool kTakesArguments<wire::Arg> = false;
template <>
inline constexpr bool kTakesArguments<wire::ClockSync> = false;

// Makes the record at the cursor visible.
template <typename Record>
void publish(ThreadState* state) noexcept {
  if constexpr (kTakesArguments<Record>)
    ++state->records;
  state->cursor += sizeof(Record);
  state->slot->committed.store(
      static_cast<std::uint32_t>(state->cursor - reinterpret_cast<char*>(state->slot)),
      std::memory_order_release);
}

// The record's number; 0 when it was not written.
template <typename Record>
std::uint64_t emit(Record& record, RecordKind kind, Probe probe) noexcept {
  record.header.size = sizeof record;
  record.header.kind = kind;
  ThreadState* state = enter(probe, kind);
  if (state == nullptr)
    return 0;
  auto* place = reserve<Record>(state);
  std::uint64_t number = 0;
  if (place != nullptr) {
    *place = record;
    publish<Record>(state);
    number = state->records;
  }
  leave(state);
  if (place == nullptr)
    countLoss(probe, kind, LossReason::SpoolFull);
  return number;
}

wire::RecordHeader header(std::uint32_t subject, std::uint8_t detail = 0) noexcept {
  return {0, RecordKind::Count, detail, subject};
}

std::uint8_t detailOf(wire::SliceKind kind) noexcept {
  return static_cast<std::uint8_t>(kind);
}

// Of NVTX, whose pops name no scope, also what is not recorded takes its place on the stack, so
// that its pop ends nothing else. Past the stack's end the places are only counted.
void holdPlace(ThreadState* state, Probe probe, std::uint8_t group) noexcept {
  if (probe != Probe::Nvtx)
    return;
  if (state->scopeCount == wire::kMaxOpenScopes)
    ++state->deepScopes;
  else
    state->scopes[state->scopeCount++] = {
        0, 0, kUnrecorded, wire::SliceKind::Range, probe, {group}};
}

// The slow ends of the hot paths are kept out of line, so that those save no registers for them.
[[gnu::cold, gnu::noinline]] void loseScope(ThreadState* state,
                                            Probe probe,
                                            std::uint8_t group) noexcept {
  const bool deep = state->scopeCount == wire::kMaxOpenScopes;
  holdPlace(state, probe, group);
  leave(state);
  countLoss(probe, RecordKind::ScopeBegin, deep ? LossReason::Depth : LossReason::SpoolFull);
}

void keepClocksFresh(std::uint64_t now) noexcept {
  std::uint64_t due = gNextClockTicks.load(std::memory_order_relaxed);
  if (__builtin_expect(now < due, 1))
    return;
  if (gNextClockTicks.compare_exchange_strong(
          due, now + kClockPeriodTicks, std::memory_order_relaxed))
    recordClocks();
}

// Tokens carry the generation in their top byte, so that a child's end of its parent's scope is
// told from a mistake.
std::uint32_t makeToken(ThreadState* state) noexcept {
  std::uint32_t count = state->nextToken++ & 0x00ff'ffff;
  if (count == 0)
    count = state->nextToken++ & 0x00ff'ffff;
  return state->generation << 24 | count;
}

void endAt(ThreadState* state, std::uint32_t position, std::uint64_t now) noexcept {
  const std::uint32_t token = state->scopes[position].token;
  const Probe probe = state->scopes[position].probe;
  --state->scopeCount;
  for (std::uint32_t at = position; at < state->scopeCount; ++at)
    state->scopes[at] = state->scopes[at + 1];
  if (token == kUnrecorded)
    return;
  auto* record = reserve<wire::ScopeEnd>(state);
  if (record == nullptr) {
    countLoss(probe, RecordKind::ScopeEnd, LossReason::SpoolFull);
    return;
  }
  record->header = {sizeof *record, RecordKind::ScopeEnd, 0, token};
  record->ticks = now;
  publish<wire::ScopeEnd>(state);
}

bool defineThreadName(const ThreadState* state, std::uint32_t name) noexcept {
  auto* definition =
      attached()
          ? reinterpret_cast<wire::ThreadNameDefinition*>(claimDefinition(
                gSpool, wire::DefinitionKind::ThreadName, sizeof(wire::ThreadNameDefinition)))
          : nullptr;
  if (definition == nullptr)
    return false;
  definition->thread = state->thread;
  definition->name = name;
  commitDefinition(&definition->header);
  return true;
}

// Writes the begin and opens the scope; the token, 0 when there is no room.
std::uint32_t beginAt(ThreadState* state,
                      wire::SliceKind kind,
                      std::uint32_t name,
                      Probe probe,
                      std::uint8_t group) noexcept {
  auto* record = reserve<wire::ScopeBegin>(state);
  if (record == nullptr)
    return 0;
  wire::OpenScope& scope = state->scopes[state->scopeCount];
  scope.name = name;
  scope.token = makeToken(state);
  scope.kind = kind;
  scope.probe = probe;
  scope.reserved[0] = group;
  record->header = {sizeof *record, RecordKind::ScopeBegin, detailOf(kind), name};
  record->token = scope.token;
  record->probe = probe;
  // The clock is read last, so that Sonde's own work lies outside the scope.
  const std::uint64_t now = readTicks();
  record->ticks = scope.beginTicks = now;
  publish<wire::ScopeBegin>(state);
  ++state->scopeCount;
  return scope.token;
}

}  // namespace

bool enabled(Probe probe) noexcept {
  const wire::ControlPage& control = *gSpool.control;
  return control.recording.load(std::memory_order_relaxed) != 0 &&
         (control.probeMask.load(std::memory_order_relaxed) >> static_cast<int>(probe) & 1) != 0;
}

std::uint64_t ticks() noexcept {
  return readTicks();
}

std::uint32_t beginScope(wire::SliceKind kind,
                         std::uint32_t name,
                         Probe probe,
                         std::uint8_t group) noexcept {
  if (!enabled(probe))
    return 0;
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

void endScope(std::uint32_t token) noexcept {
  if (token == 0)
    return;
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

bool endInnermost(Probe probe, std::uint8_t group) noexcept {
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
                            state->scopes[position - 1].reserved[0] != group))
      --position;
    found = position > 0;
    if (found)
      endAt(state, position - 1, now);
  }
  leave(state);
  return found;
}

void skipScope(Probe probe, std::uint8_t group) noexcept {
  ThreadState* state = enter(probe, RecordKind::ScopeBegin);
  if (state == nullptr)
    return;
  holdPlace(state, probe, group);
  leave(state);
}

std::uint32_t openScopes(Probe probe, std::uint8_t group) noexcept {
  const ThreadState* state = tState;
  if (state == nullptr ||
      state->generation != gForkPage->generation.load(std::memory_order_relaxed))
    return 0;
  std::uint32_t count = 0;
  for (std::uint32_t at = 0; at < state->scopeCount; ++at)
    count += state->scopes[at].probe == probe && state->scopes[at].reserved[0] == group ? 1 : 0;
  return count;
}

bool emitCall(wire::SliceKind kind,
              std::uint32_t name,
              Probe probe,
              std::uint64_t beginTicks,
              std::uint64_t endTicks) noexcept {
  wire::Call record{header(name, detailOf(kind)), beginTicks, endTicks, probe, {}};
  return emit(record, RecordKind::Call, probe) != 0;
}

std::uint64_t emitRangeBegin(wire::SliceKind kind,
                             std::uint32_t name,
                             Probe probe,
                             std::uint64_t rangeId) noexcept {
  wire::RangeBegin record{header(name, detailOf(kind)), readTicks(), rangeId, probe, {}};
  return emit(record, RecordKind::RangeBegin, probe);
}

bool emitRangeEnd(std::uint64_t rangeId) noexcept {
  wire::RangeEnd record{header(0), readTicks(), rangeId};
  return emit(record, RecordKind::RangeEnd, Probe::Nvtx) != 0;
}

std::uint64_t emitMark(std::uint32_t name, Probe probe) noexcept {
  wire::Mark record{header(name), readTicks(), probe, {}};
  return emit(record, RecordKind::Mark, probe);
}

bool emitScalar(std::uint32_t name, double value, std::uint64_t when) noexcept {
  wire::Scalar record{header(name), when != 0 ? when : readTicks(), value};
  return emit(record, RecordKind::Scalar, Probe::Annotation) != 0;
}

bool emitIterationInfo(std::uint64_t samples, std::uint64_t tokens, double flops) noexcept {
  wire::IterationInfo record{header(0), readTicks(), samples, tokens, flops};
  return emit(record, RecordKind::IterationInfo, Probe::Annotation) != 0;
}

namespace {

// A signal handler may have recorded since the argument's record was written. It cannot between
// enter() and leave().
void emitArg(ArgOwner owner, std::uint32_t key, std::uint8_t type, std::uint64_t bits) noexcept {
  ThreadState* state = enter(Probe::Annotation, RecordKind::Arg);
  if (state == nullptr)
    return;
  const bool stale = owner.token == 0 && state->records != owner.record;
  auto* place = stale ? nullptr : reserve<wire::Arg>(state);
  if (place != nullptr) {
    *place = {header(key, type), bits, owner.token, 0};
    place->header.size = sizeof *place;
    place->header.kind = RecordKind::Arg;
    publish<wire::Arg>(state);
  }
  leave(state);
  if (place == nullptr)
    countLoss(
        Probe::Annotation, RecordKind::Arg, stale ? LossReason::Signal : LossReason::SpoolFull);
}

}  // namespace

void emitArgText(ArgOwner owner, std::uint32_t key, std::uint32_t text) noexcept {
  emitArg(owner, key, static_cast<std::uint8_t>(wire::ArgType::Text), text);
}

void emitArgInt(ArgOwner owner, std::uint32_t key, std::int64_t value) noexcept {
  emitArg(
      owner, key, static_cast<std::uint8_t>(wire::ArgType::Int), static_cast<std::uint64_t>(value));
}

void emitArgDouble(ArgOwner owner, std::uint32_t key, double value) noexcept {
  std::uint64_t bits = 0;
  memcpy(&bits, &value, sizeof bits);
  emitArg(owner, key, static_cast<std::uint8_t>(wire::ArgType::Double), bits);
}

void emitProcessText(std::uint32_t key, std::uint32_t text) noexcept {
  constexpr auto kDetail = static_cast<std::uint8_t>(wire::ArgType::Text) | wire::Arg::kOfProcess;
  wire::Arg record{header(key, kDetail), text, 0, 0};
  emit(record, RecordKind::Arg, Probe::Annotation);
}

bool emitCollective(wire::Collective record) noexcept {
  return emit(record, RecordKind::Collective, record.probe) != 0;
}

bool emitTransfer(wire::Transfer record, Probe probe) noexcept {
  return emit(record, RecordKind::Transfer, probe) != 0;
}

[[gnu::cold, gnu::noinline]] void recordClocks() noexcept {
  const ClockReading now = readClocks();
  wire::ClockSync record{header(0), now.ticks, now.monotonicNs, now.realtimeNs};
  emit(record, RecordKind::ClockSync, Probe::Process);
}

void emitFork(std::int32_t childPid) noexcept {
  wire::Fork record{header(static_cast<std::uint32_t>(childPid)), readTicks()};
  emit(record, RecordKind::Fork, Probe::Process);
}

void emitExec(std::uint32_t path, std::uint32_t reason) noexcept {
  wire::Exec record{header(path, reason != 0 ? 1 : 0), readTicks(), reason, 0};
  emit(record, RecordKind::Exec, Probe::Process);
}

void nameThread(std::uint32_t name) noexcept {
  if (tState != nullptr)
    defineThreadName(tState, name);
}

bool nameThread(std::int32_t tid, std::uint32_t name) noexcept {
  // A thread that names itself first thing is not registered yet.
  if (tid == static_cast<std::int32_t>(rawSyscall(SYS_gettid)))
    registerSelf();
  ThreadState* state = findThread(tid);
  if (state == nullptr || !defineThreadName(state, name))
    return false;
  state->givenName.store(name, std::memory_order_relaxed);
  return true;
}

[[gnu::cold, gnu::noinline]] void countLoss(Probe probe,
                                            RecordKind kind,
                                            LossReason reason,
                                            std::uint32_t count) noexcept {
  const bool attachedNow = gForkPage->generation.load(std::memory_order_relaxed) != 0;
  wire::LossCounters& loss = attachedNow ? *gSpool.loss : gForkPage->missed;
  loss.count[static_cast<int>(probe)][static_cast<int>(kind)][static_cast<int>(reason)].fetch_add(
      count, std::memory_order_relaxed);
}

}  // namespace sonde::core
