// Whom a member of a communicator exchanges data with in its neighbourhood collectives. Any thread;
// what MPI is asked here it answers without a message to anybody.
#pragma once

#include "collector/preload/mpi/interposer/mpi_abi.h"

#include <cstdint>

namespace sonde::preload::mpi {

struct Neighbors {
  static constexpr int kMaxAbsent = 64;
  int in = 0;                // it receives from so many
  int out = 0;               // it sends to so many
  std::uint64_t absent = 0;  // bit n: the n-th, in and out, would lie beyond a grid's edge

  std::uint64_t fromPresent() const noexcept { return present(in); }
  std::uint64_t toPresent() const noexcept { return present(out); }
  std::uint64_t present(int all) const noexcept {
    return static_cast<std::uint64_t>(all - __builtin_popcountll(absent));
  }
};

inline bool isAbsent(std::uint64_t absent, int neighbor) noexcept {
  return neighbor < Neighbors::kMaxAbsent && (absent >> neighbor & 1) != 0;
}

// None without a topology. `rank`: of the caller. Requires: a communicator of one group.
Neighbors neighborsIn(Handle communicator, int rank) noexcept;

}  // namespace sonde::preload::mpi
