// The end of requests: waits and tests. A test or a probe that finds nothing leaves no record,
// because programs call them a million times a second.
#include "collector/preload/mpi/interposer/mpi_batch.h"
#include "collector/preload/mpi/interposer/mpi_wrapper.h"

namespace sonde::preload::mpi {
namespace {

// A request has ended. Unless it is persistent, the program no longer has its handle.
void settle(const RequestId& id, const void* status, std::uint64_t end) noexcept {
  Request* const request = findRequest(id);
  if (request == nullptr)
    return;
  if (request->started)
    finish(*request, status, end);
  request->started = false;
  if (!request->persistent)
    removeRequest(*request);
}

// A request has failed.
void abandon(const RequestId& id) noexcept {
  Request* const request = findRequest(id);
  if (request == nullptr)
    return;
  if (request->started)
    giveUp(*request);
  request->started = false;
  if (!request->persistent)
    removeRequest(*request);
}

bool isSet(Word flag) noexcept {
  return flag != 0 && *reinterpret_cast<const int*>(flag) != 0;
}

void recordWait(Name& name, std::uint64_t begin, std::uint64_t end) noexcept {
  gSession.hooks->call(wire::SliceKind::Wait, name(), {begin, end});
}

// A wait for one message shows which one.
OpenCall openRequest(const RequestId& id,
                     std::uint32_t name,
                     std::uint64_t begin,
                     const void* frame) noexcept {
  const Request* const request = findRequest(id);
  if (request == nullptr || !request->started || request->communicator == nullptr ||
      (request->kind != RequestKind::Send && request->kind != RequestKind::Receive))
    return openWait(name, begin, frame);
  const Envelope envelope{
      static_cast<Word>(request->communicator->handle.load(std::memory_order_relaxed)),
      static_cast<Word>(request->peer),
      static_cast<Word>(request->tag)};
  const Way way = request->kind == RequestKind::Send ? Way::Send : Way::Receive;
  return openMessage(envelope, way, name, begin, frame);
}

template <typename Real>
int waitOne(Real real, Name& name, Word place, Word status) {
  const RequestId id = requestOf(gSession.abi->handleAt(place, 0));
  Status own;
  const Word used = wantStatus(status, own);
  const std::uint64_t begin = now();
  const OpenCall open = openRequest(id, name(), begin, __builtin_frame_address(0));
  const int result = real(place, used);
  closeCall(open);
  const std::uint64_t end = now();
  recordWait(name, begin, end);
  if (result == kSuccess)
    settle(id, reinterpret_cast<const void*>(used), end);
  else
    abandon(id);
  return result;
}

template <typename Real>
int testOne(Real real, Name& name, Word place, Word flag, Word status) {
  const RequestId id = requestOf(gSession.abi->handleAt(place, 0));
  Status own;
  const Word used = wantStatus(status, own);
  const std::uint64_t begin = now();
  const int result = real(place, flag, used);
  if (result == kSuccess && !isSet(flag))
    return result;
  const std::uint64_t end = now();
  recordWait(name, begin, end);
  if (result == kSuccess)
    settle(id, reinterpret_cast<const void*>(used), end);
  else
    abandon(id);
  return result;
}

// The program keeps the request: only its message or other operation has ended.
template <typename Real>
int getStatus(Real real, Name& name, Word handle, Word flag, Word status) {
  const RequestId id = requestOf(gSession.abi->handle(handle));
  Status own;
  const Word used = wantStatus(status, own);
  const std::uint64_t begin = now();
  const int result = real(handle, flag, used);
  Request* const request = result == kSuccess && isSet(flag) ? findRequest(id) : nullptr;
  if (request == nullptr || !request->started)
    return result;
  const std::uint64_t end = now();
  recordWait(name, begin, end);
  finish(*request, reinterpret_cast<const void*>(used), end);
  request->started = false;
  return result;
}

// Finds out which requests are done: MPI has replaced their handles. For persistent requests only
// the status shows it.
void sortOut(const Batch& batch, Word requests, int result, std::uint64_t end) noexcept {
  const bool told = gSession.abi->isInStatus(result);
  for (std::size_t at = 0; batch.handles != nullptr && at < batch.count; ++at) {
    const Request* const request = findRequest(batch.id(at));
    const bool gone = gSession.abi->handleAt(requests, at) != batch.handles[at];
    if (request == nullptr || (!gone && !(told && request->persistent)))
      continue;
    const int error = told ? gSession.abi->errorIn(batch.status(at)) : kOtherError;
    if (error == kSuccess)
      settle(batch.id(at), batch.status(at), end);
    else if (!gSession.abi->isPending(error))
      abandon(batch.id(at));
  }
}

// Ends all requests after MPI_Waitall or MPI_Testall.
void settleAll(Batch& batch, Name& name, Word requests, int result, std::uint64_t begin) noexcept {
  const std::uint64_t end = now();
  recordWait(name, begin, end);
  if (result != kSuccess)
    sortOut(batch, requests, result, end);
  for (std::size_t at = 0; result == kSuccess && batch.handles != nullptr && at < batch.count; ++at)
    settle(batch.id(at), batch.status(at), end);
}

template <typename Real>
int waitAll(Real real, Name& name, Word count, Word requests, Word statuses) {
  Batch batch;
  openBatch(batch, count, requests, statuses);
  const std::uint64_t begin = now();
  const OpenCall open = openWait(name(), begin, __builtin_frame_address(0));
  const int result = real(count, requests, batch.statuses);
  closeCall(open);
  settleAll(batch, name, requests, result, begin);
  closeBatch(batch);
  return result;
}

template <typename Real>
int testAll(Real real, Name& name, Word count, Word requests, Word flag, Word statuses) {
  Batch batch;
  openBatch(batch, count, requests, statuses);
  const std::uint64_t begin = now();
  const int result = real(count, requests, flag, batch.statuses);
  if (result != kSuccess || isSet(flag))
    settleAll(batch, name, requests, result, begin);
  closeBatch(batch);
  return result;
}

// Ends the request that MPI_Waitany or MPI_Testany has found. After a failure `place` may be unset.
void settleOne(const Batch& batch,
               Name& name,
               Word requests,
               Word place,
               Word status,
               int result,
               std::uint64_t begin) noexcept {
  const std::uint64_t end = now();
  recordWait(name, begin, end);
  if (result != kSuccess)
    return sortOut(batch, requests, result, end);
  const int index = place == 0 ? -1 : *reinterpret_cast<const int*>(place);
  if (batch.handles != nullptr && index >= 0 && static_cast<std::size_t>(index) < batch.count)
    settle(batch.id(static_cast<std::size_t>(index)), reinterpret_cast<const void*>(status), end);
}

template <typename Real>
int waitAny(Real real, Name& name, Word count, Word requests, Word index, Word status) {
  Batch batch;
  Status own;
  const Word used = wantStatus(status, own);
  openBatch(batch, count, requests, used);
  const std::uint64_t begin = now();
  const OpenCall open = openWait(name(), begin, __builtin_frame_address(0));
  const int result = real(count, requests, index, used);
  closeCall(open);
  settleOne(batch, name, requests, index, used, result, begin);
  closeBatch(batch);
  return result;
}

template <typename Real>
int testAny(Real real, Name& name, Word count, Word requests, Word index, Word flag, Word status) {
  Batch batch;
  Status own;
  const Word used = wantStatus(status, own);
  openBatch(batch, count, requests, used);
  const std::uint64_t begin = now();
  const int result = real(count, requests, index, flag, used);
  if (result != kSuccess || isSet(flag))
    settleOne(batch, name, requests, index, used, result, begin);
  closeBatch(batch);
  return result;
}

// MPI_Waitsome and MPI_Testsome: they return the indices of finished requests and a status for
// each.
template <bool tests, typename Real>
int some(Real real, Name& name, Word count, Word requests, Word done, Word indices, Word statuses) {
  Batch batch;
  openBatch(batch, count, requests, statuses);
  const std::uint64_t begin = now();
  const OpenCall open = tests ? kNotShown : openWait(name(), begin, __builtin_frame_address(0));
  const int result = real(count, requests, done, indices, batch.statuses);
  closeCall(open);
  // After other errors `done` may be unset.
  const bool told = result == kSuccess || gSession.abi->isInStatus(result);
  const int found = told ? *reinterpret_cast<const int*>(done) : 0;
  if (!tests || result != kSuccess || found > 0) {
    const std::uint64_t end = now();
    recordWait(name, begin, end);
    const int* const which = reinterpret_cast<const int*>(indices);
    for (int at = 0; batch.handles != nullptr && at < found; ++at) {
      const RequestId id = batch.id(static_cast<std::size_t>(which[at]));
      const void* const status = batch.status(static_cast<std::size_t>(at));
      if (result == kSuccess || gSession.abi->errorIn(status) == kSuccess)
        settle(id, status, end);
      else
        abandon(id);
    }
  }
  closeBatch(batch);
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
  const RequestId id = requestOf(gSession.abi->handleAt(place, 0));
  const std::uint64_t begin = now();
  const int result = real(place);
  const std::uint64_t end = now();
  gSession.hooks->call(wire::SliceKind::Api, name(), {begin, end});
  Request* const request = result == kSuccess ? findRequest(id) : nullptr;
  if (request == nullptr)
    return result;
  if (request->started && request->kind == RequestKind::Send)
    finish(*request, nullptr, end);
  else if (request->started)
    giveUp(*request);
  removeRequest(*request);
  return result;
}

template <typename Real>
int cancel(Real real, Name& name, Word place) {
  Request* const request = findRequest(requestOf(gSession.abi->handleAt(place, 0)));
  if (request != nullptr && request->started)
    prepareToCancel(*request);
  const std::uint64_t begin = now();
  const int result = real(place);
  gSession.hooks->call(wire::SliceKind::Api, name(), {begin, now()});
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
SONDE_MPI(Request_get_status,
          SONDE_MPI_WORDS(Word request, Word flag, Word status),
          SONDE_MPI_WORDS(request, flag, status),
          mpi::getStatus)
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
SONDE_MPI(Cancel, SONDE_MPI_WORDS(Word request), SONDE_MPI_WORDS(request), mpi::cancel)
SONDE_MPI(Request_free, SONDE_MPI_WORDS(Word request), SONDE_MPI_WORDS(request), mpi::freeRequest)
