#include "collector/preload/probes/nccl_calls.h"

#include "collector/core/clock.h"
#include "collector/core/communication.h"
#include "collector/core/emit.h"
#include "collector/preload/probes/nccl_events.h"

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
  Handle communicator;
  Collective record;
};

constinit Call gCalls[kMaxCalls]{};
constinit std::atomic<std::uint32_t> gNext{0};
constinit std::atomic<std::uint64_t> gNumber{0};

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

struct Sizes {
  std::uint64_t bytes;
  std::uint64_t send;
  std::uint64_t receive;
};

// `bytes`: count times the size of an element. `all`: that of all ranks together.
Sizes sizesOf(CollectiveOp op, std::uint64_t bytes, std::uint64_t all, bool isRoot) noexcept {
  switch (op) {
    case CollectiveOp::Broadcast:
      return {bytes, isRoot ? bytes : 0, bytes};
    case CollectiveOp::Reduce:
      return {bytes, bytes, isRoot ? bytes : 0};
    case CollectiveOp::Allgather:
      return {all, bytes, all};
    case CollectiveOp::ReduceScatter:
      return {all, all, bytes};
    case CollectiveOp::Alltoall:
      return {all, all, all};
    case CollectiveOp::Gather:
      return {all, bytes, isRoot ? all : 0};
    case CollectiveOp::Scatter:
      return {all, isRoot ? all : 0, bytes};
    case CollectiveOp::Send:
      return {bytes, bytes, 0};
    case CollectiveOp::Receive:
      return {bytes, 0, bytes};
    default:
      return {bytes, bytes, bytes};
  }
}

Sizes sizesOf(const Communicator& communicator, const CallFacts& facts) noexcept {
  constexpr std::uint64_t kUnknown = Collective::kUnknownBytes;
  if (facts.element.bytes == 0)
    return {kUnknown, kUnknown, kUnknown};
  const std::uint64_t bytes = facts.count * facts.element.bytes;
  const std::int32_t size = communicator.size.load(std::memory_order_relaxed);
  const CollectiveOp op = facts.function->op;
  const bool trafficIsAll = op == CollectiveOp::Allgather || op == CollectiveOp::ReduceScatter;
  std::uint64_t all = kUnknown;
  if (size > 0)
    all = bytes * static_cast<std::uint64_t>(size);
  else if (trafficIsAll && facts.trafficBytes > 0)
    all = facts.trafficBytes;
  return sizesOf(op, bytes, all, communicator.rank.load(std::memory_order_relaxed) == facts.root);
}

bool isPeerCall(const CallFacts& facts) noexcept {
  return facts.function->op == CollectiveOp::Send || facts.function->op == CollectiveOp::Receive;
}

std::uint64_t orderOf(Handle handle, Communicator& communicator, const CallFacts& facts) noexcept {
  if (isPeerCall(facts))
    return static_cast<std::uint64_t>(
        countPeerCall(handle, facts.peer, facts.function->op == CollectiveOp::Send));
  const auto function =
      static_cast<std::uint8_t>(facts.function->number + (facts.byCopyEngine ? kCopyEngine : 0));
  return sequenceOf(communicator, function, facts.number, facts.launch);
}

std::uint32_t word(const char* text) noexcept {
  return text == nullptr ? 0 : core::intern(text);
}

void fillIn(Collective& record, Communicator& communicator, const CallFacts& facts) noexcept {
  const Sizes sizes = sizesOf(communicator, facts);
  record = {};
  record.header.subject = communicatorId(communicator);
  record.header.detail = static_cast<std::uint8_t>(facts.function->op);
  record.bytes = sizes.bytes;
  record.sendBytes = sizes.send;
  record.recvBytes = sizes.receive;
  record.root = facts.root;
  record.peer = facts.peer;
  record.name = core::intern(facts.function->name);
  record.algorithm = word(facts.algorithm);
  record.protocol = word(facts.protocol);
  record.dtype = facts.element.type;
  record.probe = Probe::Nccl;
  record.flags = static_cast<std::uint8_t>(
      Collective::kEnqueued | (facts.launch == Launch::Graph ? Collective::kGraphCaptured : 0) |
      (isPeerCall(facts) ? 0 : Collective::kHasNumber));
  record.channels = facts.channels;
  record.number = gNumber.fetch_add(1, std::memory_order_relaxed) + 1;
  record.ownNumber = facts.number;
}

void writeEnd(std::uint64_t number, std::uint64_t ticks, std::uint32_t flags) noexcept {
  wire::CollectiveEnd record{};
  record.header.subject = flags;
  record.ticks = ticks;
  record.collective = number;
  core::emitCollectiveEnd(record, Probe::Nccl);
}

// The call was taken off its place in `state`.
void writeClosed(const Collective& record, std::uint64_t state, std::uint64_t lastTicks) noexcept {
  if ((state & kRunning) != 0)
    core::emitCollective(record);
  if ((state & kChildren) != 0)
    writeEnd(record.number, core::readTicks(), wire::CollectiveEnd::kUnfinished);
  else if ((state & kRunning) != 0 && lastTicks != 0)
    writeEnd(record.number, lastTicks, 0);
}

void close(Call& call, Handle communicator) noexcept {
  std::uint64_t state = call.state.load(std::memory_order_acquire);
  if ((state & kClaimed) != 0 || (state & (kRunning | kChildren)) == 0 ||
      call.communicator != communicator)
    return;
  const Collective record = call.record;
  const std::uint32_t generation = generationOf(state);
  while (!call.state.compare_exchange_weak(
      state, std::uint64_t{generation + 1} << 32, std::memory_order_acq_rel)) {
    if (generationOf(state) != generation || (state & (kRunning | kChildren)) == 0)
      return;
  }
  writeClosed(record, state, call.lastTicks.load(std::memory_order_acquire));
}

}  // namespace

Handle startCall(Handle handle, const CallFacts& facts) noexcept {
  Communicator* const communicator = findCommunicator(handle);
  if (communicator == nullptr || facts.function == nullptr)
    return {};
  // Counted also while nothing is recorded: ranks are paused at different calls.
  const std::uint64_t seq = orderOf(handle, *communicator, facts);
  if (!core::enabled(Probe::Nccl))
    return {};
  Call* const call = take();
  if (call == nullptr) {
    core::countLoss(Probe::Nccl, RecordKind::Collective, LossReason::Definitions);
    return {};
  }
  call->communicator = handle;
  call->lastTicks.store(0, std::memory_order_relaxed);
  fillIn(call->record, *communicator, facts);
  call->record.seq = seq;
  call->record.beginTicks = core::readTicks();
  const std::uint32_t generation = generationOf(call->state.load(std::memory_order_relaxed));
  call->state.store(std::uint64_t{generation} << 32 | kRunning, std::memory_order_release);
  return {HandleKind::Call, generation, static_cast<std::uint32_t>(call - gCalls)};
}

void stopCall(Handle handle) noexcept {
  const std::uint64_t now = core::readTicks();
  std::uint64_t state = 0;
  Call* const call = find(handle, state);
  if (call == nullptr || !isOf(handle, state))
    return;
  Collective record = call->record;
  record.endTicks = now;
  do {
    if (!isOf(handle, state) || (state & kRunning) == 0)
      return;
  } while (!call->state.compare_exchange_weak(state, state & ~kRunning, std::memory_order_acq_rel));
  const std::uint64_t lastTicks = call->lastTicks.load(std::memory_order_acquire);
  core::emitCollective(record);
  if ((state & kChildren) == 0 && lastTicks != 0)
    writeEnd(record.number, lastTicks, 0);
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
