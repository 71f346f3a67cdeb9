#include "collector/preload/cuda/activity/cuda_delivery.h"

#include "collector/core/emit.h"
#include "collector/preload/cuda/activity/cuda_buffers.h"
#include "collector/preload/cuda/activity/cuda_decode.h"

#include <errno.h>
#include <pthread.h>

#include <atomic>

namespace sonde::preload::cuda {
namespace {

using cupti::Status;

const cupti::Api* gCupti = nullptr;
Decoder gDecoder;
// Guards gDecoder. Never held across a call of CUPTI: that may wait for a lock which CUPTI holds
// while it delivers a buffer on another thread.
pthread_mutex_t gDecoding = PTHREAD_MUTEX_INITIALIZER;

const char* callbackName(cupti::Domain domain, std::uint32_t cbid) noexcept {
  const char* name = nullptr;
  return gCupti->getCallbackName(domain, cbid, &name) == Status::Success ? name : nullptr;
}

void countLost(std::uint32_t records) noexcept {
  core::countLoss(wire::Probe::Cuda, wire::RecordKind::Kernel, wire::LossReason::Tracer, records);
}

// While CUPTI has a buffer, the buffer counts as one lost record: its records, an unknown number,
// are lost if the process is killed. One word, so that no buffer is counted twice or missed. It
// holds the number of buffers that CUPTI has plus kEnd times the number of ends in effect
// (endDelivery). During an end no buffer counts.
constexpr std::uint32_t kEnd = 1U << 16;
static_assert(kMostBuffers < kEnd);
std::atomic<std::uint32_t> gHeld{0};

void uncountLost(std::uint32_t records) noexcept {
  core::uncountLoss(wire::Probe::Cuda, wire::RecordKind::Kernel, wire::LossReason::Tracer, records);
}

void holdBuffer() noexcept {
  if (gHeld.fetch_add(1, std::memory_order_relaxed) < kEnd)
    countLost(1);
}

void releaseBuffer() noexcept {
  if (gHeld.fetch_sub(1, std::memory_order_relaxed) < kEnd)
    uncountLost(1);
}

// CUPTI before 12.9 crashes if it gets no buffer. If none is free, it fills this one, which is
// never read.
alignas(8) std::uint8_t gDiscard[64 * 1024];

bool isDiscard(const std::uint8_t* buffer) noexcept {
  return buffer == gDiscard;
}

// Decodes in batches, because CUPTI is asked for records without gDecoding.
Status decodeBuffer(std::uint8_t* buffer, std::size_t valid) noexcept {
  constexpr std::size_t kBatch = 64;
  const cupti::Record* batch[kBatch];
  cupti::Record* record = nullptr;
  Status status = Status::Success;
  // Every record has at least 8 bytes, so this loop ends whatever CUPTI returns.
  std::size_t left = valid / sizeof(std::uint64_t) + 1;
  for (bool isFirst = true; status == Status::Success && left > 0; isFirst = false) {
    std::size_t count = 0;
    while (count < kBatch && left > 0 &&
           (status = gCupti->getNextRecord(buffer, valid, &record)) == Status::Success) {
      batch[count++] = record;
      --left;
    }
    pthread_mutex_lock(&gDecoding);
    if (isFirst)
      gDecoder.beginBuffer();
    for (std::size_t at = 0; at < count; ++at)
      gDecoder.decode(batch[at]);
    if (status != Status::Success || left == 0)
      gDecoder.endBuffer();
    pthread_mutex_unlock(&gDecoding);
  }
  return status;
}

}  // namespace

bool beginDelivery(const cupti::Api& api, std::uint32_t version) noexcept {
  gCupti = &api;
  return gDecoder.begin(version, callbackName);
}

void requestBuffer(std::uint8_t** buffer, std::size_t* size, std::size_t* maxRecords) noexcept {
  *buffer = takeBuffer();
  *size = kBufferBytes;
  *maxRecords = 0;
  if (*buffer == nullptr) {
    *buffer = gDiscard;
    *size = sizeof gDiscard;
  } else {
    holdBuffer();
  }
}

void completeBuffer(void* context,
                    std::uint32_t stream,
                    std::uint8_t* buffer,
                    std::size_t,
                    std::size_t valid) noexcept {
  const int error = errno;
  if (buffer != nullptr && valid > 0 && !isDiscard(buffer)) {
    // An invalid record: all records after it are lost.
    if (decodeBuffer(buffer, valid) != Status::MaxLimitReached)
      countLost(1);
  }
  if (isDiscard(buffer)) {
    countLost(1);  // at least
  } else if (buffer != nullptr) {
    returnBuffer(buffer);
    releaseBuffer();
  }
  std::size_t dropped = 0;
  if (gCupti->getDroppedRecords(context, stream, &dropped) == Status::Success && dropped > 0)
    countLost(static_cast<std::uint32_t>(dropped));
  errno = error;
}

void endDelivery() noexcept {
  pthread_mutex_lock(&gDecoding);
  gDecoder.end();
  pthread_mutex_unlock(&gDecoding);
  if (const std::uint32_t held = gHeld.fetch_add(kEnd, std::memory_order_relaxed); held < kEnd)
    uncountLost(held);
}

void resumeDelivery() noexcept {
  const std::uint32_t held = gHeld.fetch_sub(kEnd, std::memory_order_relaxed) - kEnd;
  if (held < kEnd)
    countLost(held);
}

void countUndelivered() noexcept {
  if (gHeld.load(std::memory_order_relaxed) % kEnd == 0)
    countLost(1);
}

void countDiscarded() noexcept {
  countLost(1);  // at least
}

void leaveOutCallsOf(std::int32_t tid, std::uint64_t untilTicks) noexcept {
  gDecoder.leaveOutCallsOf(tid, untilTicks);
}

bool hasManagedMemory() noexcept {
  return gDecoder.hasManagedMemory();
}

}  // namespace sonde::preload::cuda
