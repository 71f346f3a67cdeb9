// Calls of several threads (MPI_THREAD_MULTIPLE) that are in MPI at the same time. Which of their
// messages comes first is settled inside, and the numbers that they are given afterwards may be
// the other way round: such a number is not exact. Any thread; nothing locks or allocates. Where
// one thread is in MPI at a time nothing is done.
//
//   const Crossing crossing = enterSend(to);
//   result = MPI's call; the message takes its number
//   if (leave(crossing)) it is inexact
#pragma once

#include "collector/preload/mpi/interposer/mpi_library.h"

#include <cstdint>

namespace sonde::preload::mpi {

// What goes to, or is to come from, a peer.
struct Envelope {
  Word communicator;
  Word peer;
  Word tag;
};

// One call's way through gates, each of which calls share that may take one another's place.
struct Crossing {
  static constexpr int kGates = 3;
  std::uint16_t entered[kGates];
  std::uint16_t watched[kGates];
  std::uint32_t came[kGates];  // how many had come to a gate that is watched when this call had
  std::uint8_t entries;
  std::uint8_t watches;
  bool crossed;
};

// How a receive from anybody is numbered: by the status of the call that is about to be made, whose
// thread and time the message has, or of another one, later.
enum class Settled : std::uint8_t { Now, Later };

Crossing crossSend(const Envelope& to) noexcept;
Crossing crossReceive(const Envelope& from, Settled settled) noexcept;
// Whether others were there meanwhile.
bool uncross(const Crossing& crossing) noexcept;

inline Crossing enterSend(const Envelope& to) noexcept {
  return __builtin_expect(gSession.manyThreads, 0) ? crossSend(to) : Crossing{};
}
inline Crossing enterReceive(const Envelope& from, Settled settled) noexcept {
  return __builtin_expect(gSession.manyThreads, 0) ? crossReceive(from, settled) : Crossing{};
}
// To be called after the message has taken its number, or will not.
inline bool leave(const Crossing& crossing) noexcept {
  return __builtin_expect(crossing.entries != 0, 0) && uncross(crossing);
}

}  // namespace sonde::preload::mpi
