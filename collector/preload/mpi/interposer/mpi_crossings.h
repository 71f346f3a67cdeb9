// Detects calls of several threads (MPI_THREAD_MULTIPLE) that are in MPI at the same time. MPI
// decides the order of their messages, and the numbers given to them afterwards may be in the
// opposite order. Such a number is not exact. Any thread; no function locks or allocates. Does
// nothing while only one thread may be in MPI.
//
//   const Crossing crossing = enterSend(to);
//   result = MPI's call; the message takes its number
//   if (leave(crossing)) it is inexact
#pragma once

#include "collector/preload/mpi/interposer/mpi_library.h"

#include <cstdint>

namespace sonde::preload::mpi {

// The communicator, peer and tag of a message.
struct Envelope {
  Word communicator;
  Word peer;
  Word tag;
};

// The gates that one call has entered. Calls whose messages may be exchanged share a gate.
struct Crossing {
  static constexpr int kGates = 3;
  std::uint16_t entered[kGates];
  std::uint16_t watched[kGates];
  std::uint32_t came[kGates];  // arrivals at each watched gate, when this call had entered
  std::uint8_t entries;
  std::uint8_t watches;
  bool crossed;
};

// When a receive from any source gets its number: now, from the status of the call that is about to
// be made, whose thread and time the message has; or later, from another call's status.
enum class Settled : std::uint8_t { Now, Later };

Crossing crossSend(const Envelope& to) noexcept;
Crossing crossReceive(const Envelope& from, Settled settled) noexcept;
// Whether other calls were inside meanwhile.
bool uncross(const Crossing& crossing) noexcept;

inline Crossing enterSend(const Envelope& to) noexcept {
  return __builtin_expect(gSession.manyThreads, 0) ? crossSend(to) : Crossing{};
}
inline Crossing enterReceive(const Envelope& from, Settled settled) noexcept {
  return __builtin_expect(gSession.manyThreads, 0) ? crossReceive(from, settled) : Crossing{};
}
// Call it after the message has taken its number, or will not take one.
inline bool leave(const Crossing& crossing) noexcept {
  return __builtin_expect(crossing.entries != 0, 0) && uncross(crossing);
}

}  // namespace sonde::preload::mpi
