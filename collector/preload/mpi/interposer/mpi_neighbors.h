// The ranks that a member of a communicator exchanges data with in neighbourhood collectives. Any
// thread. MPI answers these queries without communication.
#pragma once

#include "collector/preload/mpi/interposer/mpi_abi.h"

#include <cstdint>

namespace sonde::preload::mpi {

struct Neighbors {
  static constexpr int kMaxAbsent = 64;
  int in = 0;                // number of ranks it receives from
  int out = 0;               // number of ranks it sends to
  std::uint64_t absent = 0;  // bit n: neighbour n, in and out, would be beyond the grid's edge

  std::uint64_t fromPresent() const noexcept { return present(in); }
  std::uint64_t toPresent() const noexcept { return present(out); }
  std::uint64_t present(int all) const noexcept {
    return static_cast<std::uint64_t>(all - __builtin_popcountll(absent));
  }
};

inline bool isAbsent(std::uint64_t absent, int neighbor) noexcept {
  return neighbor < Neighbors::kMaxAbsent && (absent >> neighbor & 1) != 0;
}

// Empty without a topology. `rank`: the caller's. Requires: a communicator with one group.
Neighbors neighborsIn(Handle communicator, int rank) noexcept;

}  // namespace sonde::preload::mpi
