// What differs between the implementations of MPI that Sonde knows: Open MPI's interface, whose
// handles are pointers, and that of MPICH and its relatives (Intel MPI, MVAPICH2, Cray MPICH:
// www.mpich.org/abi), whose handles are ints. So that it needs neither's headers, and one library
// serves both, what the program passes is carried in machine words.
#pragma once

#include "collector/wire/words.h"

#include <cstddef>
#include <cstdint>

namespace sonde::preload::mpi {

// An argument of a call as it is in its register or stack slot. Of an int the upper half is
// undefined.
using Word = std::uintptr_t;
// A communicator, request, datatype or message, in full.
using Handle = std::uint64_t;

inline constexpr int kSuccess = 0;
inline constexpr int kOtherError = 16;  // MPI_ERR_OTHER or MPI_ERR_INTERN
inline constexpr int kUndefined = -32766;
inline constexpr int kAnyTag = -1;
inline constexpr std::size_t kMaxStatusBytes = 24;
inline constexpr std::size_t kMaxDatatypes = 32;

inline int intOf(Word word) noexcept {
  return static_cast<int>(word);
}

// How one message was received.
struct Received {
  int source;
  int tag;
  bool cancelled;
  std::uint64_t bytes;
};

// A predefined datatype.
struct Datatype {
  Handle handle;  // 0: no entry
  wire::DataType type;
  std::uint64_t bytes;
};

struct Abi {
  bool intHandles;
  int anySource;
  int noProcess;  // MPI_PROC_NULL
  int root;       // MPI_ROOT
  Word inPlace;
  Word ignoreStatus;  // MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE
  std::size_t statusBytes;
  int errorInStatus;  // MPI_ERR_IN_STATUS
  int errorPending;   // MPI_ERR_PENDING
  int graphTopology;  // MPI_GRAPH
  int cartTopology;   // MPI_CART
  Handle world;
  Handle noCommunicator;
  Handle noRequest;
  Handle noProcessMessage;  // MPI_MESSAGE_NO_PROC
  Handle noType;            // MPI_DATATYPE_NULL
  Handle doneRequest;       // one that stands for all that were done at once; 0: there is none
  Datatype types[kMaxDatatypes];

  Handle handle(Word word) const noexcept {
    return intHandles ? static_cast<std::uint32_t>(word) : word;
  }
  std::size_t handleBytes() const noexcept { return intHandles ? 4 : 8; }
  // The n-th of an array of handles.
  Handle handleAt(Word array, std::size_t index) const noexcept {
    if (array == 0)
      return noRequest;  // MPI will say what is wrong
    return intHandles ? reinterpret_cast<const std::uint32_t*>(array)[index]
                      : reinterpret_cast<const std::uint64_t*>(array)[index];
  }
  // Whether a request that was just started stands for any number of them, all done.
  bool isShared(Handle request) const noexcept {
    constexpr Handle kBuiltIn = 0x4000'0000;
    return intHandles ? (request & 0xc000'0000) == kBuiltIn : request == doneRequest;
  }
  // Requires: a status that was filled in.
  Received received(const void* status) const noexcept;
  // What MPI_Waitall and its like say of one request.
  int errorIn(const void* status) const noexcept;
  // Whether that is told at all; that it has not ended.
  bool isInStatus(int result) const noexcept { return errorClass(result) == errorInStatus; }
  bool isPending(int error) const noexcept { return errorClass(error) == errorPending; }
  int errorClass(int error) const noexcept { return intHandles ? error & 0x7f : error; }
};

// The interface of the MPI that is loaded; nullptr: one that Sonde does not know, and then
// `version`, which has room for `size` bytes, is its name for itself.
const Abi* chooseAbi(char* version, std::size_t size) noexcept;

}  // namespace sonde::preload::mpi
