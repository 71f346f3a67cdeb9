// Objects that NCCL refers to by handle, in fixed pools: no lock, no allocation. A handle names an
// object by place and generation and is never followed as an address, so one that is stale, made up
// or of another process finds nothing.
//
// Any thread. Constant-initialised; memory is touched only where objects have been.
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
  Api = 6,  // a call as nccl_api.h sees it, or no object: index has bits of its own
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

// What one thread writes while its object is nobody else's, and others read when it may be written
// anew: who has read one word of a later value sees that the object is not the one of its handle
// any more, and must look.
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
  // Requires: the value is, or begins with, a Part.
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

// What an object of a Pool begins with.
struct Pooled {
  std::atomic<std::uint32_t> generation;  // odd while its handle is valid
  std::atomic<std::uint32_t> next;        // in the list of free ones: index + 1
};

template <typename Object, std::uint32_t kCapacity>
class Pool {
 public:
  // An object that no handle names yet; nullptr: all are in use.
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

  // From now on the handle finds it.
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

  // The object, which its handle does not find any more; of several callers one gets it. Then
  // giveBack().
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
    // Given up, it is one object less.
    core::exchangeWith(free_, head, [&](std::uint64_t before) {
      object.next.store(static_cast<std::uint32_t>(before), std::memory_order_relaxed);
      return ((before >> 32) + 1) << 32 | place;
    });
  }

  // Calls visit(handle, object) for each that a handle of this kind may name.
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
  std::atomic<std::uint32_t> fresh_{0};  // those from here on were never used
  Object objects_[kCapacity]{};
};

}  // namespace sonde::preload::nccl
