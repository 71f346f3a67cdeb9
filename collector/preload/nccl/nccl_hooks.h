// The functions of libsonde_preload.so, which records, for libsonde_nccl.so, which intercepts
// NCCL's functions. Both are from one build. When libsonde_nccl.so is loaded, it looks up the table
// with dlsym("sonde_nccl_hooks") and ignores a table of another version. Any thread; no hook locks,
// allocates, fails or changes errno.
#pragma once

#include <cstdint>

namespace sonde::preload::nccl {

inline constexpr std::uint32_t kHooksVersion = 3;
inline constexpr std::int32_t kUnknownRank = -1;

// The arguments of a collective, send or receive.
struct ApiCall {
  const char* name;       // the function, a literal
  std::uint8_t function;  // ncclFunc_t
  const void* communicator;
  const void* send;  // buffers; a send or receive has only one
  const void* receive;
  std::uint64_t count;  // of elements, as the function counts them
  std::int32_t type;    // ncclDataType_t
  std::int32_t root;    // or the peer; ignored if the function has none
  const void* stream;
};

// A call that has not returned yet.
struct OpenCall {
  std::uint64_t call;   // a Handle
  std::uint64_t begin;  // ticks; 0: not recorded
  bool outermost;       // false: NCCL calls one of its own functions
  std::uint64_t seq;    // the sequence number that it took
  std::uint32_t shown;  // handle of the call that is shown to the recorder while it lasts
};

struct NewCommunicator {
  void* const* place;  // where NCCL writes the handle, at the latest at the end of the group
  std::uint64_t hash;  // the same on every rank; 0: unknown
  std::int32_t size;   // 0: not yet known
  std::int32_t rank;   // kUnknownRank: not yet known
  bool ownHash;        // the hash is Sonde's, not NCCL's
};

struct Hooks {
  std::uint32_t version;
  OpenCall (*begin)(const ApiCall& call) noexcept;
  void (*end)(const OpenCall& open, const ApiCall& call, int result) noexcept;

  // NCCL's wrapper itself calls both begin functions, so that its frame is known; see
  // core/open_calls.h.

  // Any other function. `name` is a literal; at the end nullptr means that nothing is recorded.
  OpenCall (*beginOther)(const char* name) noexcept;
  void (*endOther)(const OpenCall& open, const char* name, int result) noexcept;
  // For ncclGroupStart and the functions that end a group. groupEnded() returns whether it was the
  // thread's outermost group. `launched`: the calls in the group take place.
  void (*groupStarted)() noexcept;
  bool (*groupEnded)(bool launched) noexcept;

  // The parent gets one more child; both functions count it. `color`: the argument of
  // ncclCommSplit. A shrunk communicator has 0 and no number.
  std::uint64_t (*hashOfSplit)(const void* parent, std::int32_t color) noexcept;
  std::uint64_t (*hashOfShrunk)(const void* parent) noexcept;
  void (*created)(const NewCommunicator& made) noexcept;
  // The communicator is about to be aborted or revoked.
  void (*aborts)(const void* communicator) noexcept;
  // The communicator is about to be destroyed. Pass the result to gone(), with the function's
  // return value.
  std::uint64_t (*goes)(const void* communicator) noexcept;
  void (*gone)(const void* communicator, std::uint64_t known, int result) noexcept;
};

// The recorder's queries to NCCL.
struct Library {
  // Leaves the arguments unchanged if NCCL does not know them.
  void (*describe)(const void* communicator, std::int32_t* size, std::int32_t* rank) noexcept;
};

using FindHooks = const Hooks* (*)(std::uint32_t version, const Library* library);

}  // namespace sonde::preload::nccl
