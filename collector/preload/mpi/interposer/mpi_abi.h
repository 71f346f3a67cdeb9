// The differences between the MPI implementations that Sonde supports. Open MPI's handles are
// pointers. Those of MPICH and its relatives (Intel MPI, MVAPICH2, Cray MPICH: www.mpich.org/abi)
// are ints. The program's arguments are carried in machine words, so this library needs neither's
// headers and serves both.
#pragma once

#include "collector/wire/words.h"

#include <cstddef>
#include <cstdint>

namespace sonde::preload::mpi {

// An argument of a call, as in its register or stack slot. For an int the upper half is undefined.
using Word = std::uintptr_t;
// A communicator, request, datatype or message, at full width.
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

// The source, tag and size of a received message.
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
  Handle doneRequest;       // stands for all requests that finished immediately; 0: none
  Datatype types[kMaxDatatypes];

  Handle handle(Word word) const noexcept {
    return intHandles ? static_cast<std::uint32_t>(word) : word;
  }
  std::size_t handleBytes() const noexcept { return intHandles ? 4 : 8; }
  // Element `index` of an array of handles.
  Handle handleAt(Word array, std::size_t index) const noexcept {
    if (array == 0)
      return noRequest;  // MPI will report the error
    return intHandles ? reinterpret_cast<const std::uint32_t*>(array)[index]
                      : reinterpret_cast<const std::uint64_t*>(array)[index];
  }
  // Whether a request that was just started is the shared one for requests that finished
  // immediately.
  bool isShared(Handle request) const noexcept {
    constexpr Handle kBuiltIn = 0x4000'0000;
    return intHandles ? (request & 0xc000'0000) == kBuiltIn : request == doneRequest;
  }
  // Requires: a status that MPI has filled in.
  Received received(const void* status) const noexcept;
  // The error of one request in a status from MPI_Waitall and similar calls.
  int errorIn(const void* status) const noexcept;
  // Whether `result` means that the statuses contain errors; whether `error` means that the request
  // has not ended.
  bool isInStatus(int result) const noexcept { return errorClass(result) == errorInStatus; }
  bool isPending(int error) const noexcept { return errorClass(error) == errorPending; }
  int errorClass(int error) const noexcept { return intHandles ? error & 0x7f : error; }
};

// Returns the interface of the loaded MPI. nullptr: Sonde does not support it; `version`, with room
// for `size` bytes, is then the MPI's own name.
const Abi* chooseAbi(char* version, std::size_t size) noexcept;

}  // namespace sonde::preload::mpi
