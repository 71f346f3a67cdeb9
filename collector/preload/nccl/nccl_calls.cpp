#include "collector/preload/nccl/nccl_calls.h"

#include "collector/core/emit.h"
#include "collector/core/platform/clock.h"
#include "collector/preload/nccl/nccl_call_pool.h"
#include "collector/preload/nccl/nccl_call_records.h"
#include "collector/preload/nccl/nccl_events.h"
#include "collector/preload/nccl/nccl_same_call.h"
#include "collector/wire/nccl_records.h"

namespace sonde::preload::nccl {
namespace {

using wire::LossReason;
using wire::Probe;
using wire::RecordKind;

// The call in a Handle of kind Api, whose index nccl_api.cpp composed.
Handle callOf(Handle api) noexcept {
  return (api.index & kApiHasCall) == 0
             ? Handle{}
             : Handle{HandleKind::Call, api.generation, api.index & (kApiHasCall - 1)};
}

// Returns the API's call for the reported one; kind None: none. `first`: it is reported for the
// first time. From version 5 on the report's parent identifies the call.
Handle findApiCall(Handle communicator, const CallFacts& facts, bool& first) noexcept {
  if (facts.parent.kind == HandleKind::None) {
    const Handle same = takeSameCall(communicator, facts);
    first = static_cast<bool>(same);
    return same;
  }
  const Handle call = facts.launch == Launch::Direct ? callOf(facts.parent) : Handle{};
  first = tellOfCall(call);
  return call;
}

void plan(Handle handle, Handle communicator, const CallFacts& facts) noexcept {
  CallIdentity call;
  if (!readCall(handle, call))
    return;
  identify(communicator, call.communicator);
  writePlan(call, facts);
}

// Calls visit(handle, call) for each open call of this communicator.
template <typename Visit>
void forEachIn(Handle communicator, Visit visit) noexcept {
  const Handle resolved = resolve(communicator);
  Call call;
  for (std::uint32_t back = 0; back < kMaxCalls; ++back) {
    const Handle handle = callBefore(back);
    if (handle && isOpen(handle) && readCall(handle, call) &&
        resolve(call.identity.communicator) == resolved)
      visit(handle, call);
  }
}

}  // namespace

Handle startCall(Handle handle, const CallFacts& facts) noexcept {
  Communicator* const communicator = findCommunicator(handle);
  const bool lost =
      handle == kLostCommunicator || (communicator != nullptr && facts.function == nullptr);
  if (lost && core::enabled(Probe::Nccl))
    core::countLoss(Probe::Nccl, RecordKind::Collective, LossReason::Definitions);
  if (communicator == nullptr || facts.function == nullptr)
    return {};
  if (facts.launch == Launch::Direct && (facts.parent.index & kApiCounted) != 0)
    return {};
  bool first = false;
  if (const Handle made = findApiCall(handle, facts, first); made) {
    if (first)
      plan(made, handle, facts);
    return made;
  }
  // Counted even while recording is off: ranks may pause at different calls.
  const std::uint64_t seq = takeSequence(handle, *communicator, facts);
  return core::admits(Probe::Nccl) ? addCall(handle, *communicator, facts, seq) : Handle{};
}

void stopCall(Handle handle) noexcept {
  const std::uint64_t now = core::readTicks();
  CallIdentity identity;
  if (!readCall(handle, identity) || identity.byApi)
    return;
  Call call;
  CallRest rest;
  if (!readCall(handle, call) || !finishCall(handle, rest))
    return;
  call.record.endTicks = now;
  writeFinished(call, rest);
}

std::uint64_t joinCall(Handle handle) noexcept {
  CallIdentity call;
  return readCall(handle, call) && call.recorded && joinChild(handle) ? call.number : 0;
}

void leaveCall(Handle handle, std::uint64_t ticks) noexcept {
  CallIdentity call;
  std::uint64_t latest = 0;
  if (readCall(handle, call) && leaveChild(handle, ticks, latest))
    writeEnd(call, latest);
}

void closeCalls(Handle communicator) noexcept {
  forEachIn(communicator, [&](Handle handle, const Call& call) {
    CallRest rest;
    if (closeCall(handle, rest))
      writeClosed(call, rest);
  });
}

}  // namespace sonde::preload::nccl
