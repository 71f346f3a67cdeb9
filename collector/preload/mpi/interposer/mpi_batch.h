// Several requests that one call of MPI waits or tests for: their handles, which MPI takes from the
// program's array, and a status each where the program wants none. Any thread. Requires:
// isActive().
#pragma once

#include "collector/preload/mpi/interposer/mpi_messages.h"

#include <cstddef>

namespace sonde::preload::mpi {

// Between openBatch() and closeBatch(). No destructor, so that what MPI's error handlers throw
// passes. What is more than `kFew` of them lies in memory that is kept for the next such call.
struct Batch {
  static constexpr std::size_t kFew = 64;
  std::size_t count;
  Handle* handles;  // nullptr: there is no memory for them
  RequestOrder before;
  Word statuses;  // what MPI is given
  void* memory;
  std::size_t memoryBytes;
  Handle fewHandles[kFew];
  Status fewStatuses[kFew];

  RequestId id(std::size_t at) const noexcept { return {handles[at], before}; }
  const void* status(std::size_t at) const noexcept {
    return reinterpret_cast<const char*>(statuses) + at * gSession.abi->statusBytes;
  }
};

void openBatch(Batch& batch, Word count, Word requests, Word statuses) noexcept;
void closeBatch(const Batch& batch) noexcept;

}  // namespace sonde::preload::mpi
