// Who is in a communicator. What MPI is asked here it answers without a message to anybody.
#pragma once

#include "collector/preload/mpi/interposer/mpi_abi.h"

#include <cstdint>

namespace sonde::preload::mpi {

// One group of a communicator, as long as this lives. A group larger than kMaxKnown has no `ranks`;
// its hash is of its size and its first members.
class Members {
 public:
  static constexpr std::int32_t kMaxKnown = 4096;
  enum class Which { Own, Remote };

  Members(Handle communicator, Which which) noexcept;
  ~Members() noexcept;
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;

  std::int32_t rank = -1;  // of this process in its own group
  std::int32_t size = 0;
  std::int32_t* ranks = nullptr;  // in MPI_COMM_WORLD, -1: not in it; nullptr: not known
  std::uint64_t hash = 0;

  // Whether the n-th is of this process's MPI_COMM_WORLD.
  bool isOfWorld(std::int32_t at) const noexcept {
    return allOfWorld_ || (at < kMaxKnown && memory_[at] >= 0);
  }

 private:
  void translate(Handle group, Handle world) noexcept;

  std::int32_t* memory_ = nullptr;
  bool allOfWorld_ = true;  // as far as it is known
};

// Where a program has a session (MPI 4) and no MPI_COMM_WORLD, its ranks are those of the session's
// world. False: it has none. Held until the session ends.
bool holdWorldOf(Word session) noexcept;
// True: it was this session's.
bool dropWorldOf(Word session) noexcept;

bool isInter(Handle communicator) noexcept;

}  // namespace sonde::preload::mpi
