#include "collector/preload/probes/nccl_events.h"

#include "collector/core/clock.h"
#include "collector/core/communication.h"
#include "collector/core/emit.h"
#include "collector/core/syscalls.h"
#include "collector/preload/probes/nccl_calls.h"

namespace sonde::preload::nccl {
namespace {

using wire::LossReason;
using wire::Probe;
using wire::ProxyStep;
using wire::RecordKind;

struct Operation {
  Handle communicator;  // None: of another process
  Handle call;          // None: not known
  LaneName laneName;
  Lane* lane;  // nullptr for a kernel channel
  std::uint64_t number;
  std::int32_t chunkBytes;
};

struct ProxyOp : Pooled, Operation {};

struct Step : Pooled {
  Handle communicator;
  LaneName laneName;
  Lane* lane;
  std::uint64_t number;
  std::int32_t chunkBytes;
  std::int32_t step;
  std::uint64_t beginTicks;
  std::atomic<std::uint64_t> handedTicks;   // 0: not yet, as all below
  std::atomic<std::uint64_t> arrivedTicks;  // by RecvFlushWait
  std::atomic<std::uint64_t> passedTicks;   // by RecvGPUWait
  std::atomic<std::int64_t> bytes;          // -1: not said
  std::atomic<std::uint64_t> networkBytes;
};

constinit Pool<ProxyOp, 16384> gProxyOps;
constinit Pool<Step, 32768> gSteps;

void countFull() noexcept {
  core::countLoss(Probe::Nccl, RecordKind::CollectivePart, LossReason::Definitions);
}

// The first time that a state is told of holds.
void setOnce(std::atomic<std::uint64_t>& ticks) noexcept {
  std::uint64_t none = 0;
  ticks.compare_exchange_strong(none, core::readTicks(), std::memory_order_relaxed);
}

std::uint64_t firstOf(std::uint64_t a, std::uint64_t b) noexcept {
  return a != 0 ? a : b;
}

void fillInSize(ProxyStep& record, const Step& step) noexcept {
  const std::int64_t said = step.bytes.load(std::memory_order_relaxed);
  const std::uint64_t seen = step.networkBytes.load(std::memory_order_relaxed);
  if (said >= 0)
    record.bytes = static_cast<std::uint64_t>(said);
  else if (step.laneName.send && seen > 0)
    record.bytes = seen;
  else {
    record.bytes = step.chunkBytes > 0 ? static_cast<std::uint64_t>(step.chunkBytes) : 0;
    record.header.detail |= ProxyStep::kInexact;
  }
}

// Requires: the step is claimed. `stopTicks` 0: it never stopped.
void write(const Step& step, std::uint64_t stopTicks) noexcept {
  ProxyStep record{};
  record.header.subject = channelId(*step.lane, step.laneName);
  record.header.detail = step.laneName.send ? 0 : ProxyStep::kReceive;
  record.beginTicks = firstOf(step.handedTicks.load(std::memory_order_relaxed), step.beginTicks);
  const std::uint64_t arrived = firstOf(step.arrivedTicks.load(std::memory_order_relaxed),
                                        step.passedTicks.load(std::memory_order_relaxed));
  record.endTicks = step.laneName.send ? stopTicks : firstOf(arrived, stopTicks);
  if (record.endTicks != 0 && record.beginTicks > record.endTicks)
    record.beginTicks = step.beginTicks < record.endTicks ? step.beginTicks : record.endTicks;
  record.collective = step.number;
  record.step = static_cast<std::uint32_t>(step.step);
  fillInSize(record, step);
  record.offset = step.lane->count.fetch_add(record.bytes, std::memory_order_relaxed);
  if (record.header.subject == 0)
    return countFull();
  core::emitProxyStep(record, Probe::Nccl);
}

ProxyOp* takeOp(Handle communicator, Handle parent) noexcept {
  ProxyOp* const op = gProxyOps.take();
  if (op == nullptr) {
    countFull();
    return nullptr;
  }
  op->communicator = communicator;
  op->lane = nullptr;
  op->number = joinCall(parent);
  op->call = op->number != 0 ? parent : Handle{};
  return op;
}

// False: it is none any more. It may stop, and another get its place, meanwhile.
bool copyOf(Handle handle, Operation& copy) noexcept {
  const ProxyOp* const op = handle.kind == HandleKind::ProxyOp ? gProxyOps.find(handle) : nullptr;
  if (op == nullptr)
    return false;
  copy = *op;
  std::atomic_thread_fence(std::memory_order_acquire);
  return gProxyOps.find(handle) == op;
}

void stopOp(Handle handle) noexcept {
  ProxyOp* const op = gProxyOps.claim(handle);
  if (op == nullptr)
    return;
  const Handle call = op->call;
  gProxyOps.giveBack(*op);
  leaveCall(call, core::readTicks());
}

void stopStep(Handle handle) noexcept {
  const std::uint64_t now = core::readTicks();
  Step* const step = gSteps.claim(handle);
  if (step == nullptr)
    return;
  write(*step, now);
  gSteps.giveBack(*step);
}

}  // namespace

Handle startProxyOp(Handle communicator, Handle parent, const ProxyOpFacts& facts) noexcept {
  if (!core::enabled(Probe::Nccl))
    return {};
  // Proxies may work for another process (PXN): its handles say nothing here.
  const bool own = facts.pid == static_cast<std::int32_t>(core::rawSyscall(SYS_getpid));
  ProxyOp* const op = takeOp(own ? communicator : Handle{}, own ? parent : Handle{});
  if (op == nullptr)
    return {};
  op->laneName = {op->communicator, facts.pid, facts.rank, facts.peer, facts.channel, facts.send};
  op->lane = findLane(op->laneName);
  op->chunkBytes = facts.chunkBytes;
  return gProxyOps.publish(*op, HandleKind::ProxyOp);
}

Handle startKernelChannel(Handle communicator, Handle parent) noexcept {
  if (!core::enabled(Probe::Nccl))
    return {};
  ProxyOp* const op = takeOp(communicator, parent);
  return op == nullptr ? Handle{} : gProxyOps.publish(*op, HandleKind::KernelChannel);
}

Handle startStep(Handle proxyOp, std::int32_t number) noexcept {
  const std::uint64_t now = core::readTicks();
  Operation op;
  if (!copyOf(proxyOp, op))
    return {};
  Step* const step = op.lane == nullptr ? nullptr : gSteps.take();
  if (step == nullptr) {
    countFull();
    return {};
  }
  step->communicator = op.communicator;
  step->laneName = op.laneName;
  step->lane = op.lane;
  step->number = op.number;
  step->chunkBytes = op.chunkBytes;
  step->step = number;
  step->beginTicks = now;
  for (auto* ticks : {&step->handedTicks, &step->arrivedTicks, &step->passedTicks})
    ticks->store(0, std::memory_order_relaxed);
  step->bytes.store(-1, std::memory_order_relaxed);
  step->networkBytes.store(0, std::memory_order_relaxed);
  return gSteps.publish(*step, HandleKind::Step);
}

void reach(Handle handle, StepState state, std::int64_t bytes) noexcept {
  Step* const step = handle.kind == HandleKind::Step ? gSteps.find(handle) : nullptr;
  if (step == nullptr)
    return;
  switch (state) {
    case StepState::SendWait:
    case StepState::ReceiveWait:
      setOnce(step->handedTicks);
      break;
    case StepState::ReceiveFlushWait:
      setOnce(step->arrivedTicks);
      break;
    case StepState::ReceiveDeviceWait:
      setOnce(step->passedTicks);
      break;
  }
  // With the others comes the size of an earlier step.
  if (bytes >= 0 && (state == StepState::SendWait || state == StepState::ReceiveFlushWait))
    step->bytes.store(bytes, std::memory_order_relaxed);
}

void addNetworkBytes(Handle handle, std::uint64_t bytes) noexcept {
  if (Step* const step = handle.kind == HandleKind::Step ? gSteps.find(handle) : nullptr;
      step != nullptr)
    step->networkBytes.fetch_add(bytes, std::memory_order_relaxed);
}

void stop(Handle event) noexcept {
  switch (event.kind) {
    case HandleKind::Call:
      return stopCall(event);
    case HandleKind::ProxyOp:
    case HandleKind::KernelChannel:
      return stopOp(event);
    case HandleKind::Step:
      return stopStep(event);
    default:
      return;
  }
}

void finalize(Handle communicator) noexcept {
  if (findCommunicator(communicator) == nullptr)
    return;
  gSteps.forEach(HandleKind::Step, [&](Handle handle, Step& step) {
    if (step.communicator != communicator || gSteps.claim(handle) == nullptr)
      return;
    write(step, 0);
    gSteps.giveBack(step);
  });
  gProxyOps.forEach(HandleKind::ProxyOp, [&](Handle handle, ProxyOp& op) {
    if (op.communicator == communicator && gProxyOps.claim(handle) != nullptr)
      gProxyOps.giveBack(op);
  });
  closeCalls(communicator);
  removeCommunicator(communicator);
}

}  // namespace sonde::preload::nccl
