#include "collector/preload/mpi/mpi_requests.h"

#include "collector/preload/mpi/mpi_library.h"

namespace sonde::preload::mpi {
namespace {

// Buckets of one cache line of handles each; a request is in its own or in one of the next.
constexpr std::uint32_t kBucket = 8;
constexpr std::uint32_t kBuckets = 8192;
constexpr std::uint32_t kLook = 4;
constexpr Handle kTaken = ~Handle{0};

struct Bucket {
  alignas(64) std::atomic<Handle> handles[kBucket];  // 0: free
};
constinit Bucket gHandles[kBuckets] = {};
constinit Request gRequests[kBuckets][kBucket] = {};

struct Place {
  std::uint32_t bucket;
  std::uint32_t slot;
};

std::uint32_t bucketOf(Handle handle, std::uint32_t step) noexcept {
  const auto spread = static_cast<std::uint32_t>(handle * 0x9e37'79b9'7f4a'7c15U >> 40);
  return (spread + step) % kBuckets;
}

bool find(Handle handle, Place& place) noexcept {
  for (std::uint32_t step = 0; step < kLook; ++step) {
    place.bucket = bucketOf(handle, step);
    for (place.slot = 0; place.slot < kBucket; ++place.slot) {
      if (gHandles[place.bucket].handles[place.slot].load(std::memory_order_acquire) == handle)
        return true;
    }
  }
  return false;
}

bool takeFree(Handle handle, Place& place) noexcept {
  for (std::uint32_t step = 0; step < kLook; ++step) {
    place.bucket = bucketOf(handle, step);
    for (place.slot = 0; place.slot < kBucket; ++place.slot) {
      Handle free = 0;
      if (gHandles[place.bucket].handles[place.slot].compare_exchange_strong(free, kTaken))
        return true;
    }
  }
  return false;
}

}  // namespace

bool addRequest(Handle handle, const Request& request) noexcept {
  Place place{};
  if (find(handle, place)) {
    gSession.hooks->lose(wire::RecordKind::Message, wire::LossReason::Unbalanced, 1);
    letCommunicatorGo(gRequests[place.bucket][place.slot].communicator);
  } else if (!takeFree(handle, place)) {
    return false;
  }
  holdCommunicator(request.communicator);
  gRequests[place.bucket][place.slot] = request;
  gHandles[place.bucket].handles[place.slot].store(handle, std::memory_order_release);
  return true;
}

Request* findRequest(Handle handle) noexcept {
  Place place{};
  return find(handle, place) ? &gRequests[place.bucket][place.slot] : nullptr;
}

void removeRequest(Handle handle) noexcept {
  Place place{};
  if (!find(handle, place))
    return;
  Communicator* const communicator = gRequests[place.bucket][place.slot].communicator;
  gHandles[place.bucket].handles[place.slot].store(0, std::memory_order_release);
  letCommunicatorGo(communicator);
}

std::uint32_t requestsLeft() noexcept {
  std::uint32_t left = 0;
  for (std::uint32_t bucket = 0; bucket < kBuckets; ++bucket) {
    for (std::uint32_t slot = 0; slot < kBucket; ++slot) {
      const Handle handle = gHandles[bucket].handles[slot].load(std::memory_order_acquire);
      left += handle != 0 && handle != kTaken && gRequests[bucket][slot].started ? 1 : 0;
    }
  }
  return left;
}

}  // namespace sonde::preload::mpi
