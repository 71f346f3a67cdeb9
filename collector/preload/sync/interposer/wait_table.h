// At which objects threads wait now, and who has let others go on there since they began to.
//
// One table of fixed size for the process, without locks: waiters take and leave places in it,
// posters (who unlock, signal, post …) write who they are. Any thread, also in signal handlers and
// forked children, which find the table empty. What a thread leaves behind that is cancelled or
// leaves its wait by longjmp is harmless: it keeps posters looking, and takes a place.
#pragma once

#include <atomic>
#include <cstdint>

namespace sonde::preload::sync {

inline constexpr std::uint32_t kBucketBits = 12;
inline constexpr std::uint32_t kBuckets = 1 << kBucketBits;
inline constexpr std::uint32_t kEntries = 1024;  // objects that threads wait at, at once
inline constexpr std::uint32_t kPosts = 16;      // of an entry that are remembered

struct PostSlot {
  std::atomic<std::uint64_t> mark;    // number << 32 | thread; 0: nothing, or being written
  std::atomic<std::uint64_t> object;  // and PostTraits
  std::atomic<std::uint64_t> ticks;   // before the post took effect …
  std::atomic<std::uint64_t> done;    // … and after; 0: not yet
  std::atomic<std::uint64_t> turn;    // before it: Place::turn
};

struct alignas(64) Entry {
  std::atomic<std::uint64_t> owner;  // object << 16 | waiters
  std::atomic<std::uint32_t> posts;  // ever
  std::atomic<std::uint32_t> round;  // of a barrier: `posts` as the last round ended
  PostSlot slots[kPosts];
};

// Zeroed by the kernel in every child.
struct alignas(4096) WaitTable {
  std::atomic<std::uint16_t> waiters[kBuckets];  // by hash of the object
  std::atomic<std::uint32_t> epoch;              // 0: nobody has waited yet in this process
  Entry entries[kEntries];
};
extern WaitTable gWaitTable;

inline std::uint32_t bucketOf(std::uint64_t object) noexcept {
  return static_cast<std::uint32_t>(object * 0x9e37'79b9'7f4a'7c15 >> (64 - kBucketBits));
}

// Whether somebody may wait at this object: one load, all that a post costs where nobody does.
inline bool isAwaited(std::uint64_t object) noexcept {
  return __builtin_expect(gWaitTable.waiters[bucketOf(object)].load(std::memory_order_relaxed) != 0,
                          0);
}

inline constexpr std::uint32_t kNoEntry = ~std::uint32_t{0};

// A waiter's place.
struct Place {
  std::uint64_t object;
  std::uint32_t entry;  // kNoEntry: the table is full
  std::uint32_t epoch;
  std::uint32_t first;  // number of the first post that may be meant
  std::uint32_t round;
  std::uint64_t turn;   // how many had queued before this waiter, where the object says so
  std::uint64_t begin;  // ticks: it had not queued yet; 0: not known
};

Place takePlace(std::uint64_t object) noexcept;
void leavePlace(const Place& place) noexcept;

// What kind of post it is: above an object's address in one word.
using PostTraits = std::uint64_t;
inline constexpr PostTraits kWakesAll = std::uint64_t{1} << 63;  // and not one
inline constexpr PostTraits kByWriter = std::uint64_t{1} << 62;  // of a reader-writer lock
inline constexpr PostTraits kMayMove = std::uint64_t{1} << 61;   // waiters to another object

struct Poster {
  std::int32_t thread;  // > 0
  std::uint64_t ticks;
  PostTraits traits;
  std::uint64_t turn;  // how many had queued by `ticks`; ~0: the object does not say so
};
inline constexpr std::uint64_t kNoTurn = ~std::uint64_t{0};

// Where an object's entry may be.
inline constexpr std::uint32_t kProbes = 8;

// Where a post has been written: an object has one entry, more where waiters raced for it.
struct Post {
  struct At {
    std::uint32_t entry;
    std::uint32_t number;
  };
  At at[kProbes];
  std::uint32_t count;
  std::int32_t thread;
};

// To be written before the post takes effect.
Post writePost(std::uint64_t object, const Poster& poster) noexcept;
// It has taken effect, by `ticks`.
void finishPost(const Post& post, std::uint64_t ticks) noexcept;
// It had none.
void takeBack(const Post& post) noexcept;

// The waiter at `place` arrives at a barrier. The post's number.
std::uint32_t arrive(const Place& place, const Poster& poster) noexcept;

// Which of the posts since a waiter took its place may have let it go on.
enum class Rule {
  Holder,   // the last: posters exclude each other (mutex, thread)
  Last,     // the last, if those before it had taken effect when it began (a writer)
  Writer,   // the last by a writer (a reader, whom no reader lets go on)
  Any,      // each that came after the waiter had queued (condition, semaphore, futex)
  Arrival,  // the last of the round (barrier)
};

struct Waker {
  std::int32_t thread;  // 0: nobody is known
  std::uint64_t ticks;
  bool certain;
};

// By `rule`, for a waiter that went on at `wakeTicks`.
Waker findWaker(const Place& place, Rule rule, std::uint64_t wakeTicks) noexcept;

// Of a barrier: the number of the last arrival of the round that the waiter at `place` was let go
// in. Requires: it has been let go.
std::uint32_t endRound(const Place& place) noexcept;

// Has the kernel empty the table in children. False: it cannot.
bool emptyTableInChildren() noexcept;

}  // namespace sonde::preload::sync
