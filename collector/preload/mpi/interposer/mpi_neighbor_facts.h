// The arguments of the neighbourhood collectives, as facts. Any thread. Requires: isActive().
//
// No size is the same on every rank here: `bytes` is the larger of the bytes that this rank
// receives and sends.
#pragma once

#include "collector/preload/mpi/interposer/mpi_collectives.h"

namespace sonde::preload::mpi {

inline CollectiveFacts factsOfNeighbors(const Neighbors& around,
                                        std::uint64_t out,
                                        std::uint64_t in,
                                        Word outType,
                                        Word inType) noexcept {
  const Word other = around.out > 0 ? outType : 0;
  return {{out, in, out > in ? out : in}, -1, around.in > 0 ? inType : other};
}

// The bytes of `count` elements. If it is 0, the type may be invalid.
inline std::uint64_t bytesOfAll(std::uint64_t count, Word type) noexcept {
  return bytesOf(Elements{count, type});
}

template <typename Count>
CollectiveFacts factsOfNeighborAllgather(
    const Place& at, Word, Word own, Word ownType, Word part, Word partType) noexcept {
  const Neighbors& around = *at.around;
  const std::uint64_t out = around.toPresent() == 0 ? 0 : bytesOf<Count>(own, ownType);
  const std::uint64_t in =
      around.fromPresent() == 0 ? 0 : bytesOf<Count>(part, partType) * around.fromPresent();
  return factsOfNeighbors(around, out, in, ownType, partType);
}

template <typename Count>
CollectiveFacts factsOfNeighborAllgatherv(
    const Place& at, Word, Word own, Word ownType, Word parts, Word partType) noexcept {
  const Neighbors& around = *at.around;
  const std::uint64_t out = around.toPresent() == 0 ? 0 : bytesOf<Count>(own, ownType);
  const std::uint64_t in = bytesOfAll(sumOf<Count>(parts, around.in, around.absent), partType);
  return factsOfNeighbors(around, out, in, ownType, partType);
}

template <typename Count>
CollectiveFacts factsOfNeighborAlltoall(
    const Place& at, Word, Word own, Word ownType, Word part, Word partType) noexcept {
  const Neighbors& around = *at.around;
  const std::uint64_t out =
      around.toPresent() == 0 ? 0 : bytesOf<Count>(own, ownType) * around.toPresent();
  const std::uint64_t in =
      around.fromPresent() == 0 ? 0 : bytesOf<Count>(part, partType) * around.fromPresent();
  return factsOfNeighbors(around, out, in, ownType, partType);
}

template <typename Count>
CollectiveFacts factsOfNeighborAlltoallv(
    const Place& at, Word, Word owns, Word ownType, Word parts, Word partType) noexcept {
  const Neighbors& around = *at.around;
  return factsOfNeighbors(around,
                          bytesOfAll(sumOf<Count>(owns, around.out, around.absent), ownType),
                          bytesOfAll(sumOf<Count>(parts, around.in, around.absent), partType),
                          ownType,
                          partType);
}

template <typename Count>
CollectiveFacts factsOfNeighborAlltoallw(
    const Place& at, Word, Word owns, Word ownTypes, Word parts, Word partTypes) noexcept {
  const Neighbors& around = *at.around;
  return factsOfNeighbors(around,
                          sumOfTyped<Count>(owns, ownTypes, around.out, around.absent),
                          sumOfTyped<Count>(parts, partTypes, around.in, around.absent),
                          0,
                          0);
}

}  // namespace sonde::preload::mpi
