// The objects that threads wait at now, and the posts there since they began to wait.
//
// One table of fixed size for the process, without locks. Waiters take and leave places in it.
// Posters (threads that unlock, signal, post …) write their ids. Any thread, also in signal
// handlers and forked children, which find the table empty. A thread that is cancelled or leaves
// its wait by longjmp leaves its place behind. That is harmless: it makes posters look, and takes
// up a place.
#pragma once

#include <atomic>
#include <cstdint>

namespace sonde::preload::sync {

inline constexpr std::uint32_t kBucketBits = 12;
inline constexpr std::uint32_t kBuckets = 1 << kBucketBits;
inline constexpr std::uint32_t kEntries = 1024;  // objects that threads wait at, at once
inline constexpr std::uint32_t kPosts = 16;      // remembered per entry

struct PostSlot {
  std::atomic<std::uint64_t> mark;    // number << 32 | thread; 0: empty, or being written
  std::atomic<std::uint64_t> object;  // and PostTraits
  std::atomic<std::uint64_t> ticks;   // before the post took effect …
  std::atomic<std::uint64_t> done;    // … and after; 0: not yet
  std::atomic<std::uint64_t> turn;    // before the post: Place::turn
};

struct alignas(64) Entry {
  std::atomic<std::uint64_t> owner;  // object << 16 | waiters
  std::atomic<std::uint32_t> posts;  // total
  std::atomic<std::uint32_t> round;  // for a barrier: `posts` at the end of the last round
  PostSlot slots[kPosts];
};

// The kernel zeroes it in every child.
struct alignas(4096) WaitTable {
  std::atomic<std::uint16_t> waiters[kBuckets];  // by hash of the object
  std::atomic<std::uint32_t> epoch;              // 0: no thread has waited yet in this process
  Entry entries[kEntries];
};
extern WaitTable gWaitTable;

inline std::uint32_t bucketOf(std::uint64_t object) noexcept {
  return static_cast<std::uint32_t>(object * 0x9e37'79b9'7f4a'7c15 >> (64 - kBucketBits));
}

// Whether a thread may be waiting at this object. One load, which is the whole cost of a post
// without waiters.
inline bool isAwaited(std::uint64_t object) noexcept {
  return __builtin_expect(gWaitTable.waiters[bucketOf(object)].load(std::memory_order_relaxed) != 0,
                          0);
}

inline constexpr std::uint32_t kNoEntry = ~std::uint32_t{0};

// A waiter's place in the table.
struct Place {
  std::uint64_t object;
  std::uint32_t entry;  // kNoEntry: the table is full
  std::uint32_t epoch;
  std::uint32_t first;  // number of the first post that may wake the waiter
  std::uint32_t round;
  // Number of waiters that had queued before this one, if the object counts them.
  std::uint64_t turn;
  std::uint64_t begin;  // ticks at which it had not queued yet; 0: unknown
};

Place takePlace(std::uint64_t object) noexcept;
void leavePlace(const Place& place) noexcept;

// Properties of a post: bits above an object's address in one word.
using PostTraits = std::uint64_t;
inline constexpr PostTraits kWakesAll = std::uint64_t{1} << 63;  // not only one
inline constexpr PostTraits kByWriter = std::uint64_t{1} << 62;  // of a reader-writer lock
// May move waiters to another object.
inline constexpr PostTraits kMayMove = std::uint64_t{1} << 61;

struct Poster {
  std::int32_t thread;  // > 0
  std::uint64_t ticks;
  PostTraits traits;
  std::uint64_t turn;  // number that had queued by `ticks`; ~0: the object does not count them
};
inline constexpr std::uint64_t kNoTurn = ~std::uint64_t{0};

// Number of places where an object's entry may be.
inline constexpr std::uint32_t kProbes = 8;

// Where a post was written: an object has one entry, or more if waiters raced for it.
struct Post {
  struct At {
    std::uint32_t entry;
    std::uint32_t number;
  };
  At at[kProbes];
  std::uint32_t count;
  std::int32_t thread;
};

// Call it before the post takes effect.
Post writePost(std::uint64_t object, const Poster& poster) noexcept;
// The post has taken effect, by `ticks`.
void finishPost(const Post& post, std::uint64_t ticks) noexcept;
// The post had no effect.
void takeBack(const Post& post) noexcept;

// The waiter at `place` arrives at a barrier. Returns the post's number.
std::uint32_t arrive(const Place& place, const Poster& poster) noexcept;

// Which post, of those since a waiter took its place, may have woken it.
enum class Rule {
  Holder,   // the last: posters exclude each other (mutex, thread)
  Last,     // the last, if earlier ones had taken effect when it began (a writer)
  Writer,   // the last by a writer (a reader; readers do not wake readers)
  Any,      // each post after the waiter had queued (condition, semaphore, futex)
  Arrival,  // the last of the round (barrier)
};

struct Waker {
  std::int32_t thread;  // 0: unknown
  std::uint64_t ticks;
  bool certain;
};

// Finds the waker by `rule`, for a waiter that continued at `wakeTicks`.
Waker findWaker(const Place& place, Rule rule, std::uint64_t wakeTicks) noexcept;

// For a barrier: the number of the last arrival in the round of the waiter at `place`. Requires:
// the waiter has been woken.
std::uint32_t endRound(const Place& place) noexcept;

// Makes the kernel clear the table in children. False: it cannot.
bool emptyTableInChildren() noexcept;

}  // namespace sonde::preload::sync
