#include "collector/preload/mpi/interposer/mpi_crossings.h"

#include "collector/preload/mpi/interposer/mpi_hash.h"

#include <atomic>

namespace sonde::preload::mpi {
namespace {

// Which receives may take each other's messages: those with the same peer and tag. A receive from
// any source may take the messages of all peers. So there is one gate per peer and tag, one that
// all receives of a tag pass, and one for receives from any source. The latter two also exist for
// all tags together.
enum class Gate : std::uint8_t { Sends, Receives, AllReceives, FromAnybody };

// Indexed by a hash: calls that share a gate by chance count as crossing. The low half counts calls
// inside, the high half all calls so far.
constexpr std::uint32_t kOfOneKind = 2048;
constexpr std::uint32_t kKinds = 4;
constexpr std::uint64_t kOne = (std::uint64_t{1} << 32) + 1;
constinit std::atomic<std::uint64_t> gGates[kKinds * kOfOneKind] = {};

std::uint16_t gateOf(Gate gate, const Envelope& envelope, int peer, int tag) noexcept {
  const std::uint32_t communicator = spread(gSession.abi->handle(envelope.communicator));
  const std::uint64_t place =
      std::uint64_t{static_cast<std::uint32_t>(peer)} << 32 | static_cast<std::uint32_t>(tag);
  return static_cast<std::uint16_t>(static_cast<unsigned>(gate) * kOfOneKind +
                                    (spread(place) ^ communicator) % kOfOneKind);
}

void enter(Crossing& crossing, std::uint16_t gate) noexcept {
  crossing.entered[crossing.entries++] = gate;
  gGates[gate].fetch_add(kOne);
}

std::uint32_t timesInside(const Crossing& crossing, std::uint16_t gate) noexcept {
  std::uint32_t times = 0;
  for (int at = 0; at < crossing.entries; ++at)
    times += crossing.entered[at] == gate ? 1 : 0;
  return times;
}

// Call it after the call has entered all of its gates.
void watch(Crossing& crossing, std::uint16_t gate) noexcept {
  const std::uint64_t state = gGates[gate].load();
  const auto inside = static_cast<std::uint32_t>(state);
  crossing.crossed |= inside > timesInside(crossing, gate);
  crossing.watched[crossing.watches] = gate;
  crossing.came[crossing.watches++] = static_cast<std::uint32_t>(state >> 32);
}

}  // namespace

Crossing crossSend(const Envelope& to) noexcept {
  Crossing crossing{};
  const std::uint16_t gate = gateOf(Gate::Sends, to, intOf(to.peer), intOf(to.tag));
  enter(crossing, gate);
  watch(crossing, gate);
  return crossing;
}

Crossing crossReceive(const Envelope& from, Settled settled) noexcept {
  const int tag = intOf(from.tag);
  const bool fromAnybody = intOf(from.peer) == gSession.abi->anySource || tag == kAnyTag;
  const std::uint16_t allOfTag = gateOf(Gate::AllReceives, from, 0, tag);
  const std::uint16_t all = gateOf(Gate::AllReceives, from, 0, kAnyTag);
  const std::uint16_t anybodyOfTag = gateOf(Gate::FromAnybody, from, 0, tag);
  const std::uint16_t anybody = gateOf(Gate::FromAnybody, from, 0, kAnyTag);
  const std::uint16_t own = gateOf(Gate::Receives, from, intOf(from.peer), tag);
  Crossing crossing{};
  enter(crossing, fromAnybody ? anybodyOfTag : own);
  enter(crossing, all);
  if (tag != kAnyTag)
    enter(crossing, allOfTag);
  if (!fromAnybody) {
    watch(crossing, own);
    watch(crossing, anybodyOfTag);
    watch(crossing, anybody);
  } else if (settled == Settled::Later) {
    watch(crossing, allOfTag);
    if (tag != kAnyTag)
      watch(crossing, anybody);
  }
  return crossing;
}

bool uncross(const Crossing& crossing) noexcept {
  bool crossed = crossing.crossed;
  for (int at = 0; at < crossing.watches; ++at)
    crossed |=
        static_cast<std::uint32_t>(gGates[crossing.watched[at]].load() >> 32) != crossing.came[at];
  for (int at = 0; at < crossing.entries; ++at)
    gGates[crossing.entered[at]].fetch_sub(1);
  return crossed;
}

}  // namespace sonde::preload::mpi
