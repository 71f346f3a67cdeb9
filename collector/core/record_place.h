// Writes a record in place, at the end of its thread's slot. Everything here requires the thread's
// guard: call it between enter() and leave().
#pragma once

#include "collector/core/calibration.h"
#include "collector/core/capture.h"
#include "collector/core/emit.h"
#include "collector/core/spool.h"
#include "collector/core/thread_state.h"

#include <cstddef>
#include <cstdint>

namespace sonde::core {

// The place of the thread's next record; nullptr if there is no room. Requires: the guard. Records
// are built in place: a record built on the stack and copied would be read back before its stores
// have left the store buffer. `more`: bytes after the record that belong to it.
template <typename Record>
Record* reserve(ThreadState* state, std::size_t more = 0) noexcept {
  if (__builtin_expect(state->silentScopes != 0, 0) && isFull() && !nextSlot(state))
    return nullptr;
  if (__builtin_expect(
          state->end - state->cursor < static_cast<std::ptrdiff_t>(sizeof(Record) + more), 0) &&
      (!nextSlot(state) ||
       state->end - state->cursor < static_cast<std::ptrdiff_t>(sizeof(Record) + more)))
    return nullptr;
  return reinterpret_cast<Record*>(state->cursor);
}

// Arguments belong to the last record of the thread whose type takes arguments.
template <typename Record>
inline constexpr bool kTakesArguments = true;
template <>
inline constexpr bool kTakesArguments<wire::Arg> = false;
template <>
inline constexpr bool kTakesArguments<wire::ClockSync> = false;
template <>
inline constexpr bool kTakesArguments<wire::Allocation> = false;
template <>
inline constexpr bool kTakesArguments<wire::Release> = false;

// Makes the record at the cursor visible.
template <typename Record>
void publish(ThreadState* state, std::size_t more = 0) noexcept {
  if constexpr (kTakesArguments<Record>)
    ++state->records;
  state->cursor += sizeof(Record) + more;
  state->slot->committed.store(
      static_cast<std::uint32_t>(state->cursor - reinterpret_cast<char*>(state->slot)),
      std::memory_order_release);
}

// Writes a whole record of the calling thread. Returns its number, or 0 if it was not written, and
// counts that. Requires: the guard is not held; the function takes it.
template <typename Record>
std::uint64_t emit(const Record& record, wire::RecordKind kind, wire::Probe probe) noexcept {
  ThreadState* state = enter(probe, kind);
  if (state == nullptr)
    return 0;
  auto* place = reserve<Record>(state);
  std::uint64_t number = 0;
  if (place != nullptr) {
    *place = record;
    place->header.size = sizeof record;
    place->header.kind = kind;
    publish<Record>(state);
    number = state->records;
    countRecorded(state, probe);
  }
  leave(state);
  if (place == nullptr)
    countLoss(probe, kind, whyNoRoom(gSpool));
  return number;
}

inline std::uint8_t detailOf(wire::SliceKind kind) noexcept {
  return static_cast<std::uint8_t>(kind);
}

}  // namespace sonde::core
