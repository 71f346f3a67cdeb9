#include "collector/preload/nccl/nccl_call_pool.h"

#include "collector/core/platform/bounded.h"
#include "collector/core/platform/clock.h"

#include <atomic>

namespace sonde::preload::nccl {
namespace {

constexpr std::uint32_t kMaxTries = 256;

// generation << 32 | the bits below | children.
constexpr std::uint64_t kClaimed = 1u << 31;  // being written
constexpr std::uint64_t kRunning = 1u << 30;  // not enqueued yet
constexpr std::uint64_t kTold = 1u << 29;
constexpr std::uint64_t kNothing = 1u << 28;  // and will not be reported
constexpr std::uint64_t kChildren = kNothing - 1;
constexpr std::uint64_t kInUse = kClaimed | kRunning | kChildren;

struct Place {
  std::atomic<std::uint64_t> state;
  std::atomic<std::uint64_t> last;  // a Stamp: when the last child stopped
  SharedValue<Call> call;
};

constinit Place gPlaces[kMaxCalls]{};
constinit std::atomic<std::uint32_t> gNext{0};

std::uint64_t stateOf(std::uint32_t generation, std::uint64_t bits) noexcept {
  return std::uint64_t{generation} << 32 | bits;
}

std::uint32_t generationOf(std::uint64_t state) noexcept {
  return static_cast<std::uint32_t>(state >> 32);
}

Handle handleOf(const Place& place, std::uint64_t state) noexcept {
  return {HandleKind::Call, generationOf(state), static_cast<std::uint32_t>(&place - gPlaces)};
}

// The lowest bits of a generation << kTickBits | the lowest bits of ticks, 0 if none. A child that
// leaves a call whose place was reused finds another generation.
using Stamp = std::uint64_t;
constexpr int kTickBits = 56;
constexpr std::uint64_t kTicks = (std::uint64_t{1} << kTickBits) - 1;

Stamp stampOf(std::uint32_t generation, std::uint64_t ticks) noexcept {
  return std::uint64_t{generation} << kTickBits | (ticks & kTicks);
}

// Restores the highest bits so that the result is nearest to now.
std::uint64_t ticksOf(Stamp stamp) noexcept {
  const std::uint64_t now = core::readTicks();
  const auto passed = static_cast<std::int64_t>((now - stamp) << (64 - kTickBits));
  return (stamp & kTicks) == 0 ? 0 : now - static_cast<std::uint64_t>(passed >> (64 - kTickBits));
}

// nullptr: all places that were tried are in use.
Place* take(std::uint32_t& generation) noexcept {
  for (std::uint32_t tries = 0; tries < kMaxTries; ++tries) {
    Place& place = gPlaces[gNext.fetch_add(1, std::memory_order_relaxed) % kMaxCalls];
    std::uint64_t state = place.state.load(std::memory_order_acquire);
    generation = generationOf(state) + 1;
    if ((state & kInUse) == 0 &&
        place.state.compare_exchange_strong(
            state, stateOf(generation, kClaimed), std::memory_order_acq_rel))
      return &place;
  }
  return nullptr;
}

Place* placeOf(Handle handle) noexcept {
  return handle.kind == HandleKind::Call && handle.index < kMaxCalls ? &gPlaces[handle.index]
                                                                     : nullptr;
}

bool isOf(Handle handle, std::uint64_t state) noexcept {
  return generationOf(state) == handle.generation && (state & kClaimed) == 0;
}

bool stateOfCall(Handle handle, std::uint64_t& state) noexcept {
  const Place* const place = placeOf(handle);
  if (place == nullptr)
    return false;
  state = place->state.load(std::memory_order_acquire);
  return isOf(handle, state);
}

template <typename Part>
bool readFirst(Handle handle, Part& part) noexcept {
  std::uint64_t state = 0;
  if (!stateOfCall(handle, state))
    return false;
  gPlaces[handle.index].call.get(part);
  return stateOfCall(handle, state);
}

// Changes the call's state to change(state), unless that is the same. `state` gets the previous
// state. Also returns nullptr if others keep changing it; the caller then treats the call as gone.
template <typename Change>
Place* exchange(Handle handle, std::uint64_t& state, Change change) noexcept {
  Place* const place = placeOf(handle);
  if (place == nullptr)
    return nullptr;
  const auto next = [&](std::uint64_t before) {
    return isOf(handle, before) ? change(before) : before;
  };
  return core::exchangeWith(place->state, state, next) ? place : nullptr;
}

CallRest restOf(const Place& place, std::uint64_t state) noexcept {
  return {(state & kRunning) != 0,
          (state & kChildren) != 0,
          ticksOf(place.last.load(std::memory_order_acquire))};
}

}  // namespace

Handle publishCall(const Call& call, bool isNothing) noexcept {
  std::uint32_t generation = 0;
  Place* const place = take(generation);
  if (place == nullptr)
    return {};
  place->last.store(stampOf(generation, 0), std::memory_order_relaxed);
  place->call.put(call);
  const std::uint64_t state = stateOf(generation, kRunning | (isNothing ? kNothing : 0));
  place->state.store(state, std::memory_order_release);
  return handleOf(*place, state);
}

bool readCall(Handle handle, Call& call) noexcept {
  return readFirst(handle, call);
}

bool readCall(Handle handle, CallIdentity& identity) noexcept {
  return readFirst(handle, identity);
}

bool finishCall(Handle handle, CallRest& rest) noexcept {
  std::uint64_t state = 0;
  const Place* const place =
      exchange(handle, state, [](std::uint64_t before) { return before & ~kRunning; });
  if (place == nullptr)
    return false;
  rest = restOf(*place, state);
  return true;
}

bool closeCall(Handle handle, CallRest& rest) noexcept {
  std::uint64_t state = 0;
  const Place* const place = exchange(handle, state, [](std::uint64_t before) {
    return (before & kInUse) == 0 ? before : stateOf(generationOf(before) + 1, 0);
  });
  if (place == nullptr)
    return false;
  rest = restOf(*place, state);
  return true;
}

bool joinChild(Handle handle) noexcept {
  std::uint64_t state = 0;
  return exchange(handle, state, [](std::uint64_t before) { return before + 1; }) != nullptr;
}

bool leaveChild(Handle handle, std::uint64_t ticks, std::uint64_t& latest) noexcept {
  std::uint64_t state = 0;
  if (!stateOfCall(handle, state))
    return false;
  std::atomic<Stamp>& last = gPlaces[handle.index].last;
  const Stamp mine = stampOf(handle.generation, ticks);
  const auto isIts = [&](Stamp stamp) { return (stamp ^ mine) >> kTickBits == 0; };
  const auto later = [&](Stamp stamp) {
    return isIts(stamp) && ticksOf(stamp) < ticks ? mine : stamp;
  };
  Stamp there = 0;
  core::exchangeWith(last, there, later);
  if (!isIts(there))
    return false;
  latest = ticksOf(there);
  latest = latest < ticks ? ticks : latest;
  const bool left = exchange(handle, state, [](std::uint64_t before) {
                      return (before & kChildren) == 0 ? before : before - 1;
                    }) != nullptr;
  return left && (state & kRunning) == 0 && (state & kChildren) == 1;
}

bool tellOfCall(Handle handle) noexcept {
  std::uint64_t state = 0;
  return exchange(handle, state, [](std::uint64_t before) { return before | kTold; }) != nullptr;
}

void passOverCall(Handle handle) noexcept {
  std::uint64_t state = 0;
  exchange(handle, state, [](std::uint64_t before) { return before | kNothing; });
}

bool isUntold(Handle handle) noexcept {
  std::uint64_t state = 0;
  return stateOfCall(handle, state) && (state & (kTold | kNothing)) == 0;
}

bool isOpen(Handle handle) noexcept {
  std::uint64_t state = 0;
  return stateOfCall(handle, state) && (state & kInUse) != 0;
}

Handle callBefore(std::uint32_t back) noexcept {
  const std::uint32_t next = gNext.load(std::memory_order_relaxed);
  const Place& place = gPlaces[(next - 1 - back) % kMaxCalls];
  const std::uint64_t state = place.state.load(std::memory_order_acquire);
  return generationOf(state) == 0 || (state & kClaimed) != 0 ? Handle{} : handleOf(place, state);
}

}  // namespace sonde::preload::nccl
