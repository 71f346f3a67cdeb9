// The arguments of MPI's collectives, as facts of a record. Each family of functions has one
// function that takes the parameters as MPI has them, and returns what they mean for the calling
// rank. Any thread. Requires: isActive().
#pragma once

#include "collector/preload/mpi/interposer/mpi_messages.h"

namespace sonde::preload::mpi {

inline constexpr std::uint64_t kUnknownBytes = wire::Collective::kUnknownBytes;

// The bytes that a rank sends and receives, and nccl-tests' size, the same on every rank.
struct Amounts {
  std::uint64_t send = 0;
  std::uint64_t receive = 0;
  std::uint64_t bytes = 0;
};

struct CollectiveFacts {
  Amounts amounts = {};
  int root = -1;
  Word type = 0;  // 0: none
};

// The caller's place among the members.
struct Place {
  int rank;
  int size;   // of its own group
  int peers;  // ranks it exchanges data with; includes itself unless there are two groups
  bool inter;
  const Neighbors* around;  // in the topology

  // Whether the caller is in the root's group but takes no part; its other arguments are then
  // undefined. Only with two groups.
  bool isOut(int root) const noexcept { return inter && root == gSession.abi->noProcess; }
  bool isRoot(int root) const noexcept { return inter ? root == gSession.abi->root : root == rank; }
};

inline Place placeIn(const Communicator& communicator) noexcept {
  return {communicator.rank,
          communicator.size,
          communicator.peers,
          communicator.inter,
          &communicator.neighbors};
}

inline bool isInPlace(Word buffer) noexcept {
  return buffer == gSession.abi->inPlace;
}

template <typename Count>
std::uint64_t sumOf(Word counts, int size, std::uint64_t absent = 0) noexcept {
  const auto* const values = reinterpret_cast<const Count*>(counts);
  std::uint64_t sum = 0;
  for (int at = 0; values != nullptr && at < size; ++at)
    sum += isAbsent(absent, at) ? 0 : static_cast<std::uint64_t>(values[at]);
  return sum;
}

template <typename Count>
std::uint64_t bytesOf(Word count, Word type) noexcept {
  return bytesOf(elements<Count>(count, type));
}

inline std::uint64_t bytesOfOne(Word type) noexcept {
  return datatypeOf(type).bytes;
}

// MPI_Barrier has no data.
inline CollectiveFacts factsOfBarrier() noexcept {
  return {};
}

template <typename Count>
CollectiveFacts factsOfBcast(const Place& at, Word count, Word type, Word root) noexcept {
  if (at.isOut(intOf(root)))
    return {};
  const std::uint64_t bytes = bytesOf<Count>(count, type);
  const bool isRoot = at.isRoot(intOf(root));
  return {{isRoot ? bytes : 0, isRoot ? 0 : bytes, bytes}, intOf(root), type};
}

// MPI_Reduce; with root -1 MPI_Allreduce and the scans.
template <typename Count>
CollectiveFacts factsOfReduce(const Place& at, Word count, Word type, int root) noexcept {
  if (at.isOut(root))
    return {};
  const std::uint64_t bytes = bytesOf<Count>(count, type);
  const bool gets = root == -1 || at.isRoot(root);
  return {{bytes, gets ? bytes : 0, bytes}, root, type};
}

// MPI_Gather: `own` is the data that each rank sends, `parts` the data that the root receives from
// each.
template <typename Count>
CollectiveFacts factsOfGather(const Place& at,
                              Word buffer,
                              Word own,
                              Word ownType,
                              Word part,
                              Word partType,
                              int root) noexcept {
  if (at.isOut(root))
    return {};
  const bool isRoot = at.isRoot(root);
  const std::uint64_t one = isRoot && (isInPlace(buffer) || at.inter)
                                ? bytesOf<Count>(part, partType)
                                : bytesOf<Count>(own, ownType);
  const std::uint64_t all = one * static_cast<std::uint64_t>(at.peers);
  return {{one, isRoot ? all : 0, all}, root, isRoot ? partType : ownType};
}

// The same with one count per rank, which only the root knows.
template <typename Count>
CollectiveFacts factsOfGatherv(const Place& at,
                               Word buffer,
                               Word own,
                               Word ownType,
                               Word parts,
                               Word partType,
                               int root) noexcept {
  if (at.isOut(root))
    return {};
  if (!at.isRoot(root))
    return {{bytesOf<Count>(own, ownType), 0, kUnknownBytes}, root, ownType};
  const std::uint64_t all = sumOf<Count>(parts, at.peers) * bytesOfOne(partType);
  if (at.inter)
    return {{0, all, all}, root, partType};
  const std::uint64_t mine =
      isInPlace(buffer)
          ? static_cast<std::uint64_t>(reinterpret_cast<const Count*>(parts)[at.rank]) *
                bytesOfOne(partType)
          : bytesOf<Count>(own, ownType);
  return {{mine, all, all}, root, partType};
}

// MPI_Allgather and, with `bytes` of the sent data, MPI_Alltoall.
template <typename Count>
CollectiveFacts factsOfAllgather(
    const Place& at, Word buffer, Word own, Word ownType, Word part, Word partType) noexcept {
  const std::uint64_t one = bytesOf<Count>(part, partType);
  const std::uint64_t all = one * static_cast<std::uint64_t>(at.peers);
  return {{isInPlace(buffer) ? one : bytesOf<Count>(own, ownType), all, all}, -1, partType};
}

template <typename Count>
CollectiveFacts factsOfAllgatherv(
    const Place& at, Word buffer, Word own, Word ownType, Word parts, Word partType) noexcept {
  const std::uint64_t all = sumOf<Count>(parts, at.peers) * bytesOfOne(partType);
  const auto* const each = reinterpret_cast<const Count*>(parts);
  const std::uint64_t mine = isInPlace(buffer)
                                 ? static_cast<std::uint64_t>(each[at.rank]) * bytesOfOne(partType)
                                 : bytesOf<Count>(own, ownType);
  return {{mine, all, all}, -1, partType};
}

template <typename Count>
CollectiveFacts factsOfAlltoall(
    const Place& at, Word buffer, Word own, Word ownType, Word part, Word partType) noexcept {
  const auto peers = static_cast<std::uint64_t>(at.peers);
  const std::uint64_t in = bytesOf<Count>(part, partType) * peers;
  const std::uint64_t out = isInPlace(buffer) ? in : bytesOf<Count>(own, ownType) * peers;
  return {{out, in, out > in ? out : in}, -1, partType};
}

template <typename Count>
CollectiveFacts factsOfAlltoallv(
    const Place& at, Word buffer, Word owns, Word ownType, Word parts, Word partType) noexcept {
  const std::uint64_t in = sumOf<Count>(parts, at.peers) * bytesOfOne(partType);
  const std::uint64_t out =
      isInPlace(buffer) ? in : sumOf<Count>(owns, at.peers) * bytesOfOne(ownType);
  return {{out, in, kUnknownBytes}, -1, partType};
}

// The same with one type per peer.
template <typename Count>
std::uint64_t sumOfTyped(Word counts, Word types, int size, std::uint64_t absent = 0) noexcept {
  const auto* const values = reinterpret_cast<const Count*>(counts);
  std::uint64_t sum = 0;
  for (int at = 0; at < size; ++at)
    sum += values[at] == 0 || isAbsent(absent, at)
               ? 0
               : static_cast<std::uint64_t>(values[at]) *
                     bytesOfOne(gSession.abi->handleAt(types, static_cast<std::size_t>(at)));
  return sum;
}
template <typename Count>
CollectiveFacts factsOfAlltoallw(
    const Place& at, Word buffer, Word owns, Word ownTypes, Word parts, Word partTypes) noexcept {
  const std::uint64_t in = sumOfTyped<Count>(parts, partTypes, at.peers);
  const std::uint64_t out = isInPlace(buffer) ? in : sumOfTyped<Count>(owns, ownTypes, at.peers);
  return {{out, in, kUnknownBytes}, -1, 0};
}

// The caller's own group shares out the data that it scatters.
template <typename Count>
CollectiveFacts factsOfReduceScatter(const Place& at, Word parts, Word type) noexcept {
  const std::uint64_t all = sumOf<Count>(parts, at.size) * bytesOfOne(type);
  const auto mine = static_cast<std::uint64_t>(reinterpret_cast<const Count*>(parts)[at.rank]);
  return {{all, mine * bytesOfOne(type), all}, -1, type};
}

template <typename Count>
CollectiveFacts factsOfReduceScatterBlock(const Place& at, Word part, Word type) noexcept {
  const std::uint64_t one = bytesOf<Count>(part, type);
  const std::uint64_t all = one * static_cast<std::uint64_t>(at.size);
  return {{all, one, all}, -1, type};
}

// Sets a collective's number within its communicator; false: it cannot be recorded. Call it after
// the call of MPI, which checks whether the communicator is valid.
bool numberCollective(wire::Collective& record, Word communicator, Place& place) noexcept;
void describe(wire::Collective& record,
              wire::CollectiveOp op,
              const CollectiveFacts& facts,
              std::uint32_t name) noexcept;
// The number of a collective whose end is recorded separately.
std::uint64_t nextCollective() noexcept;

// Swaps sent and received bytes: MPI_Scatter is MPI_Gather in the other direction.
inline CollectiveFacts turned(CollectiveFacts facts) noexcept {
  const std::uint64_t sent = facts.amounts.send;
  facts.amounts.send = facts.amounts.receive;
  facts.amounts.receive = sent;
  return facts;
}

}  // namespace sonde::preload::mpi
