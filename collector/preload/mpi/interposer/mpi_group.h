// The members of a communicator. MPI answers these queries without communication.
#pragma once

#include "collector/preload/mpi/interposer/mpi_abi.h"

#include <cstdint>

namespace sonde::preload::mpi {

// One group of a communicator, valid for the object's lifetime. If the group is larger than
// kMaxKnown, `ranks` is null, and the hash covers its size and its first members.
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
  std::int32_t* ranks = nullptr;  // in MPI_COMM_WORLD, -1: not in it; nullptr: unknown
  std::uint64_t hash = 0;

  // Whether member `at` is in this process's MPI_COMM_WORLD.
  bool isOfWorld(std::int32_t at) const noexcept {
    return allOfWorld_ || (at < kMaxKnown && memory_[at] >= 0);
  }

 private:
  void translate(Handle group, Handle world) noexcept;

  std::int32_t* memory_ = nullptr;
  bool allOfWorld_ = true;  // as far as known
};

// If a program has a session (MPI 4) and no MPI_COMM_WORLD, ranks are those of the session's world.
// It is kept until the session ends. False: the session has no world.
bool holdWorldOf(Word session) noexcept;
// True: it was this session's world.
bool dropWorldOf(Word session) noexcept;

bool isInter(Handle communicator) noexcept;

}  // namespace sonde::preload::mpi
