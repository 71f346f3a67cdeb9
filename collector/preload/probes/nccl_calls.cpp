#include "collector/preload/probes/nccl_calls.h"

#include "collector/core/clock.h"
#include "collector/core/communication.h"
#include "collector/core/emit.h"
#include "collector/core/thread_state.h"
#include "collector/preload/probes/nccl_events.h"
#include "collector/preload/probes/nccl_sizes.h"

namespace sonde::preload::nccl {
namespace {

using wire::Collective;
using wire::CollectiveOp;
using wire::LossReason;
using wire::Probe;
using wire::RecordKind;

constexpr std::uint32_t kMaxCalls = 4096;
constexpr std::uint32_t kMaxTries = 256;

// generation << 32 | the bits below | children. A call keeps its place until kMaxCalls later ones
// have come, and while it runs.
constexpr std::uint64_t kClaimed = 1u << 31;  // being filled in
constexpr std::uint64_t kRunning = 1u << 30;  // not enqueued yet
constexpr std::uint64_t kChildren = kRunning - 1;

struct Call {
  std::atomic<std::uint64_t> state;
  std::atomic<std::uint64_t> lastTicks;  // when the last child stopped; 0: none has
  std::atomic<bool> planned;             // NCCL has told how it carries it out
  bool byApi;
  std::uint8_t function;
  const void* thread;  // that made it, as tState has it
  Handle communicator;
  const void* send;
  const void* receive;
  std::uint64_t bufferBytes;  // count times the size of an element
  Collective record;
};

constinit Call gCalls[kMaxCalls]{};
constinit std::atomic<std::uint32_t> gNext{0};
constinit std::atomic<std::uint64_t> gNumber{0};
// Before this one, counted as gNext, NCCL has told of every call of the API.
constinit std::atomic<std::uint32_t> gUntold{0};

std::uint32_t generationOf(std::uint64_t state) noexcept {
  return static_cast<std::uint32_t>(state >> 32);
}

// nullptr: all of those looked at are in use.
Call* take() noexcept {
  for (std::uint32_t tries = 0; tries < kMaxTries; ++tries) {
    Call& call = gCalls[gNext.fetch_add(1, std::memory_order_relaxed) % kMaxCalls];
    std::uint64_t state = call.state.load(std::memory_order_acquire);
    if (static_cast<std::uint32_t>(state) != 0)
      continue;
    const std::uint64_t claimed = std::uint64_t{generationOf(state) + 1} << 32 | kClaimed;
    if (call.state.compare_exchange_strong(state, claimed, std::memory_order_acq_rel))
      return &call;
  }
  return nullptr;
}

// What nccl_api.cpp makes of the index of a Handle of kind Api.
Handle callOf(Handle api) noexcept {
  return (api.index & kApiHasCall) == 0
             ? Handle{}
             : Handle{HandleKind::Call, api.generation, api.index & (kApiHasCall - 1)};
}

// nullptr: the handle is of none, or of one whose place another has now.
Call* find(Handle handle, std::uint64_t& state) noexcept {
  if (handle.kind != HandleKind::Call || handle.index >= kMaxCalls)
    return nullptr;
  Call& call = gCalls[handle.index];
  state = call.state.load(std::memory_order_acquire);
  return &call;
}

bool isOf(Handle handle, std::uint64_t state) noexcept {
  return generationOf(state) == handle.generation && (state & kClaimed) == 0;
}

std::uint64_t orderOf(Handle handle, Communicator& communicator, const CallFacts& facts) noexcept {
  if (isPeerCall(facts.function->op))
    return static_cast<std::uint64_t>(
        countPeerCall(resolve(handle), facts.peer, facts.function->op == CollectiveOp::Send));
  if (facts.name != nullptr)
    return apiSequenceOf(communicator, facts.function->number);
  const auto function =
      static_cast<std::uint8_t>(facts.function->number + (facts.byCopyEngine ? kCopyEngine : 0));
  return sequenceOf(communicator, function, facts.number, facts.launch);
}

std::uint32_t word(const char* text) noexcept {
  return text == nullptr ? 0 : core::intern(text);
}

// NCCL will not tell of it. It does of a send without bytes, and of one to the same rank.
bool isNothing(const Communicator& communicator, const CallFacts& facts) noexcept {
  return !isPeerCall(facts.function->op) &&
         (facts.count == 0 || communicator.size.load(std::memory_order_relaxed) == 1);
}

void fillInSizes(Collective& record,
                 const Communicator& communicator,
                 const CallFacts& facts) noexcept {
  const Sizes sizes = sizesOf(communicator, facts);
  record.bytes = sizes.bytes;
  record.sendBytes = sizes.send;
  record.recvBytes = sizes.receive;
}

void fillIn(Call& call, Communicator& communicator, const CallFacts& facts) noexcept {
  call.lastTicks.store(0, std::memory_order_relaxed);
  call.planned.store(isNothing(communicator, facts), std::memory_order_relaxed);
  call.function = facts.function->number;
  call.send = facts.send;
  call.receive = facts.receive;
  call.bufferBytes = facts.count * facts.element.bytes;
  Collective& record = call.record;
  record = {};
  record.header.detail = static_cast<std::uint8_t>(facts.function->op);
  fillInSizes(record, communicator, facts);
  record.root = facts.root;
  record.peer = facts.peer;
  record.name = core::intern(facts.name != nullptr ? facts.name : facts.function->name);
  record.algorithm = word(facts.algorithm);
  record.protocol = word(facts.protocol);
  record.dtype = facts.element.type;
  record.probe = Probe::Nccl;
  record.flags = static_cast<std::uint8_t>(
      Collective::kEnqueued | (facts.launch == Launch::Graph ? Collective::kGraphCaptured : 0) |
      (isPeerCall(facts.function->op) || call.byApi ? 0 : Collective::kHasNumber));
  record.channels = facts.channels;
  record.number = gNumber.fetch_add(1, std::memory_order_relaxed) + 1;
  record.ownNumber = facts.number;
}

// A communicator is defined as late as can be: what the profiler interface says of it comes first.
void write(Handle communicator, Collective record) noexcept {
  if (Communicator* const found = findCommunicator(communicator); found != nullptr)
    record.header.subject = communicatorId(*found);
  core::emitCollective(record);
}

void writePlan(const Call& call, const CallFacts& facts) noexcept {
  wire::CollectivePlan record{};
  record.ticks = core::tState == call.thread ? core::readTicks() : 0;
  record.header.subject = isPeerCall(facts.function->op) ? 0 : wire::CollectivePlan::kHasNumber;
  record.collective = call.record.number;
  record.ownNumber = facts.number;
  record.algorithm = word(facts.algorithm);
  record.protocol = word(facts.protocol);
  record.channels = facts.channels;
  core::emitCollectivePlan(record, Probe::Nccl);
}

void writeEnd(std::uint64_t number, std::uint64_t ticks, std::uint32_t flags) noexcept {
  wire::CollectiveEnd record{};
  record.header.subject = flags;
  record.ticks = ticks;
  record.collective = number;
  core::emitCollectiveEnd(record, Probe::Nccl);
}

// The call was taken off its place in `state`.
void writeClosed(const Call& call, const Collective& record, std::uint64_t state) noexcept {
  const std::uint64_t lastTicks = call.lastTicks.load(std::memory_order_acquire);
  if ((state & kRunning) != 0)
    write(call.communicator, record);
  if ((state & kChildren) != 0)
    writeEnd(record.number, core::readTicks(), wire::CollectiveEnd::kUnfinished);
  else if ((state & kRunning) != 0 && lastTicks != 0)
    writeEnd(record.number, lastTicks, 0);
}

bool isOpenIn(const Call& call, std::uint64_t state, Handle communicator) noexcept {
  return (state & kClaimed) == 0 && (state & (kRunning | kChildren)) != 0 &&
         resolve(call.communicator) == resolve(communicator);
}

void close(Call& call, Handle communicator) noexcept {
  std::uint64_t state = call.state.load(std::memory_order_acquire);
  if (!isOpenIn(call, state, communicator))
    return;
  const Collective record = call.record;
  const std::uint32_t generation = generationOf(state);
  while (!call.state.compare_exchange_weak(
      state, std::uint64_t{generation + 1} << 32, std::memory_order_acq_rel)) {
    if (generationOf(state) != generation || (state & (kRunning | kChildren)) == 0)
      return;
  }
  writeClosed(call, record, state);
}

Handle handleOf(const Call& call, std::uint64_t state) noexcept {
  return {HandleKind::Call, generationOf(state), static_cast<std::uint32_t>(&call - gCalls)};
}

bool isUntold(const Call& call) noexcept {
  return call.byApi && !call.planned.load(std::memory_order_relaxed);
}

// Whether the call of the API is the one that the profiler interface tells of.
bool isSame(const Call& call, Handle communicator, const CallFacts& facts) noexcept {
  const Handle own = call.communicator;
  return isUntold(call) && (own == resolve(communicator) || mayBe(communicator, own)) &&
         call.record.header.detail == static_cast<std::uint8_t>(facts.function->op) &&
         call.bufferBytes == facts.count * facts.element.bytes && call.send == facts.send &&
         call.receive == facts.receive && call.record.peer == facts.peer;
}

// The first that is; None: there is none.
Handle findSame(Handle communicator, const CallFacts& facts) noexcept {
  const std::uint32_t next = gNext.load(std::memory_order_acquire);
  std::uint32_t at = gUntold.load(std::memory_order_relaxed);
  if (next - at > kMaxCalls)
    at = next - kMaxCalls;
  for (bool untold = false; at != next; ++at) {
    const Call& call = gCalls[at % kMaxCalls];
    const std::uint64_t state = call.state.load(std::memory_order_acquire);
    const bool known = (state & kClaimed) == 0 && generationOf(state) != 0;
    untold = untold || (state & kClaimed) != 0 || (known && isUntold(call));
    if (!untold)
      gUntold.store(at + 1, std::memory_order_relaxed);
    else if (known && isSame(call, communicator, facts))
      return handleOf(call, state);
  }
  return {};
}

// From version 5 on its parent names the call.
Handle findApiCall(Handle communicator, const CallFacts& facts) noexcept {
  if (facts.parent.kind == HandleKind::None)
    return findSame(communicator, facts);
  return facts.launch == Launch::Direct ? callOf(facts.parent) : Handle{};
}

void plan(Handle handle, Handle communicator, const CallFacts& facts) noexcept {
  std::uint64_t state = 0;
  Call* const call = find(handle, state);
  if (call == nullptr || !isOf(handle, state) || call->planned.exchange(true))
    return;
  identify(communicator, call->communicator);
  writePlan(*call, facts);
}

// Kind None: there is no room.
Handle add(Handle communicator, Communicator& known, const CallFacts& facts, bool byApi) noexcept {
  Call* const call = take();
  if (call == nullptr) {
    core::countLoss(Probe::Nccl, RecordKind::Collective, LossReason::Definitions);
    return {};
  }
  call->communicator = communicator;
  call->byApi = byApi;
  call->thread = core::tState;
  fillIn(*call, known, facts);
  return handleOf(*call, call->state.load(std::memory_order_relaxed));
}

// From now on it is found.
void publish(Handle handle, std::uint64_t seq) noexcept {
  Call& call = gCalls[handle.index];
  call.record.seq = seq;
  call.record.beginTicks = core::readTicks();
  call.state.store(std::uint64_t{handle.generation} << 32 | kRunning, std::memory_order_release);
}

// nullptr: it had returned before. `state` gets what it is in now.
Call* finishCall(Handle handle, bool byApi, std::uint64_t& state) noexcept {
  Call* const call = find(handle, state);
  if (call == nullptr || !isOf(handle, state) || call->byApi != byApi)
    return nullptr;
  do {
    if (!isOf(handle, state) || (state & kRunning) == 0)
      return nullptr;
  } while (!call->state.compare_exchange_weak(state, state & ~kRunning, std::memory_order_acq_rel));
  return call;
}

void writeFinished(const Call& call, const Collective& record, std::uint64_t state) noexcept {
  const std::uint64_t lastTicks = call.lastTicks.load(std::memory_order_acquire);
  write(call.communicator, record);
  if ((state & kChildren) == 0 && lastTicks != 0)
    writeEnd(record.number, lastTicks, 0);
}

}  // namespace

Handle startCall(Handle handle, const CallFacts& facts) noexcept {
  Communicator* const communicator = findCommunicator(handle);
  if (communicator != nullptr && facts.function == nullptr && core::enabled(Probe::Nccl))
    core::countLoss(Probe::Nccl, RecordKind::Collective, LossReason::Definitions);
  if (communicator == nullptr || facts.function == nullptr)
    return {};
  if (const Handle made = findApiCall(handle, facts); made) {
    plan(made, handle, facts);
    return made;
  }
  // Counted also while nothing is recorded: ranks are paused at different calls.
  const std::uint64_t seq = orderOf(handle, *communicator, facts);
  if (!core::enabled(Probe::Nccl))
    return {};
  const Handle made = add(handle, *communicator, facts, false);
  if (made)
    publish(made, seq);
  return made;
}

void stopCall(Handle handle) noexcept {
  const std::uint64_t now = core::readTicks();
  std::uint64_t state = 0;
  const Call* const call = finishCall(handle, false, state);
  if (call == nullptr)
    return;
  Collective record = call->record;
  record.endTicks = now;
  writeFinished(*call, record, state);
}

BegunCall beginApiCall(Handle handle, const CallFacts& facts) noexcept {
  Communicator* const communicator = findCommunicator(handle);
  if (communicator == nullptr || facts.function == nullptr)
    return {};
  const std::uint64_t seq = orderOf(handle, *communicator, facts);
  const Handle made =
      core::enabled(Probe::Nccl) ? add(handle, *communicator, facts, true) : Handle{};
  if (made)
    publish(made, seq);
  return {made, seq};
}

void endApiCall(Handle handle, const CallFacts& facts, bool grouped) noexcept {
  const std::uint64_t now = core::readTicks();
  std::uint64_t state = 0;
  Call* const call = finishCall(handle, true, state);
  if (call == nullptr)
    return;
  Collective record = call->record;
  record.endTicks = now;
  // NCCL may have been asked only now.
  if (const Communicator* const known = findCommunicator(call->communicator); known != nullptr) {
    fillInSizes(record, *known, facts);
    if (isNothing(*known, facts))
      call->planned.store(true, std::memory_order_relaxed);
  }
  if (grouped)
    record.flags |= Collective::kGrouped;
  writeFinished(*call, record, state);
}

void identifyWith(Handle communicator, Handle call) noexcept {
  std::uint64_t state = 0;
  const Call* const found = find(call, state);
  if (found != nullptr && isOf(call, state))
    identify(communicator, found->communicator);
}

void dropApiCall(Handle handle) noexcept {
  std::uint64_t state = 0;
  if (Call* const call = finishCall(handle, true, state); call != nullptr)
    call->planned.store(true, std::memory_order_relaxed);
}

void giveBack(Handle handle, const CallFacts& facts, std::uint64_t seq) noexcept {
  Communicator* const communicator = findCommunicator(handle);
  if (communicator == nullptr || facts.function == nullptr)
    return;
  if (isPeerCall(facts.function->op))
    giveBackPeerCall(resolve(handle), facts.peer, facts.function->op == CollectiveOp::Send, seq);
  else
    giveBackApiSequence(*communicator, facts.function->number, seq);
}

Handle communicatorOfCall(Handle handle) noexcept {
  std::uint64_t state = 0;
  const Call* const call = find(handle, state);
  return call != nullptr && isOf(handle, state) ? call->communicator : Handle{};
}

std::uint64_t lastCallNumber() noexcept {
  return gNumber.load(std::memory_order_relaxed);
}

void dropApiCallsSince(std::uint64_t number) noexcept {
  constexpr std::uint32_t kFlags = wire::CollectiveEnd::kUnfinished | wire::CollectiveEnd::kDropped;
  const std::uint32_t next = gNext.load(std::memory_order_acquire);
  for (std::uint32_t back = 1; back <= kMaxCalls; ++back) {  // the last gives its number back first
    Call& call = gCalls[(next - back) % kMaxCalls];
    const std::uint64_t state = call.state.load(std::memory_order_acquire);
    if ((state & kClaimed) != 0 || !call.byApi || call.thread != core::tState ||
        call.record.number <= number || call.planned.exchange(true))
      continue;
    CallFacts facts;
    facts.function = functionOf(call.function);
    facts.peer = call.record.peer;
    giveBack(call.communicator, facts, call.record.seq);
    writeEnd(call.record.number, core::readTicks(), kFlags);
  }
}

void abortCalls(Handle communicator) noexcept {
  constexpr std::uint32_t kFlags = wire::CollectiveEnd::kUnfinished | wire::CollectiveEnd::kAborted;
  for (const Call& call : gCalls) {
    if (isOpenIn(call, call.state.load(std::memory_order_acquire), communicator))
      writeEnd(call.record.number, core::readTicks(), kFlags);
  }
}

std::uint64_t joinCall(Handle handle) noexcept {
  std::uint64_t state = 0;
  Call* const call = find(handle, state);
  if (call == nullptr)
    return 0;
  do {
    if (!isOf(handle, state))
      return 0;
  } while (!call->state.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel));
  return call->record.number;
}

void leaveCall(Handle handle, std::uint64_t ticks) noexcept {
  std::uint64_t state = 0;
  Call* const call = find(handle, state);
  if (call == nullptr || !isOf(handle, state))
    return;
  const std::uint64_t number = call->record.number;
  std::uint64_t last = call->lastTicks.load(std::memory_order_relaxed);
  while (last < ticks && !call->lastTicks.compare_exchange_weak(last, ticks)) {
  }
  const std::uint64_t latest = last < ticks ? ticks : last;
  do {
    if (!isOf(handle, state) || (state & kChildren) == 0)
      return;
  } while (!call->state.compare_exchange_weak(state, state - 1, std::memory_order_acq_rel));
  if ((state & kRunning) == 0 && (state & kChildren) == 1)
    writeEnd(number, latest, 0);
}

void closeCalls(Handle communicator) noexcept {
  for (Call& call : gCalls)
    close(call, communicator);
}

}  // namespace sonde::preload::nccl
