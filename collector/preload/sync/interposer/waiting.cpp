#include "collector/preload/sync/interposer/waiting.h"

#include "collector/core/platform/symbol_versions.h"

#include <dlfcn.h>
#include <pthread.h>

namespace sonde::preload::sync {

constinit const Hooks* gHooks = nullptr;

namespace {

// The wait that the thread is in, or was cancelled in: at most one. If a signal handler waits in
// turn, the outer wait loses its place.
struct Held {
  std::uint32_t waits;  // total
  bool any;
  Place place;
};
constinit __thread Held tHeld __attribute__((tls_model("initial-exec"))) = {};

void letGo() noexcept {
  if (!tHeld.any)
    return;
  tHeld.any = false;
  leavePlace(tHeld.place);
}

// Whether the place still belongs to this wait.
bool holds(const Wait& wait) noexcept {
  return tHeld.any && tHeld.waits == wait.number;
}

void threadEnds() noexcept {
  letGo();
  const auto self = static_cast<std::uint64_t>(pthread_self());
  if (isAwaited(self))
    beginPost(self);
}

// Must not run later: dlsym takes the loader's lock.
__attribute__((constructor(101))) void findHooks() noexcept {
  const auto find = reinterpret_cast<FindHooks>(dlsym(RTLD_DEFAULT, "sonde_sync_hooks"));
  if (find == nullptr)
    dlerror();  // otherwise the program's next dlerror() would report this lookup
  else if (emptyTableInChildren())
    gHooks = find(kHooksVersion, threadEnds);
}

}  // namespace

Wait beginWait(const Call& call, const Awaited& awaited) noexcept {
  const std::uint64_t object = awaited.object;
  Wait wait{call, object, 0, 0, awaited.shared, kNotShown, {object, kNoEntry, 0, 0, 0, 0, 0}};
  if (!isOn() || !gHooks->admits() || gHooks->thread() == 0)
    return wait;
  letGo();
  wait.place = takePlace(object);
  tHeld.place = wait.place;
  wait.number = ++tHeld.waits;
  tHeld.any = true;
  wait.begin = gHooks->ticks();
  wait.place.turn = awaited.turn;
  wait.place.begin = wait.begin;
  wire::Handoff record{};
  record.beginTicks = wait.begin;
  record.object = object;
  record.waker = awaited.holder;
  record.kind = call.kind;
  wait.open = gHooks->waits(call.name, record, __builtin_frame_address(0));
  return wait;
}

void dropWait(const Wait& wait) noexcept {
  if (wait.open != kNotShown)
    gHooks->goesOn(wait.open);
  if (holds(wait))
    letGo();
}

void endWait(const Wait& wait, Outcome outcome, std::int32_t otherwise) noexcept {
  if (wait.begin == 0)
    return;
  const std::uint64_t now = gHooks->ticks();
  Waker waker{};
  if (outcome == Outcome::Woken && holds(wait))
    waker = findWaker(wait.place, wait.call.rule, now);
  if (waker.thread == 0 && outcome == Outcome::Woken)
    waker = {otherwise, 0, otherwise != 0};
  dropWait(wait);
  if (outcome == Outcome::Refused || !gHooks->records())
    return;
  wire::Handoff record{};
  record.beginTicks = wait.begin;
  record.endTicks = now;
  record.wakerTicks = waker.ticks;
  record.object = wait.object;
  record.waker = waker.thread;
  record.kind = wait.call.kind;
  if (waker.certain && !wait.shared)
    record.header.detail |= wire::Handoff::kCertain;
  if (outcome != Outcome::Woken)
    record.header.detail |=
        outcome == Outcome::TimedOut ? wire::Handoff::kTimedOut : wire::Handoff::kInterrupted;
  gHooks->waited(wait.call.name, record);
}

std::uint32_t arriveAt(const Wait& wait) noexcept {
  if (wait.begin == 0)
    return 0;
  return arrive(wait.place, {gHooks->thread(), wait.begin, 0, kNoTurn});
}

Post beginPost(std::uint64_t object, PostTraits traits, std::uint64_t turn) noexcept {
  const std::int32_t thread = isOn() && gHooks->records() ? gHooks->thread() : 0;
  if (thread == 0)
    return {};
  return writePost(object, {thread, gHooks->ticks(), traits, turn});
}

void endPost(const Post& post, bool tookEffect) noexcept {
  if (post.count == 0)
    return;
  if (tookEffect)
    finishPost(post, gHooks->ticks());
  else
    takeBack(post);
}

}  // namespace sonde::preload::sync
