// NCCL's groups, and the functions that create and destroy communicators. The rules of
// nccl_collectives.cpp apply.
#include "collector/core/platform/hooks.h"
#include "collector/preload/nccl/interposer/nccl_library.h"
#include "collector/preload/nccl/nccl_hash.h"
#include "collector/preload/nccl/nccl_types.h"

#include <time.h>
#include <unistd.h>

namespace nccl = sonde::preload::nccl;
using nccl::Communicator_t;
using nccl::hooks;
using nccl::OpenCall;
using nccl::RealNccl;
using nccl::Result_t;
using nccl::UniqueId;

namespace {

// Calls `forward()` and records the call.
template <typename Forward>
Result_t recorded(const char* name, Forward forward) {
  if (hooks() == nullptr)
    return forward();
  const OpenCall open = hooks()->beginOther(name);
  const Result_t result = forward();
  hooks()->endOther(open, name, result);
  return result;
}

// Whether the object that the function creates exists now or will exist.
bool succeeds(Result_t result) noexcept {
  return result == nccl::kSuccess || result == nccl::kInProgress;
}

void created(Result_t result, const nccl::NewCommunicator& made) noexcept {
  if (hooks() != nullptr && succeeds(result) && made.place != nullptr)
    hooks()->created(made);
}

std::uint64_t hashOf(const UniqueId& id) noexcept {
  return nccl::hashOfIdentifier(id.bytes, sizeof id.bytes);
}

// A hash for communicators whose ranks are all in this process.
std::uint64_t hashOfThisMoment() noexcept {
  struct {
    timespec time;
    std::int64_t process;
  } moment{};
  clock_gettime(CLOCK_REALTIME, &moment.time);
  moment.process = getpid();
  return nccl::hashOfIdentifier(&moment, sizeof moment);
}

// Calls `forward()`, after which the communicator no longer exists. Another communicator may get
// its address before this returns.
template <typename Forward>
Result_t recordedEnd(const char* name, Communicator_t comm, Forward forward) {
  if (hooks() == nullptr)
    return forward();
  const std::uint64_t known = hooks()->goes(comm);
  const Result_t result = recorded(name, forward);
  hooks()->gone(comm, known, result);
  return result;
}

void aborts(Communicator_t comm) noexcept {
  if (hooks() != nullptr)
    hooks()->aborts(comm);
}

}  // namespace

#define SONDE_NCCL_REAL(name, ...)                        \
  static RealNccl<Result_t (*)(__VA_ARGS__)> real{#name}; \
  if (!real.find(__builtin_return_address(0)))            \
  return nccl::kSystemError

SONDE_EXPORT Result_t ncclGroupStart() {
  SONDE_NCCL_REAL(ncclGroupStart);
  const Result_t result = real()();
  if (hooks() != nullptr && result == nccl::kSuccess)
    hooks()->groupStarted();
  return result;
}

SONDE_EXPORT Result_t ncclGroupEnd() {
  SONDE_NCCL_REAL(ncclGroupEnd);
  if (hooks() == nullptr)
    return real()();
  const OpenCall open = hooks()->beginOther("ncclGroupEnd");
  const Result_t result = real()();
  hooks()->endOther(open, hooks()->groupEnded(succeeds(result)) ? "ncclGroupEnd" : nullptr, result);
  return result;
}

// Ends a group without launching anything.
SONDE_EXPORT Result_t ncclGroupSimulateEnd(void* info) {
  SONDE_NCCL_REAL(ncclGroupSimulateEnd, void*);
  const Result_t result = real()(info);
  if (hooks() != nullptr)
    hooks()->groupEnded(false);
  return result;
}

SONDE_EXPORT Result_t ncclCommInitRank(Communicator_t* comm, int size, UniqueId id, int rank) {
  SONDE_NCCL_REAL(ncclCommInitRank, Communicator_t*, int, UniqueId, int);
  const Result_t result =
      recorded("ncclCommInitRank", [&] { return real()(comm, size, id, rank); });
  created(result, {comm, hashOf(id), size, rank, false});
  return result;
}

SONDE_EXPORT Result_t
ncclCommInitRankConfig(Communicator_t* comm, int size, UniqueId id, int rank, void* config) {
  SONDE_NCCL_REAL(ncclCommInitRankConfig, Communicator_t*, int, UniqueId, int, void*);
  const Result_t result =
      recorded("ncclCommInitRankConfig", [&] { return real()(comm, size, id, rank, config); });
  created(result, {comm, hashOf(id), size, rank, false});
  return result;
}

SONDE_EXPORT Result_t ncclCommInitRankScalable(
    Communicator_t* comm, int size, int rank, int idCount, UniqueId* ids, void* config) {
  SONDE_NCCL_REAL(ncclCommInitRankScalable, Communicator_t*, int, int, int, UniqueId*, void*);
  const Result_t result = recorded("ncclCommInitRankScalable",
                                   [&] { return real()(comm, size, rank, idCount, ids, config); });
  if (ids != nullptr)
    created(result, {comm, hashOf(ids[0]), size, rank, false});
  return result;
}

// NCCL does not expose its own identifier.
SONDE_EXPORT Result_t ncclCommInitAll(Communicator_t* comms, int size, const int* devices) {
  SONDE_NCCL_REAL(ncclCommInitAll, Communicator_t*, int, const int*);
  const Result_t result = recorded("ncclCommInitAll", [&] { return real()(comms, size, devices); });
  const std::uint64_t hash = hashOfThisMoment();
  for (int rank = 0; comms != nullptr && rank < size; ++rank)
    created(result, {comms + rank, hash, size, rank, true});
  return result;
}

SONDE_EXPORT Result_t
ncclCommSplit(Communicator_t parent, int color, int key, Communicator_t* comm, void* config) {
  SONDE_NCCL_REAL(ncclCommSplit, Communicator_t, int, int, Communicator_t*, void*);
  const std::uint64_t hash = hooks() == nullptr ? 0 : hooks()->hashOfSplit(parent, color);
  const Result_t result =
      recorded("ncclCommSplit", [&] { return real()(parent, color, key, comm, config); });
  if (color != nccl::kNoColor)
    created(result, {comm, hash, 0, nccl::kUnknownRank, false});
  return result;
}

SONDE_EXPORT Result_t ncclCommShrink(Communicator_t parent,
                                     int* excluded,
                                     int excludedCount,
                                     Communicator_t* comm,
                                     void* config,
                                     int flags) {
  SONDE_NCCL_REAL(ncclCommShrink, Communicator_t, int*, int, Communicator_t*, void*, int);
  const std::uint64_t hash = hooks() == nullptr ? 0 : hooks()->hashOfShrunk(parent);
  const Result_t result = recorded("ncclCommShrink", [&] {
    return real()(parent, excluded, excludedCount, comm, config, flags);
  });
  created(result, {comm, hash, 0, nccl::kUnknownRank, false});
  return result;
}

// The name that all ranks know it by cannot be found from outside.
SONDE_EXPORT Result_t ncclCommGrow(Communicator_t parent,
                                   int size,
                                   const UniqueId* id,
                                   int rank,
                                   Communicator_t* comm,
                                   void* config) {
  SONDE_NCCL_REAL(ncclCommGrow, Communicator_t, int, const UniqueId*, int, Communicator_t*, void*);
  if (hooks() != nullptr)
    hooks()->hashOfSplit(parent, 0);  // it counts as a child, although it has another hash
  const Result_t result =
      recorded("ncclCommGrow", [&] { return real()(parent, size, id, rank, comm, config); });
  // Ranks of the parent pass no rank of their own: NCCL is asked.
  created(result, {comm, 0, rank < 0 ? 0 : size, rank < 0 ? nccl::kUnknownRank : rank, false});
  return result;
}

SONDE_EXPORT Result_t ncclCommFinalize(Communicator_t comm) {
  SONDE_NCCL_REAL(ncclCommFinalize, Communicator_t);
  return recorded("ncclCommFinalize", [&] { return real()(comm); });
}

SONDE_EXPORT Result_t ncclCommDestroy(Communicator_t comm) {
  SONDE_NCCL_REAL(ncclCommDestroy, Communicator_t);
  return recordedEnd("ncclCommDestroy", comm, [&] { return real()(comm); });
}

SONDE_EXPORT Result_t ncclCommAbort(Communicator_t comm) {
  SONDE_NCCL_REAL(ncclCommAbort, Communicator_t);
  aborts(comm);
  return recordedEnd("ncclCommAbort", comm, [&] { return real()(comm); });
}

SONDE_EXPORT Result_t ncclCommRevoke(Communicator_t comm, int flags) {
  SONDE_NCCL_REAL(ncclCommRevoke, Communicator_t, int);
  aborts(comm);
  return recorded("ncclCommRevoke", [&] { return real()(comm, flags); });
}
