// Objects that NCCL refers to by handle, in fixed pools: no lock, no allocation. A handle consists
// of place and generation and is never used as an address. A handle that is stale, invalid or from
// another process therefore finds nothing.
//
// Any thread. Constant-initialised; memory is touched only where objects were used.
#pragma once

#include "collector/core/platform/bounded.h"

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace sonde::preload::nccl {

enum class HandleKind : std::uint8_t {
  None = 0,
  Communicator = 1,
  Call = 2,
  ProxyOp = 3,
  Step = 4,
  KernelChannel = 5,
  Api = 6,  // a call in nccl_api.h, or no object: its index has its own bits
};

// As NCCL holds it: kind in bits 56–63, generation in 24–55, index in 0–23.
struct Handle {
  HandleKind kind = HandleKind::None;
  std::uint32_t generation = 0;
  std::uint32_t index = 0;

  static Handle of(const void* opaque) noexcept {
    const auto bits = reinterpret_cast<std::uint64_t>(opaque);
    return {static_cast<HandleKind>(bits >> 56),
            static_cast<std::uint32_t>(bits >> 24),
            static_cast<std::uint32_t>(bits & 0xff'ffff)};
  }
  void* opaque() const noexcept {
    return std::bit_cast<void*>(static_cast<std::uint64_t>(kind) << 56 |
                                std::uint64_t{generation} << 24 | index);
  }
  explicit operator bool() const noexcept { return kind != HandleKind::None; }
  bool operator==(const Handle&) const noexcept = default;
};

// A value that one thread writes while it alone owns the object, and that others may read while the
// object is being reused. A reader that gets one word of a later value can see that the object no
// longer belongs to its handle, and must check that.
template <typename Value>
class SharedValue {
 public:
  void put(const Value& value) noexcept {
    const auto* const from = reinterpret_cast<const char*>(&value);
    for (std::size_t at = 0; at < kWords; ++at) {
      std::uint64_t word = 0;
      std::memcpy(&word, from + at * sizeof word, sizeof word);
      __atomic_store_n(&words_[at], word, __ATOMIC_RELEASE);
    }
  }
  // Requires: the value is a Part or begins with one.
  template <typename Part>
  void get(Part& part) const noexcept {
    auto* const to = reinterpret_cast<char*>(&part);
    for (std::size_t at = 0; at < wordsOf<Part>(); ++at) {
      const std::uint64_t word = __atomic_load_n(&words_[at], __ATOMIC_ACQUIRE);
      std::memcpy(to + at * sizeof word, &word, sizeof word);
    }
  }

 private:
  static_assert(std::is_trivially_copyable_v<Value>);
  template <typename Part>
  static constexpr std::size_t wordsOf() noexcept {
    static_assert(sizeof(Part) % sizeof(std::uint64_t) == 0);
    return sizeof(Part) / sizeof(std::uint64_t);
  }
  static constexpr std::size_t kWords = wordsOf<Value>();
  std::uint64_t words_[kWords]{};  // not std::atomic: clang gives up on so many in a constant
};

// The first members of an object in a Pool.
struct Pooled {
  std::atomic<std::uint32_t> generation;  // odd while its handle is valid
  std::atomic<std::uint32_t> next;        // in the list of free objects: index + 1
};

template <typename Object, std::uint32_t kCapacity>
class Pool {
 public:
  // Returns an object without a handle; nullptr: all are in use.
  Object* take() noexcept {
    std::uint64_t head = 0;
    const auto next = [&](std::uint64_t before) -> std::uint64_t {
      const auto first = static_cast<std::uint32_t>(before);
      return first == 0 ? before
                        : ((before >> 32) + 1) << 32 |
                              objects_[first - 1].next.load(std::memory_order_relaxed);
    };
    if (core::exchangeWith(free_, head, next))
      return &objects_[static_cast<std::uint32_t>(head) - 1];
    std::uint32_t fresh = 0;
    const auto more = [](std::uint32_t before) { return before < kCapacity ? before + 1 : before; };
    return core::exchangeWith(fresh_, fresh, more) ? &objects_[fresh] : nullptr;
  }

  // From now on the handle finds the object.
  Handle publish(Object& object, HandleKind kind) noexcept {
    const std::uint32_t generation = object.generation.load(std::memory_order_relaxed) + 1;
    object.generation.store(generation, std::memory_order_release);
    return {kind, generation, static_cast<std::uint32_t>(&object - objects_)};
  }

  Object* find(Handle handle) noexcept {
    if (handle.index >= kCapacity || handle.generation % 2 == 0)
      return nullptr;
    Object& object = objects_[handle.index];
    return object.generation.load(std::memory_order_acquire) == handle.generation ? &object
                                                                                  : nullptr;
  }

  // Returns the object, which its handle no longer finds. Only one of several callers gets it. Call
  // giveBack() afterwards.
  Object* claim(Handle handle) noexcept {
    Object* const object = find(handle);
    std::uint32_t generation = handle.generation;
    return object != nullptr && object->generation.compare_exchange_strong(
                                    generation, generation + 1, std::memory_order_acq_rel)
               ? object
               : nullptr;
  }

  void giveBack(Object& object) noexcept {
    const auto place = static_cast<std::uint32_t>(&object - objects_) + 1;
    std::uint64_t head = 0;
    // If the exchange gives up, the pool loses one object.
    core::exchangeWith(free_, head, [&](std::uint64_t before) {
      object.next.store(static_cast<std::uint32_t>(before), std::memory_order_relaxed);
      return ((before >> 32) + 1) << 32 | place;
    });
  }

  // Calls visit(handle, object) for each object that a handle of this kind may refer to.
  template <typename Visit>
  void forEach(HandleKind kind, Visit visit) noexcept {
    const std::uint32_t used = fresh_.load(std::memory_order_acquire);
    for (std::uint32_t index = 0; index < used; ++index) {
      const std::uint32_t generation = objects_[index].generation.load(std::memory_order_acquire);
      if (generation % 2 == 1)
        visit(Handle{kind, generation, index}, objects_[index]);
    }
  }

 private:
  std::atomic<std::uint64_t> free_{0};   // changes << 32 | index + 1 of the first; 0: none
  std::atomic<std::uint32_t> fresh_{0};  // objects from here on were never used
  Object objects_[kCapacity]{};
};

}  // namespace sonde::preload::nccl
