// How requests end: waits and tests. A test that finds nothing done leaves no record, because
// programs ask a million times a second; so does a probe that finds nothing.
#include "collector/preload/mpi/mpi_memory.h"
#include "collector/preload/mpi/mpi_messages.h"
#include "collector/preload/mpi/mpi_wrapper.h"

namespace sonde::preload::mpi {
namespace {

// A request has ended, whose handle the program does not have any more.
void settle(Handle handle, const void* status, std::uint64_t end) noexcept {
  Request* const request = findRequest(handle);
  if (request == nullptr)
    return;
  if (request->started)
    finish(*request, status, end);
  request->started = false;
  if (!request->persistent)
    removeRequest(handle);
}

// One that has failed, or was given back before it had ended.
void abandon(Handle handle) noexcept {
  Request* const request = findRequest(handle);
  if (request == nullptr)
    return;
  if (request->started)
    giveUp(*request);
  removeRequest(handle);
}

bool isSet(Word flag) noexcept {
  return flag != 0 && *reinterpret_cast<const int*>(flag) != 0;
}

void recordWait(Name& name, std::uint64_t begin, std::uint64_t end) noexcept {
  gSession.hooks->call(wire::SliceKind::Wait, name(), {begin, end});
}

template <typename Real>
int waitOne(Real real, Name& name, Word place, Word status) {
  const Handle handle = gSession.abi->handleAt(place, 0);
  Status own;
  const Word used = wantStatus(status, own);
  const std::uint64_t begin = now();
  const int result = real(place, used);
  const std::uint64_t end = now();
  recordWait(name, begin, end);
  if (result == kSuccess)
    settle(handle, reinterpret_cast<const void*>(used), end);
  else
    abandon(handle);
  return result;
}

template <typename Real>
int testOne(Real real, Name& name, Word place, Word flag, Word status) {
  const Handle handle = gSession.abi->handleAt(place, 0);
  Status own;
  const Word used = wantStatus(status, own);
  const std::uint64_t begin = now();
  const int result = real(place, flag, used);
  if (result == kSuccess && !isSet(flag))
    return result;
  const std::uint64_t end = now();
  recordWait(name, begin, end);
  if (result == kSuccess)
    settle(handle, reinterpret_cast<const void*>(used), end);
  else
    abandon(handle);
  return result;
}

// Several requests at a time: their handles, which MPI takes from the program's array, and a status
// each. What is more than `kFew` of them lies in memory of its own for the time of the call.
struct Batch {
  static constexpr std::size_t kFew = 64;
  std::size_t count;
  Handle* handles;  // nullptr: there is no memory for them
  Word statuses;    // what MPI is given
  void* memory;
  std::size_t memoryBytes;
  Handle fewHandles[kFew];
  Status fewStatuses[kFew];

  const void* status(std::size_t at) const noexcept {
    return reinterpret_cast<const char*>(statuses) + at * gSession.abi->statusBytes;
  }
};

void open(Batch& batch, Word count, Word requests, Word statuses) noexcept {
  const bool wanted = statuses == gSession.abi->ignoreStatus;
  batch.count = intOf(count) < 0 ? 0 : static_cast<std::size_t>(intOf(count));
  batch.handles = batch.fewHandles;
  batch.statuses = wanted ? reinterpret_cast<Word>(batch.fewStatuses) : statuses;
  batch.memory = nullptr;
  batch.memoryBytes = 0;
  if (batch.count > Batch::kFew) {
    batch.memoryBytes = batch.count * (sizeof(Handle) + (wanted ? sizeof(Status) : 0));
    batch.memory = mapMemory(batch.memoryBytes);
    batch.handles = static_cast<Handle*>(batch.memory);
    if (wanted)
      batch.statuses =
          batch.memory == nullptr ? statuses : reinterpret_cast<Word>(batch.handles + batch.count);
  }
  for (std::size_t at = 0; batch.handles != nullptr && at < batch.count; ++at)
    batch.handles[at] = gSession.abi->handleAt(requests, at);
  if (batch.handles == nullptr)
    gSession.hooks->lose(wire::RecordKind::Message,
                         wire::LossReason::Definitions,
                         static_cast<std::uint32_t>(batch.count));
}

void close(const Batch& batch) noexcept {
  unmapMemory(batch.memory, batch.memoryBytes);
}

// Some of them failed. Those whose handle is still there are not done.
void sortOut(const Batch& batch, Word requests, std::uint64_t end) noexcept {
  for (std::size_t at = 0; batch.handles != nullptr && at < batch.count; ++at) {
    if (gSession.abi->handleAt(requests, at) == batch.handles[at])
      continue;
    if (gSession.abi->errorIn(batch.status(at)) == kSuccess)
      settle(batch.handles[at], batch.status(at), end);
    else
      abandon(batch.handles[at]);
  }
}

// All of them, after MPI_Waitall or MPI_Testall.
void settleAll(Batch& batch, Name& name, Word requests, int result, std::uint64_t begin) noexcept {
  const std::uint64_t end = now();
  recordWait(name, begin, end);
  if (result != kSuccess)
    sortOut(batch, requests, end);
  for (std::size_t at = 0; result == kSuccess && batch.handles != nullptr && at < batch.count; ++at)
    settle(batch.handles[at], batch.status(at), end);
}

template <typename Real>
int waitAll(Real real, Name& name, Word count, Word requests, Word statuses) {
  Batch batch;
  open(batch, count, requests, statuses);
  const std::uint64_t begin = now();
  const int result = real(count, requests, batch.statuses);
  settleAll(batch, name, requests, result, begin);
  close(batch);
  return result;
}

template <typename Real>
int testAll(Real real, Name& name, Word count, Word requests, Word flag, Word statuses) {
  Batch batch;
  open(batch, count, requests, statuses);
  const std::uint64_t begin = now();
  const int result = real(count, requests, flag, batch.statuses);
  if (result != kSuccess || isSet(flag))
    settleAll(batch, name, requests, result, begin);
  close(batch);
  return result;
}

// The one that MPI_Waitany or MPI_Testany has found.
void settleOne(const Batch& batch,
               Name& name,
               Word place,
               Word status,
               int result,
               std::uint64_t begin) noexcept {
  const std::uint64_t end = now();
  recordWait(name, begin, end);
  if (result != kSuccess || place == 0)
    return;  // nobody may have written there
  const int index = *reinterpret_cast<const int*>(place);
  if (batch.handles == nullptr || index < 0 || static_cast<std::size_t>(index) >= batch.count)
    return;
  settle(batch.handles[index], reinterpret_cast<const void*>(status), end);
}

template <typename Real>
int waitAny(Real real, Name& name, Word count, Word requests, Word index, Word status) {
  Batch batch;
  Status own;
  const Word used = wantStatus(status, own);
  open(batch, count, requests, used);
  const std::uint64_t begin = now();
  const int result = real(count, requests, index, used);
  settleOne(batch, name, index, used, result, begin);
  close(batch);
  return result;
}

template <typename Real>
int testAny(Real real, Name& name, Word count, Word requests, Word index, Word flag, Word status) {
  Batch batch;
  Status own;
  const Word used = wantStatus(status, own);
  open(batch, count, requests, used);
  const std::uint64_t begin = now();
  const int result = real(count, requests, index, flag, used);
  if (result != kSuccess || isSet(flag))
    settleOne(batch, name, index, used, result, begin);
  close(batch);
  return result;
}

// MPI_Waitsome and MPI_Testsome: which of them, and a status for each of these.
template <bool tests, typename Real>
int some(Real real, Name& name, Word count, Word requests, Word done, Word indices, Word statuses) {
  Batch batch;
  open(batch, count, requests, statuses);
  const std::uint64_t begin = now();
  const int result = real(count, requests, done, indices, batch.statuses);
  // After an error nobody may have written there.
  const int found = result == kSuccess ? *reinterpret_cast<const int*>(done) : 0;
  if (!tests || result != kSuccess || found > 0) {
    const std::uint64_t end = now();
    recordWait(name, begin, end);
    const int* const which = reinterpret_cast<const int*>(indices);
    for (int at = 0; batch.handles != nullptr && at < found; ++at) {
      const auto index = static_cast<std::size_t>(at);
      if (result == kSuccess || gSession.abi->errorIn(batch.status(index)) == kSuccess)
        settle(batch.handles[which[at]], batch.status(index), end);
      else
        abandon(batch.handles[which[at]]);
    }
  }
  close(batch);
  return result;
}

template <typename Real>
int waitSome(Real real, Name& name, Word n, Word requests, Word done, Word indices, Word statuses) {
  return some<false>(real, name, n, requests, done, indices, statuses);
}
template <typename Real>
int testSome(Real real, Name& name, Word n, Word requests, Word done, Word indices, Word statuses) {
  return some<true>(real, name, n, requests, done, indices, statuses);
}

// A send that the program will not wait for ends at some time after this.
template <typename Real>
int freeRequest(Real real, Name& name, Word place) {
  const Handle handle = gSession.abi->handleAt(place, 0);
  const std::uint64_t begin = now();
  const int result = real(place);
  const std::uint64_t end = now();
  gSession.hooks->call(wire::SliceKind::Api, name(), {begin, end});
  const Request* const request = result == kSuccess ? findRequest(handle) : nullptr;
  if (request == nullptr)
    return result;
  if (request->started && request->kind == RequestKind::Send)
    finish(*request, nullptr, end);
  else if (request->started)
    giveUp(*request);
  removeRequest(handle);
  return result;
}

}  // namespace
}  // namespace sonde::preload::mpi

namespace mpi = sonde::preload::mpi;
using mpi::Word;

SONDE_MPI(Wait,
          SONDE_MPI_WORDS(Word request, Word status),
          SONDE_MPI_WORDS(request, status),
          mpi::waitOne)
SONDE_MPI(Test,
          SONDE_MPI_WORDS(Word request, Word flag, Word status),
          SONDE_MPI_WORDS(request, flag, status),
          mpi::testOne)
SONDE_MPI(Waitall,
          SONDE_MPI_WORDS(Word count, Word requests, Word statuses),
          SONDE_MPI_WORDS(count, requests, statuses),
          mpi::waitAll)
SONDE_MPI(Testall,
          SONDE_MPI_WORDS(Word count, Word requests, Word flag, Word statuses),
          SONDE_MPI_WORDS(count, requests, flag, statuses),
          mpi::testAll)
SONDE_MPI(Waitany,
          SONDE_MPI_WORDS(Word count, Word requests, Word index, Word status),
          SONDE_MPI_WORDS(count, requests, index, status),
          mpi::waitAny)
SONDE_MPI(Testany,
          SONDE_MPI_WORDS(Word count, Word requests, Word index, Word flag, Word status),
          SONDE_MPI_WORDS(count, requests, index, flag, status),
          mpi::testAny)
SONDE_MPI(Waitsome,
          SONDE_MPI_WORDS(Word count, Word requests, Word done, Word indices, Word statuses),
          SONDE_MPI_WORDS(count, requests, done, indices, statuses),
          mpi::waitSome)
SONDE_MPI(Testsome,
          SONDE_MPI_WORDS(Word count, Word requests, Word done, Word indices, Word statuses),
          SONDE_MPI_WORDS(count, requests, done, indices, statuses),
          mpi::testSome)
SONDE_MPI(Request_free, SONDE_MPI_WORDS(Word request), SONDE_MPI_WORDS(request), mpi::freeRequest)
