#include "collector/preload/mpi/interposer/mpi_requests.h"

#include "collector/preload/mpi/interposer/mpi_library.h"

namespace sonde::preload::mpi {
namespace {

// Buckets of one cache line of handles each. A request is in its own bucket or one of the next.
constexpr std::uint32_t kBucket = 8;
constexpr std::uint32_t kBuckets = 8192;
constexpr std::uint32_t kLook = 4;
constexpr Handle kTaken = ~Handle{0};
constexpr RequestOrder kAny = ~RequestOrder{0};

// A slot's order is written before its handle: an unchanged order belongs to the handle.
struct Bucket {
  alignas(64) std::atomic<Handle> handles[kBucket];  // 0: free
  std::atomic<RequestOrder> orders[kBucket];
};
constinit Bucket gBuckets[kBuckets] = {};
constinit Request gRequests[kBuckets][kBucket] = {};
constinit std::atomic<RequestOrder> gAdded{0};

struct Place {
  std::uint32_t bucket;
  std::uint32_t slot;

  std::atomic<Handle>& handle() const noexcept { return gBuckets[bucket].handles[slot]; }
  std::atomic<RequestOrder>& order() const noexcept { return gBuckets[bucket].orders[slot]; }
  Request& request() const noexcept { return gRequests[bucket][slot]; }
};

// Calls `visit` for the slots in which the handle may be and whose value is `held`, until `visit`
// returns true.
template <typename Visit>
[[gnu::always_inline]] inline bool visitSlots(Handle handle, Handle held, Visit visit) noexcept {
  const auto home = static_cast<std::uint32_t>(handle * 0x9e37'79b9'7f4a'7c15U >> 40);
  for (std::uint32_t step = 0; step < kLook; ++step) {
    const std::uint32_t bucket = (home + step) % kBuckets;
    for (std::uint32_t slot = 0; slot < kBucket; ++slot) {
      if (gBuckets[bucket].handles[slot].load(std::memory_order_acquire) == held &&
          visit(Place{bucket, slot}))
        return true;
    }
  }
  return false;
}

// Whether the handle is there, and its order; other threads may be about to change it.
bool isThere(const Place& place, Handle handle, RequestOrder& order) noexcept {
  order = place.order().load(std::memory_order_acquire);
  return place.handle().load(std::memory_order_acquire) == handle &&
         place.order().load(std::memory_order_relaxed) == order;
}

struct Found {
  std::uint32_t count;
  Place newest;
  Place oldest;
};

// The requests with this handle that were added before id.before.
Found findAll(const RequestId& id) noexcept {
  Found found{};
  RequestOrder newest = 0;
  RequestOrder oldest = 0;
  visitSlots(id.handle, id.handle, [&](const Place& place) {
    RequestOrder order = 0;
    if (!isThere(place, id.handle, order) || order >= id.before)
      return false;
    if (found.count == 0 || order > newest) {
      newest = order;
      found.newest = place;
    }
    if (found.count == 0 || order < oldest) {
      oldest = order;
      found.oldest = place;
    }
    ++found.count;
    return false;
  });
  return found;
}

bool find(const RequestId& id, Place& place) noexcept {
  if (gSession.manyThreads) {
    const Found found = findAll(id);
    place = found.newest;
    return found.count != 0;
  }
  return visitSlots(id.handle, id.handle, [&](const Place& at) {
    place = at;
    return true;
  });
}

bool takeFree(Handle handle, Place& place) noexcept {
  return visitSlots(handle, 0, [&](const Place& at) {
    Handle free = 0;
    place = at;
    return at.handle().compare_exchange_strong(free, kTaken);
  });
}

// Replaces a request whose end was not seen.
bool takeOver(Handle handle, const Place& place) noexcept {
  Handle gone = handle;
  if (!place.handle().compare_exchange_strong(gone, kTaken))
    return false;
  gSession.hooks->lose(wire::RecordKind::Message, wire::LossReason::Unbalanced, 1);
  letCommunicatorGo(place.request().communicator);
  return true;
}

// When threads wait for requests, a handle may have several entries, at most one per thread.
bool take(Handle handle, Place& place) noexcept {
  constexpr std::uint32_t kMostOfOne = 8;
  if (gSession.manyThreads) {
    const Found found = findAll({handle, kAny});
    place = found.oldest;
    if (found.count >= kMostOfOne && takeOver(handle, place))
      return true;
  } else if (find({handle, kAny}, place)) {
    return takeOver(handle, place);
  }
  return takeFree(handle, place);
}

}  // namespace

RequestOrder requestsSoFar() noexcept {
  return gSession.manyThreads ? gAdded.load(std::memory_order_relaxed) : kAny;
}

bool addRequest(Handle handle, const Request& request) noexcept {
  Place place{};
  if (!take(handle, place))
    return false;
  holdCommunicator(request.communicator);
  if (gSession.manyThreads)
    place.order().store(gAdded.fetch_add(1, std::memory_order_relaxed), std::memory_order_release);
  place.request() = request;
  place.handle().store(handle, std::memory_order_release);
  return true;
}

Request* findRequest(const RequestId& id) noexcept {
  Place place{};
  return find(id, place) ? &place.request() : nullptr;
}

void removeRequest(Request& request) noexcept {
  const auto at = static_cast<std::uint32_t>(&request - &gRequests[0][0]);
  Communicator* const communicator = request.communicator;
  const Place place{at / kBucket, at % kBucket};
  place.handle().store(0, std::memory_order_release);
  letCommunicatorGo(communicator);
}

std::uint32_t requestsLeft() noexcept {
  std::uint32_t left = 0;
  for (std::uint32_t bucket = 0; bucket < kBuckets; ++bucket) {
    for (std::uint32_t slot = 0; slot < kBucket; ++slot) {
      const Handle handle = gBuckets[bucket].handles[slot].load(std::memory_order_acquire);
      left += handle != 0 && handle != kTaken && gRequests[bucket][slot].started ? 1 : 0;
    }
  }
  return left;
}

}  // namespace sonde::preload::mpi
