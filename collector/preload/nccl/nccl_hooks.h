// What libsonde_nccl.so, which stands in front of NCCL's functions, tells libsonde_preload.so,
// which records. Both are of one build: the first finds the second's table by
// dlsym("sonde_nccl_hooks") when it is loaded, and a table of another version is none. Any thread;
// no hook locks, allocates, fails or changes errno.
#pragma once

#include <cstdint>

namespace sonde::preload::nccl {

inline constexpr std::uint32_t kHooksVersion = 3;
inline constexpr std::int32_t kUnknownRank = -1;

// What a collective, send or receive was called with.
struct ApiCall {
  const char* name;       // of the function, a literal
  std::uint8_t function;  // ncclFunc_t
  const void* communicator;
  const void* send;  // buffers; of a send or receive only its own
  const void* receive;
  std::uint64_t count;  // of elements, as the function counts them
  std::int32_t type;    // ncclDataType_t
  std::int32_t root;    // or the peer; ignored where there is none
  const void* stream;
};

// A call that has not returned yet.
struct OpenCall {
  std::uint64_t call;   // a Handle
  std::uint64_t begin;  // ticks; 0: it is not recorded
  bool outermost;       // false: NCCL calls its own functions
  std::uint64_t seq;    // that it took
  std::uint32_t shown;  // to the recorder, while it lasts
};

struct NewCommunicator {
  void* const* place;  // where NCCL writes it, at the latest when the group ends
  std::uint64_t hash;  // the same on every rank; 0: not known
  std::int32_t size;   // 0: not known yet
  std::int32_t rank;   // kUnknownRank: not known yet
  bool ownHash;        // the hash is of Sonde's making, not NCCL's
};

struct Hooks {
  std::uint32_t version;
  OpenCall (*begin)(const ApiCall& call) noexcept;
  void (*end)(const OpenCall& open, const ApiCall& call, int result) noexcept;

  // Both begins are called by NCCL's function itself, so that its frame is known; see
  // core/open_calls.h.

  // Any other function; `name` is a literal, at the end nullptr: there is nothing to record.
  OpenCall (*beginOther)(const char* name) noexcept;
  void (*endOther)(const OpenCall& open, const char* name, int result) noexcept;
  // Of ncclGroupStart, and of what ends a group: whether it was the thread's outermost. `launched`:
  // what was called in it takes place.
  void (*groupStarted)() noexcept;
  bool (*groupEnded)(bool launched) noexcept;

  // The parent has one child more. `color`: as given to ncclCommSplit; a shrunk communicator has 0
  // and no number. Counts.
  std::uint64_t (*hashOfSplit)(const void* parent, std::int32_t color) noexcept;
  std::uint64_t (*hashOfShrunk)(const void* parent) noexcept;
  void (*created)(const NewCommunicator& made) noexcept;
  // It is about to be aborted, or revoked.
  void (*aborts)(const void* communicator) noexcept;
  // It is about to go: what that gives is for gone(), with what the function has returned.
  std::uint64_t (*goes)(const void* communicator) noexcept;
  void (*gone)(const void* communicator, std::uint64_t known, int result) noexcept;
};

// What the recorder may ask NCCL.
struct Library {
  // Leaves alone what NCCL does not say.
  void (*describe)(const void* communicator, std::int32_t* size, std::int32_t* rank) noexcept;
};

using FindHooks = const Hooks* (*)(std::uint32_t version, const Library* library);

}  // namespace sonde::preload::nccl
