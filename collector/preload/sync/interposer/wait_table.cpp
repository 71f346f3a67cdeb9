#include "collector/preload/sync/interposer/wait_table.h"

#include "collector/core/platform/bounded.h"
#include "collector/core/platform/syscalls.h"

#include <sys/mman.h>

namespace sonde::preload::sync {

constinit WaitTable gWaitTable{};

namespace {

constexpr std::uint64_t kWaiters = 0xffff;  // of Entry::owner
constexpr int kObjectShift = 16;
constexpr PostTraits kTraits = kWakesAll | kByWriter | kMayMove;

// If two arrivals at a barrier are at least this far apart, their order is certain: a thread does
// little between its post and its arrival.
constexpr std::uint64_t kRaceTicks = 20'000;

constinit std::atomic<std::uint32_t> gNextEpoch{1};  // not cleared in children

std::uint32_t currentEpoch() noexcept {
  std::uint32_t epoch = gWaitTable.epoch.load(std::memory_order_acquire);
  if (epoch != 0)
    return epoch;
  const std::uint32_t mine = gNextEpoch.fetch_add(1, std::memory_order_relaxed);
  return gWaitTable.epoch.compare_exchange_strong(epoch, mine, std::memory_order_acq_rel) ? mine
                                                                                          : epoch;
}

std::uint32_t entryAt(std::uint64_t object, std::uint32_t probe) noexcept {
  return (bucketOf(object) + probe) % kEntries;
}

bool isOf(std::uint64_t owner, std::uint64_t object) noexcept {
  return owner >> kObjectShift == object;
}

// Adds a waiter to an entry that has this object, or is free and then gets it. False: the entry has
// another object.
bool join(Entry& entry, std::uint64_t object, bool mayBeFree) noexcept {
  std::uint64_t seen = 0;
  // If the exchange gives up, the wait has no waker.
  return core::exchangeWith(entry.owner, seen, [=](std::uint64_t owner) {
    const bool same = isOf(owner, object) && (owner & kWaiters) < kWaiters;
    const bool isFree = mayBeFree && (owner & kWaiters) == 0;
    return same ? owner + 1 : isFree ? object << kObjectShift | 1 : owner;
  });
}

std::uint32_t findEntry(std::uint64_t object) noexcept {
  for (const bool mayBeFree : {false, true}) {
    for (std::uint32_t probe = 0; probe < kProbes; ++probe) {
      const std::uint32_t at = entryAt(object, probe);
      if (join(gWaitTable.entries[at], object, mayBeFree))
        return at;
    }
  }
  return kNoEntry;
}

// Does not go below 0: a child found the counter empty.
void countDown(std::atomic<std::uint16_t>& waiters) noexcept {
  std::uint16_t seen = 0;
  // If the exchange gives up, later posts look for a waiter that does not exist.
  core::exchangeWith(waiters, seen, [](std::uint16_t count) {
    return static_cast<std::uint16_t>(count == 0 ? 0 : count - 1);
  });
}

std::uint32_t write(Entry& entry, std::uint64_t object, const Poster& poster) noexcept {
  const std::uint32_t number = entry.posts.fetch_add(1, std::memory_order_acq_rel);
  PostSlot& slot = entry.slots[number % kPosts];
  slot.mark.exchange(0, std::memory_order_acq_rel);  // readers of the old post discard it
  slot.object.store(object | poster.traits, std::memory_order_relaxed);
  slot.ticks.store(poster.ticks, std::memory_order_relaxed);
  slot.turn.store(poster.turn, std::memory_order_relaxed);
  slot.done.store(0, std::memory_order_relaxed);
  slot.mark.store(std::uint64_t{number} << 32 | static_cast<std::uint32_t>(poster.thread),
                  std::memory_order_release);
  return number;
}

struct Seen {
  std::int32_t thread;  // 0: no post
  PostTraits traits;
  std::uint64_t ticks;
  std::uint64_t done;
  std::uint64_t turn;
};

// Returns no post if it is being written, was taken back or belongs to another object: such a post
// has woken nobody.
Seen read(PostSlot& slot, std::uint32_t number, std::uint64_t object) noexcept {
  const std::uint64_t mark = slot.mark.load(std::memory_order_acquire);
  if (mark >> 32 != number)
    return {};
  const std::uint64_t of = slot.object.load(std::memory_order_relaxed);
  const Seen seen = {static_cast<std::int32_t>(mark & 0xffff'ffff),
                     of & kTraits,
                     slot.ticks.load(std::memory_order_relaxed),
                     slot.done.load(std::memory_order_relaxed),
                     slot.turn.load(std::memory_order_relaxed)};
  if (slot.mark.fetch_add(0, std::memory_order_acq_rel) != mark || (of & ~kTraits) != object)
    return {};
  return seen;
}

// Visits the posts in [place.first, end), the latest first, until visit() returns false.
template <typename Visit>
void visitPosts(const Place& place, std::uint32_t end, Visit visit) noexcept {
  Entry& entry = gWaitTable.entries[place.entry];
  std::uint32_t count = end - place.first;
  count = count < kPosts ? count : kPosts;
  for (std::uint32_t back = 1; back <= count; ++back) {
    const std::uint32_t number = end - back;
    const Seen seen = read(entry.slots[number % kPosts], number, place.object);
    if (seen.thread != 0 && !visit(seen))
      return;
  }
}

Waker lastOf(const Place& place, std::uint64_t wakeTicks, bool mustStandApart) noexcept {
  Waker waker{0, 0, true};
  const std::uint32_t end = gWaitTable.entries[place.entry].posts.load(std::memory_order_acquire);
  visitPosts(place, end, [&](const Seen& seen) {
    if (seen.ticks > wakeTicks)
      return true;
    if (waker.thread == 0)
      waker = {seen.thread, seen.ticks, true};
    else if (seen.thread != waker.thread && (seen.done == 0 || seen.done > waker.ticks))
      waker.certain = false;
    return mustStandApart;
  });
  return waker;
}

// Readers do not wake each other, and writers exclude each other.
Waker writerOf(const Place& place, std::uint64_t wakeTicks) noexcept {
  Waker waker{0, 0, true};
  const std::uint32_t end = gWaitTable.entries[place.entry].posts.load(std::memory_order_acquire);
  visitPosts(place, end, [&](const Seen& seen) {
    if (seen.ticks > wakeTicks || (seen.traits & kByWriter) == 0)
      return true;
    waker = {seen.thread, seen.ticks, true};
    return false;
  });
  return waker;
}

// Whether a post may have come too early for the waiter, which had its place but had not queued
// yet. `Surely`: the post took effect before the wait began.
enum class Early { No, Perhaps, Surely };
Early isEarly(const Seen& seen, const Place& place) noexcept {
  if (seen.turn == kNoTurn || seen.turn > place.turn)
    return Early::No;
  return seen.done != 0 && seen.done <= place.begin ? Early::Surely : Early::Perhaps;
}

// The waker is certain only if a single thread posted, or the first post woke all waiters.
Waker anyOf(const Place& place, std::uint64_t wakeTicks) noexcept {
  Waker last{0, 0, true};
  Seen first{};
  const std::uint32_t end = gWaitTable.entries[place.entry].posts.load(std::memory_order_acquire);
  visitPosts(place, end, [&](const Seen& seen) {
    if (seen.ticks > wakeTicks || isEarly(seen, place) == Early::Surely)
      return true;
    if (last.thread == 0)
      last = {seen.thread, seen.ticks, true};
    last.certain = last.certain && seen.thread == last.thread && (seen.traits & kMayMove) == 0;
    first = seen;
    return true;
  });
  const bool allSeen = end - place.first <= kPosts;
  if (allSeen && (first.traits & kWakesAll) != 0 && isEarly(first, place) == Early::No)
    return {first.thread, first.ticks, true};
  last.certain = last.certain && allSeen;
  return last;
}

Waker arrivalOf(const Place& place) noexcept {
  Waker waker{0, 0, true};
  // The arrival before it may have taken its place before this waiter did.
  Place whole = place;
  whole.first = 0;
  visitPosts(whole, endRound(place), [&](const Seen& seen) {
    if (waker.thread == 0) {
      waker = {seen.thread, seen.ticks, true};
      return true;
    }
    waker.certain = waker.ticks - seen.ticks >= kRaceTicks;
    return false;
  });
  return waker;
}

}  // namespace

Place takePlace(std::uint64_t object) noexcept {
  Place place{object, kNoEntry, 0, 0, 0, 0, 0};
  if (object >> (64 - kObjectShift) != 0)
    return place;
  place.epoch = currentEpoch();
  std::atomic<std::uint16_t>& waiters = gWaitTable.waiters[bucketOf(object)];
  if (waiters.fetch_add(1, std::memory_order_seq_cst) == kWaiters) {
    waiters.fetch_sub(1, std::memory_order_relaxed);
    return place;
  }
  place.entry = findEntry(object);
  if (place.entry == kNoEntry) {
    countDown(waiters);
    return place;
  }
  const Entry& entry = gWaitTable.entries[place.entry];
  place.first = entry.posts.load(std::memory_order_seq_cst);
  place.round = entry.round.load(std::memory_order_acquire);
  return place;
}

void leavePlace(const Place& place) noexcept {
  if (place.entry == kNoEntry || place.epoch != gWaitTable.epoch.load(std::memory_order_acquire))
    return;
  Entry& entry = gWaitTable.entries[place.entry];
  std::uint64_t seen = 0;
  // If the exchange gives up, the entry keeps this object.
  core::exchangeWith(entry.owner, seen, [&](std::uint64_t owner) {
    return isOf(owner, place.object) && (owner & kWaiters) != 0 ? owner - 1 : owner;
  });
  countDown(gWaitTable.waiters[bucketOf(place.object)]);
}

Post writePost(std::uint64_t object, const Poster& poster) noexcept {
  Post post{{}, 0, poster.thread};
  for (std::uint32_t probe = 0; probe < kProbes; ++probe) {
    const std::uint32_t at = entryAt(object, probe);
    Entry& entry = gWaitTable.entries[at];
    const std::uint64_t owner = entry.owner.load(std::memory_order_acquire);
    if (isOf(owner, object) && (owner & kWaiters) != 0)
      post.at[post.count++] = {at, write(entry, object, poster)};
  }
  return post;
}

void finishPost(const Post& post, std::uint64_t ticks) noexcept {
  for (std::uint32_t at = 0; at < post.count; ++at) {
    const auto [entry, number] = post.at[at];
    PostSlot& slot = gWaitTable.entries[entry].slots[number % kPosts];
    if (slot.mark.load(std::memory_order_acquire) >> 32 == number)
      slot.done.store(ticks, std::memory_order_release);
  }
}

void takeBack(const Post& post) noexcept {
  for (std::uint32_t at = 0; at < post.count; ++at) {
    const auto [entry, number] = post.at[at];
    std::uint64_t mark = std::uint64_t{number} << 32 | static_cast<std::uint32_t>(post.thread);
    gWaitTable.entries[entry].slots[number % kPosts].mark.compare_exchange_strong(
        mark, 0, std::memory_order_acq_rel);
  }
}

std::uint32_t arrive(const Place& place, const Poster& poster) noexcept {
  return place.entry == kNoEntry ? 0 : write(gWaitTable.entries[place.entry], place.object, poster);
}

Waker findWaker(const Place& place, Rule rule, std::uint64_t wakeTicks) noexcept {
  if (place.entry == kNoEntry || place.epoch != gWaitTable.epoch.load(std::memory_order_acquire))
    return {};
  Waker waker{};
  if (rule == Rule::Any)
    waker = anyOf(place, wakeTicks);
  else if (rule == Rule::Arrival)
    waker = arrivalOf(place);
  else if (rule == Rule::Writer)
    waker = writerOf(place, wakeTicks);
  else
    waker = lastOf(place, wakeTicks, rule == Rule::Last);
  waker.certain = waker.certain && waker.thread != 0;
  return waker;
}

// The first waiter to leave notes where the round ended: all have arrived by then, and none can
// come back for the next round without having been here.
std::uint32_t endRound(const Place& place) noexcept {
  if (place.entry == kNoEntry)
    return 0;
  Entry& entry = gWaitTable.entries[place.entry];
  const std::uint32_t arrived = entry.posts.load(std::memory_order_acquire);
  std::uint32_t round = place.round;
  return entry.round.compare_exchange_strong(round, arrived, std::memory_order_acq_rel) ? arrived
                                                                                        : round;
}

bool emptyTableInChildren() noexcept {
  return core::rawSyscall(
             SYS_madvise, core::asLong(&gWaitTable), sizeof gWaitTable, MADV_WIPEONFORK) == 0;
}

}  // namespace sonde::preload::sync
