#include "collector/preload/nccl/nccl_api.h"

#include "collector/core/emit.h"
#include "collector/core/open_calls.h"
#include "collector/core/platform/clock.h"
#include "collector/core/platform/hooks.h"
#include "collector/core/spool.h"
#include "collector/preload/common/interned_key.h"
#include "collector/preload/nccl/nccl_api_calls.h"
#include "collector/preload/nccl/nccl_call_records.h"
#include "collector/preload/nccl/nccl_calls.h"
#include "collector/preload/nccl/nccl_hash.h"
#include "collector/preload/nccl/nccl_hooks.h"
#include "collector/preload/nccl/nccl_promised.h"
#include "collector/preload/nccl/nccl_stream.h"
#include "collector/preload/nccl/nccl_thread.h"
#include "collector/preload/nccl/nccl_types.h"

namespace sonde::preload::nccl {
namespace {

using core::ThreadState;
using wire::Probe;
using wire::RecordKind;

std::atomic<const Library*> gLibrary{nullptr};
constexpr OpenCall kNone{0, 0, false, 0, core::OpenCall::kNotShown};

bool isSource() noexcept {
  return core::attached() &&
         (core::gSpool.session->probeMask >> static_cast<int>(Probe::Nccl) & 1) != 0;
}

// nullptr: the thread cannot record.
ThreadState* thisThread() noexcept {
  ThreadState* const state = core::tState;
  return core::isCurrent(state) ? state : core::registerSelf();
}

// The same if the source is on. Without a thread, the record counts as lost.
ThreadState* threadFor(RecordKind kind) noexcept {
  if (!isSource())
    return nullptr;
  ThreadState* const thread = thisThread();
  if (thread == nullptr && core::enabled(Probe::Nccl))
    core::countLoss(Probe::Nccl, kind, wire::LossReason::NoThread);
  return thread;
}

std::uint64_t bitsOf(Handle handle) noexcept {
  return reinterpret_cast<std::uint64_t>(handle.opaque());
}

Handle handleOf(std::uint64_t bits) noexcept {
  return Handle::of(reinterpret_cast<const void*>(bits));
}

bool failed(int result) noexcept {
  return result != kSuccess && result != kInProgress;
}

// Does nothing for a communicator that another thread is destroying: NCCL may not be asked about it
// any more.
void describe(Handle handle, const void* api) noexcept {
  Communicator* const communicator = findCommunicator(handle);
  const Library* const library = gLibrary.load(std::memory_order_relaxed);
  if (communicator == nullptr || library == nullptr ||
      communicator->api.load(std::memory_order_acquire) != api ||
      communicator->size.load(std::memory_order_relaxed) > 0)
    return;
  std::int32_t size = 0;
  std::int32_t rank = kUnknownRank;
  library->describe(api, &size, &rank);
  communicator->rank.store(rank, std::memory_order_relaxed);
  communicator->size.store(size, std::memory_order_relaxed);
}

// Looks for the driver again: NCCL has loaded it by now.
Handle add(const CommunicatorFacts& facts, const void* api) noexcept {
  findDriverAgain();
  return addCommunicator(facts, api);
}

// A communicator whose creation was not seen is registered at its first call. It may be invalid, so
// NCCL is asked about it only after that call has succeeded.
Handle communicatorOf(const void* api) noexcept {
  if (api == nullptr)
    return {};
  const Handle known = findApiCommunicator(api);
  if (!known)
    return add({}, api);
  describe(known, api);
  return known;
}

CallFacts factsOf(const ApiCall& call) noexcept {
  CallFacts facts;
  facts.function = functionOf(call.function);
  facts.name = call.name;
  facts.count = call.count;
  facts.element = call.type < 0 ? ElementType{} : elementType(static_cast<std::uint8_t>(call.type));
  if (facts.function != nullptr && hasRoot(facts.function->op))
    facts.root = call.root;
  else if (facts.function != nullptr && isPeerCall(facts.function->op))
    facts.peer = call.root;
  facts.send = call.send;
  facts.receive = call.receive;
  return facts;
}

// Whether the call is the program's own. If so, it becomes the call that the thread is in.
bool enter(ThreadState* thread, Handle call) noexcept {
  if (thread == nullptr || callsOf(*thread).call != 0)
    return false;
  callsOf(*thread).call = bitsOf(call);
  return true;
}

Handle capturedIn(Handle communicator) noexcept {
  if (!communicator)
    return {HandleKind::Api, kApiNothing, kApiCaptured};
  return {HandleKind::Api,
          communicator.generation,
          communicator.index | kApiHasCommunicator | kApiCaptured};
}

// The host seldom waits in these calls, but setting up a communicator waits for all its ranks.
OpenCall show(OpenCall open, const char* name, const void* frame) noexcept {
  wire::Call record{};
  record.header.subject = core::intern(name);
  record.header.detail = static_cast<std::uint8_t>(wire::SliceKind::Api);
  record.beginTicks = open.begin;
  record.probe = Probe::Nccl;
  if (core::enabled(Probe::Nccl))
    open.shown = core::openCall(record, RecordKind::Call, frame).depth;
  return open;
}

OpenCall begin(const ApiCall& call) noexcept {
  ThreadState* const thread = threadFor(RecordKind::Collective);
  if (!enter(thread, {HandleKind::Api, kApiNothing, 0}))
    return kNone;
  const bool captured = isCaptured(call.stream);
  const Handle communicator = communicatorOf(call.communicator);
  const BegunCall made =
      captured ? BegunCall{capturedIn(communicator), 0} : beginApiCall(communicator, factsOf(call));
  if (made.call)
    callsOf(*thread).call = bitsOf(made.call);
  const OpenCall open{bitsOf(made.call), core::readTicks(), true, made.seq, kNone.shown};
  return show(open, call.name, __builtin_frame_address(0));
}

void writeCall(const char* name, std::uint64_t beginTicks, int result) noexcept {
  static InternedKey key{"result"};
  if (!core::enabled(Probe::Nccl))
    return;
  const std::uint64_t record = core::emitCall(
      wire::SliceKind::Api, core::intern(name), Probe::Nccl, beginTicks, core::readTicks());
  if (record != 0 && result != kSuccess)
    core::emitArgInt({0, record}, key(), result);
}

// Undoes a call that does not take place: the next call gets its number.
void drop(const OpenCall& open, const ApiCall& call) noexcept {
  const Handle made = handleOf(open.call);
  dropApiCall(made);
  const Handle known = findApiCommunicator(call.communicator);
  if (made.kind == HandleKind::Call || (made.index & kApiCounted) != 0)
    giveBack(known, factsOf(call), open.seq);
  const Communicator* const communicator = findCommunicator(known);
  if (communicator != nullptr && communicator->size.load(std::memory_order_relaxed) == 0 &&
      communicator->hash.load(std::memory_order_relaxed) == 0)
    removeApiCommunicator(call.communicator);
}

std::uint8_t groupOf(const ThreadState* thread) noexcept {
  constexpr std::uint32_t kNumbers = wire::Collective::kGroup >> wire::Collective::kGroupShift;
  const bool isInGroup = thread != nullptr && callsOf(*thread).groups > 0;
  return isInGroup ? static_cast<std::uint8_t>(callsOf(*thread).group % kNumbers + 1) : 0;
}

void end(const OpenCall& open, const ApiCall& call, int result) noexcept {
  if (!open.outermost)
    return;
  core::closeCall({open.shown});
  ThreadState* const thread = thisThread();
  if (thread != nullptr)
    callsOf(*thread).call = 0;
  const Handle made = handleOf(open.call);
  if (made.kind == HandleKind::Call && !failed(result)) {
    if (result == kSuccess)
      describe(communicatorOfCall(made), call.communicator);
    return endApiCall(made, factsOf(call), groupOf(thread));
  }
  if (failed(result))
    drop(open, call);
  writeCall(call.name, open.begin, result);
}

OpenCall beginOther(const char* name) noexcept {
  if (!enter(threadFor(RecordKind::Call), {HandleKind::Api, kApiNothing, 0}))
    return kNone;
  return show({0, core::readTicks(), true, 0, kNone.shown}, name, __builtin_frame_address(0));
}

void endOther(const OpenCall& open, const char* name, int result) noexcept {
  if (!open.outermost)
    return;
  core::closeCall({open.shown});
  if (ThreadState* const thread = thisThread(); thread != nullptr)
    callsOf(*thread).call = 0;
  if (name != nullptr)
    writeCall(name, open.begin, result);
}

void groupStarted() noexcept {
  ThreadState* const thread = threadFor(RecordKind::CollectivePart);
  if (thread == nullptr || callsOf(*thread).groups++ > 0)
    return;
  ++callsOf(*thread).group;
  callsOf(*thread).before = lastCallNumber();
  forgetPromised(thread);
}

void add(const NewCommunicator& made) noexcept {
  if (*made.place == nullptr)
    return;
  removeApiCommunicator(*made.place);  // a communicator that was destroyed without Sonde seeing it
  add({nullptr, made.hash, made.size, made.rank, made.ownHash}, *made.place);
}

bool groupEnded(bool launched) noexcept {
  ThreadState* const thread = isSource() ? thisThread() : nullptr;
  if (thread == nullptr || callsOf(*thread).groups == 0 || --callsOf(*thread).groups > 0)
    return false;
  if (!launched)
    dropApiCallsSince(callsOf(*thread).before);
  NewCommunicator made;
  while (takePromised(thread, made))  // ends: only this thread adds to its own list
    add(made);
  return true;
}

void created(const NewCommunicator& made) noexcept {
  if (*made.place != nullptr && isSource())
    return add(made);
  const ThreadState* const thread = threadFor(RecordKind::Collective);
  if (thread != nullptr && callsOf(*thread).groups > 0)
    promise(thread, made);
}

std::uint64_t hashOfSplit(const void* parent, std::int32_t color) noexcept {
  Communicator* const found = findCommunicator(findApiCommunicator(parent));
  if (found == nullptr)
    return 0;
  const auto number =
      static_cast<std::int32_t>(found->splits.fetch_add(1, std::memory_order_relaxed) + 1);
  const std::uint64_t hash = found->hash.load(std::memory_order_relaxed);
  return hash == 0 ? 0 : hashOfChild(hash, number, color);
}

std::uint64_t hashOfShrunk(const void* parent) noexcept {
  const Communicator* const found = findCommunicator(findApiCommunicator(parent));
  const std::uint64_t hash = found == nullptr ? 0 : found->hash.load(std::memory_order_relaxed);
  return hash == 0 ? 0 : hashOfChild(hash, 0, 0);
}

void aborts(const void* communicator) noexcept {
  if (const Handle found = findApiCommunicator(communicator); found)
    writeAbort(found);
}

std::uint64_t goes(const void* communicator) noexcept {
  return bitsOf(hideApiCommunicator(communicator));
}

void gone(const void* communicator, std::uint64_t known, int result) noexcept {
  if (failed(result))
    showApiCommunicator(handleOf(known), communicator);
  else
    removeCommunicator(handleOf(known));
}

constexpr Hooks kHooks = {kHooksVersion,
                          begin,
                          end,
                          beginOther,
                          endOther,
                          groupStarted,
                          groupEnded,
                          hashOfSplit,
                          hashOfShrunk,
                          created,
                          aborts,
                          goes,
                          gone};

}  // namespace

Handle startApi(Handle communicator, bool graphCaptured) noexcept {
  const ThreadState* const thread = core::tState;
  const Handle inside = core::isCurrent(thread) ? handleOf(callsOf(*thread).call) : Handle{};
  const std::uint32_t captured = graphCaptured ? kApiCaptured : 0;
  if (inside.kind == HandleKind::Api && (inside.index & kApiHasCommunicator) != 0)
    identify(
        communicator,
        {HandleKind::Communicator, inside.generation, inside.index & (kApiHasCommunicator - 1)});
  if (inside.kind != HandleKind::Call)
    return {HandleKind::Api, kApiNothing, captured | (inside.index & kApiCounted)};
  identifyWith(communicator, inside);
  return {HandleKind::Api, inside.generation, inside.index | kApiHasCall | captured};
}

}  // namespace sonde::preload::nccl

SONDE_EXPORT const sonde::preload::nccl::Hooks* sonde_nccl_hooks(
    std::uint32_t version, const sonde::preload::nccl::Library* library) {
  using namespace sonde::preload::nccl;
  if (version != kHooksVersion)
    return nullptr;
  gLibrary.store(library, std::memory_order_relaxed);
  return &kHooks;
}
