// The requests of one call of MPI that waits or tests for several. Copies their handles, because
// MPI overwrites the program's array, and provides a status for each if the program wants none. Any
// thread. Requires: isActive().
#pragma once

#include "collector/preload/mpi/interposer/mpi_messages.h"

#include <cstddef>

namespace sonde::preload::mpi {

// Valid between openBatch() and closeBatch(). No destructor, so that exceptions of MPI's error
// handlers pass through. More than `kFew` requests need memory, which is kept for the next such
// call.
struct Batch {
  static constexpr std::size_t kFew = 64;
  std::size_t count;
  Handle* handles;  // nullptr: no memory for them
  RequestOrder before;
  Word statuses;  // the array that MPI gets
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
