// NCCL's communicators as its API and the profiler interface show them, and how their calls are
// counted. Any thread; nothing locks or allocates.
#pragma once

#include "collector/preload/nccl/nccl_pool.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sonde::preload::nccl {

constexpr std::size_t kFunctionCount = 32;  // that calls are counted by
// Numbers of Function and, for collectives by the copy engines, which NCCL counts apart, so much
// more.
constexpr std::uint8_t kCopyEngine = 16;
constexpr std::uint64_t kByGraph = std::uint64_t{1} << 62;
constexpr std::uint64_t kNoSequence = ~std::uint64_t{0};

// How a call came to be launched.
enum class Launch : std::uint8_t { Unknown, Direct, Graph };

struct Communicator : Pooled {
  std::atomic<std::uint64_t> hash;  // NCCL's, the same on every rank; 0: not known yet
  std::atomic<std::int32_t> size;   // 0: not known, as before version 4
  std::atomic<std::int32_t> rank;   // -1: not known yet
  // A process image's generation << 32 | the id in its spool. Another image's counts as none.
  std::atomic<std::uint64_t> defined;
  std::atomic<std::uint64_t> last[kFunctionCount];    // by function: NCCL's number last seen + 1
  std::atomic<std::uint64_t> graphs[kFunctionCount];  // by function: launches by CUDA graphs
  // A communicator may be told of twice, by NCCL's API and by the profiler interface. The second's
  // handle then stands for the first's object.
  std::atomic<const void*> api;       // ncclComm_t; nullptr: not of the API, or gone
  std::atomic<std::uint64_t> sameAs;  // a Handle, of the API's; 0: not known to be one
  std::atomic<std::uint32_t> owners;  // of the API, and those that are the same
  std::atomic<bool> ownHash;          // `hash` is not NCCL's
  std::atomic<std::uint32_t> splits;  // that it was parent of
  std::atomic<std::uint64_t> calls[kFunctionCount];  // of the API, by function
};

// What init tells; zeros where the version does not.
struct CommunicatorFacts {
  const char* name = nullptr;
  std::uint64_t hash = 0;
  std::int32_t size = 0;
  std::int32_t rank = -1;
  bool ownHash = false;  // not NCCL's
};

// Of kind None, and counted as lost, when there are more than the pool holds. `api`: the
// ncclComm_t, nullptr for one of the profiler interface.
constexpr Handle kLostCommunicator{HandleKind::Communicator, 0, 0};  // that NCCL gets instead
Handle addCommunicator(const CommunicatorFacts& facts, const void* api = nullptr) noexcept;
Communicator* findCommunicator(Handle handle) noexcept;
// The one that the handle stands for: itself, or the API's.
Handle resolve(Handle handle) noexcept;
// By ncclComm_t; None: not known.
Handle findApiCommunicator(const void* api) noexcept;
// The API's is about to go: nothing finds it by its ncclComm_t any more, but its handle, which then
// is to be removed, or shown again when it stays. None: not known.
Handle hideApiCommunicator(const void* api) noexcept;
void showApiCommunicator(Handle handle, const void* api) noexcept;
// It has gone.
void removeApiCommunicator(const void* api) noexcept;
// `told`, of the profiler interface, is the API's `known`, of which no other is.
void identify(Handle told, Handle known) noexcept;
// Whether `known` is an API's communicator of the rank of `told` that none is the same as, and of
// its hash, where the version tells hashes that Sonde computes (from 4 on).
bool mayBe(Handle told, Handle known) noexcept;
void removeCommunicator(Handle handle) noexcept;
// What is not known yet: what an event of a version before 4 says of its communicator, and what
// NCCL answers.
void learn(Communicator& communicator, std::uint64_t hash, std::int32_t rank) noexcept;

// Its id in the spool of this process image; 0: there is no room.
std::uint32_t communicatorId(Communicator& communicator) noexcept;

// A collective's number within the communicator, the same on every rank: 32 times NCCL's own number
// of the function, plus the function. What a CUDA graph launches has none of NCCL's that is its own
// (it reads the count of calls when the graph is launched), and is counted here, with bit 62 set.
// Where the version does not tell graphs (before 5), what the API did not call is of one; where the
// API is not seen, the first with a number counts as the direct one, and others have kNoSequence.
std::uint64_t sequenceOf(Communicator& communicator,
                         std::uint8_t function,
                         std::uint64_t number,
                         Launch launch) noexcept;
// The same for a call of the API, by its own count; those of `sequenceOf` that no graph
// launches then have bit 47 set.
std::uint64_t apiSequenceOf(Communicator& communicator, std::uint8_t function) noexcept;

// The call does not take place: the next one has its number, if none has come yet.
void giveBackApiSequence(Communicator& communicator,
                         std::uint8_t function,
                         std::uint64_t seq) noexcept;

constexpr std::size_t kKeyBytes = 48;
// By what the communicator is known on every rank, if that is known.
void keyOf(const Communicator& communicator, char (&key)[kKeyBytes]) noexcept;

// Of what `defined` says: the id in the spool of this image, 0: it has none there. Of two that keep
// one at the same time the first's holds.
std::uint32_t idIn(std::uint32_t image, const std::atomic<std::uint64_t>& defined) noexcept;
std::uint32_t keep(std::atomic<std::uint64_t>& defined,
                   std::uint32_t image,
                   std::uint32_t id) noexcept;

}  // namespace sonde::preload::nccl
