#include "collector/preload/nccl/nccl_events.h"

#include "collector/core/communication.h"
#include "collector/core/emit.h"
#include "collector/core/platform/clock.h"
#include "collector/core/platform/syscalls.h"
#include "collector/preload/nccl/nccl_calls.h"
#include "collector/preload/nccl/nccl_lanes.h"

namespace sonde::preload::nccl {
namespace {

using wire::LossReason;
using wire::Probe;
using wire::ProxyStep;
using wire::RecordKind;

// The call that a proxy operation or a kernel channel, and its steps, belong to.
struct Operation {
  Handle communicator;  // None: another process's
  Handle call;          // None: unknown
  LaneName laneName;
  Lane* lane = nullptr;  // nullptr for a kernel channel
  std::uint64_t number = 0;
  std::int32_t chunkBytes = 0;
};

struct ProxyOp : Pooled {
  SharedValue<Operation> facts;
};

struct StepFacts {
  Operation of;
  std::int32_t step = 0;
  std::uint64_t beginTicks = 0;
};

struct Step : Pooled {
  SharedValue<StepFacts> facts;
  std::atomic<std::uint64_t> handedTicks;   // 0: not yet; the same for all below
  std::atomic<std::uint64_t> arrivedTicks;  // by RecvFlushWait
  std::atomic<std::uint64_t> passedTicks;   // by RecvGPUWait
  std::atomic<std::int64_t> bytes;          // -1: unknown
  std::atomic<std::uint64_t> networkBytes;
};

constinit Pool<ProxyOp, 16384> gProxyOps;
constinit Pool<Step, 32768> gSteps;

void countFull() noexcept {
  core::countLoss(Probe::Nccl, RecordKind::CollectivePart, LossReason::Definitions);
}

// The first report of a state is valid.
void setOnce(std::atomic<std::uint64_t>& ticks) noexcept {
  std::uint64_t none = 0;
  ticks.compare_exchange_strong(none, core::readTicks(), std::memory_order_relaxed);
}

std::uint64_t firstOf(std::uint64_t a, std::uint64_t b) noexcept {
  return a != 0 ? a : b;
}

void fillInSize(ProxyStep& record, const Step& step, const Operation& of) noexcept {
  const std::int64_t said = step.bytes.load(std::memory_order_relaxed);
  const std::uint64_t seen = step.networkBytes.load(std::memory_order_relaxed);
  if (said >= 0)
    record.bytes = static_cast<std::uint64_t>(said);
  else if (of.laneName.send && seen > 0)
    record.bytes = seen;
  else {
    record.bytes = of.chunkBytes > 0 ? static_cast<std::uint64_t>(of.chunkBytes) : 0;
    record.header.detail |= ProxyStep::kInexact;
  }
}

void fillInTimes(ProxyStep& record,
                 const Step& step,
                 const StepFacts& facts,
                 std::uint64_t stopTicks) noexcept {
  const std::uint64_t arrived = firstOf(step.arrivedTicks.load(std::memory_order_relaxed),
                                        step.passedTicks.load(std::memory_order_relaxed));
  record.beginTicks = firstOf(step.handedTicks.load(std::memory_order_relaxed), facts.beginTicks);
  record.endTicks = facts.of.laneName.send ? stopTicks : firstOf(arrived, stopTicks);
  if (record.endTicks != 0 && record.beginTicks > record.endTicks)
    record.beginTicks = facts.beginTicks < record.endTicks ? facts.beginTicks : record.endTicks;
}

// Requires: the step is claimed. `stopTicks` 0: it never stopped.
void write(const Step& step, std::uint64_t stopTicks) noexcept {
  StepFacts facts;
  step.facts.get(facts);
  ProxyStep record{};
  record.header.subject = channelId(*facts.of.lane, facts.of.laneName);
  record.header.detail = facts.of.laneName.send ? 0 : ProxyStep::kReceive;
  fillInTimes(record, step, facts, stopTicks);
  record.collective = facts.of.number;
  record.step = static_cast<std::uint32_t>(facts.step);
  fillInSize(record, step, facts.of);
  record.offset = facts.of.lane->count.fetch_add(record.bytes, std::memory_order_relaxed);
  if (record.header.subject == 0)
    return countFull();
  core::emitProxyStep(record, Probe::Nccl);
}

// Each step of it counts as lost.
constexpr Handle kLostOp{HandleKind::ProxyOp, 0, 0};

// Returns kLostOp if there is no room.
Handle add(Operation of, Handle parent, HandleKind kind) noexcept {
  ProxyOp* const op = gProxyOps.take();
  if (op == nullptr) {
    countFull();
    return kLostOp;
  }
  of.number = joinCall(parent);
  of.call = of.number != 0 ? parent : Handle{};
  op->facts.put(of);
  return gProxyOps.publish(*op, kind);
}

// False: it no longer exists. Meanwhile it may stop, and its place may be reused.
bool copyOf(Handle handle, Operation& copy) noexcept {
  const ProxyOp* const op = handle.kind == HandleKind::ProxyOp ? gProxyOps.find(handle) : nullptr;
  if (op == nullptr)
    return false;
  op->facts.get(copy);
  return gProxyOps.find(handle) == op;
}

void stopOp(Handle handle) noexcept {
  ProxyOp* const op = gProxyOps.claim(handle);
  if (op == nullptr)
    return;
  Operation of;
  op->facts.get(of);
  gProxyOps.giveBack(*op);
  leaveCall(of.call, core::readTicks());
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
  // Proxies may work for another process (PXN), whose handles are not valid here.
  const bool own = facts.pid == static_cast<std::int32_t>(core::rawSyscall(SYS_getpid));
  if (own && communicator == kLostCommunicator) {
    countFull();
    return kLostOp;
  }
  Operation of;
  of.communicator = own ? communicator : Handle{};
  of.laneName = {communicator,
                 own ? 0 : facts.pid,
                 facts.rank,
                 facts.peer,
                 facts.channel,
                 facts.send,
                 facts.peerToPeer};
  of.lane = findLane(of.laneName);
  of.chunkBytes = facts.chunkBytes;
  return add(of, own ? parent : Handle{}, HandleKind::ProxyOp);
}

Handle startKernelChannel(Handle communicator, Handle parent) noexcept {
  if (!core::enabled(Probe::Nccl))
    return {};
  Operation of;
  of.communicator = communicator;
  return add(of, parent, HandleKind::KernelChannel);
}

Handle startStep(Handle proxyOp, std::int32_t number) noexcept {
  StepFacts facts;
  facts.beginTicks = core::readTicks();
  facts.step = number;
  if (proxyOp == kLostOp && core::enabled(Probe::Nccl))
    countFull();
  if (!copyOf(proxyOp, facts.of))
    return {};
  Step* const step = facts.of.lane == nullptr ? nullptr : gSteps.take();
  if (step == nullptr) {
    countFull();
    return {};
  }
  step->facts.put(facts);
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
  // Other states report the size of an earlier step.
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
  StepFacts facts;
  gSteps.forEach(HandleKind::Step, [&](Handle handle, Step& step) {
    step.facts.get(facts);
    if (facts.of.communicator != communicator || gSteps.claim(handle) == nullptr)
      return;
    write(step, 0);
    gSteps.giveBack(step);
  });
  Operation of;
  gProxyOps.forEach(HandleKind::ProxyOp, [&](Handle handle, ProxyOp& op) {
    op.facts.get(of);
    if (of.communicator == communicator && gProxyOps.claim(handle) != nullptr)
      gProxyOps.giveBack(op);
  });
  closeCalls(communicator);
  removeCommunicator(communicator);
}

}  // namespace sonde::preload::nccl
