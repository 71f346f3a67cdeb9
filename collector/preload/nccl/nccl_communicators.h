// NCCL's communicators, from its API and from the profiler interface, and the numbering of their
// calls. Any thread; no function locks or allocates.
#pragma once

#include "collector/preload/nccl/nccl_pool.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sonde::preload::nccl {

constexpr std::size_t kFunctionCount = 32;  // calls are counted per function
// Values of Function, plus kCopyEngine for collectives by the copy engines, which NCCL counts
// separately.
constexpr std::uint8_t kCopyEngine = 16;
constexpr std::uint64_t kByGraph = std::uint64_t{1} << 62;
constexpr std::uint64_t kNoSequence = ~std::uint64_t{0};

// How a call was launched.
enum class Launch : std::uint8_t { Unknown, Direct, Graph };

struct Communicator : Pooled {
  std::atomic<std::uint64_t> hash;  // NCCL's, the same on every rank; 0: not yet known
  std::atomic<std::int32_t> size;   // 0: unknown, as before version 4
  std::atomic<std::int32_t> rank;   // -1: not yet known
  // A process image's generation << 32 | the id in its spool. Ignored if the generation is another
  // image's.
  std::atomic<std::uint64_t> defined;
  std::atomic<std::uint64_t> last[kFunctionCount];    // by function: the latest number of NCCL + 1
  std::atomic<std::uint64_t> graphs[kFunctionCount];  // by function: launches by CUDA graphs
  // NCCL's API and the profiler interface may both report a communicator. The handle of the second
  // object then refers to the first one.
  std::atomic<const void*> api;  // ncclComm_t; nullptr: not from the API, or destroyed
  // The Handle of the same communicator from the API; 0: none known.
  std::atomic<std::uint64_t> sameAs;
  std::atomic<std::uint32_t> owners;                 // the API, and communicators that are the same
  std::atomic<bool> ownHash;                         // `hash` is not NCCL's
  std::atomic<std::uint32_t> splits;                 // number of splits with it as the parent
  std::atomic<std::uint64_t> calls[kFunctionCount];  // number of API calls, by function
};

// The parameters of init; zeros if the version lacks them.
struct CommunicatorFacts {
  const char* name = nullptr;
  std::uint64_t hash = 0;
  std::int32_t size = 0;
  std::int32_t rank = -1;
  bool ownHash = false;  // `hash` is not NCCL's
};

// addCommunicator() returns kind None, and counts a loss, if the pool is full; NCCL then gets
// kLostCommunicator. `api`: the ncclComm_t; nullptr for one of the profiler interface.
constexpr Handle kLostCommunicator{HandleKind::Communicator, 0, 0};  // for NCCL
Handle addCommunicator(const CommunicatorFacts& facts, const void* api = nullptr) noexcept;
Communicator* findCommunicator(Handle handle) noexcept;
// The communicator that the handle refers to: itself, or the API's.
Handle resolve(Handle handle) noexcept;
// Finds it by ncclComm_t; None: unknown.
Handle findApiCommunicator(const void* api) noexcept;
// The API's communicator is about to be destroyed. It is no longer found by its ncclComm_t, only by
// its handle; then remove it with that, or show it again if it stays. None: unknown.
Handle hideApiCommunicator(const void* api) noexcept;
void showApiCommunicator(Handle handle, const void* api) noexcept;
// The communicator was destroyed.
void removeApiCommunicator(const void* api) noexcept;
// `told`, from the profiler interface, is the API's `known`, which has no other such.
void identify(Handle told, Handle known) noexcept;
// Whether `known` is an API communicator with the rank of `told` and without a counterpart. If the
// version reports hashes that Sonde computes (from 4 on), the hash must also match.
bool mayBe(Handle told, Handle known) noexcept;
void removeCommunicator(Handle handle) noexcept;
// Fills in unknown facts: from an event of a version before 4, and from NCCL's answers.
void learn(Communicator& communicator, std::uint64_t hash, std::int32_t rank) noexcept;

// Its id in this process image's spool; 0: no room.
std::uint32_t communicatorId(Communicator& communicator) noexcept;

// A collective's number within the communicator, the same on every rank: 32 times NCCL's own number
// for the function, plus the function. A launch by a CUDA graph has no NCCL number of its own,
// because NCCL reads the count of calls at the launch. It is counted here, with bit 62 set.
// Versions before 5 do not report graphs. There, a launch that the API did not call counts as a
// graph's. If the API is not seen, the first launch with a number counts as the direct one, and
// others get kNoSequence.
std::uint64_t sequenceOf(Communicator& communicator,
                         std::uint8_t function,
                         std::uint64_t number,
                         Launch launch) noexcept;
// The same for a call of the API, by its own count. Results of `sequenceOf` for launches without a
// graph then have bit 47 set.
std::uint64_t apiSequenceOf(Communicator& communicator, std::uint8_t function) noexcept;

// The call does not take place: the next one gets its number, unless one has already begun.
void giveBackApiSequence(Communicator& communicator,
                         std::uint8_t function,
                         std::uint64_t seq) noexcept;

constexpr std::size_t kKeyBytes = 48;
// The key of the communicator that is the same on every rank, if known.
void keyOf(const Communicator& communicator, char (&key)[kKeyBytes]) noexcept;

// idIn() returns the id in this image's spool from `defined`; 0: none. If two threads call keep()
// at once, the first one's id is valid.
std::uint32_t idIn(std::uint32_t image, const std::atomic<std::uint64_t>& defined) noexcept;
std::uint32_t keep(std::atomic<std::uint64_t>& defined,
                   std::uint32_t image,
                   std::uint32_t id) noexcept;

}  // namespace sonde::preload::nccl
