#include "collector/preload/nccl/nccl_api_calls.h"

#include "collector/core/emit.h"
#include "collector/core/platform/clock.h"
#include "collector/core/thread_state.h"
#include "collector/preload/nccl/nccl_call_pool.h"
#include "collector/preload/nccl/nccl_call_records.h"
#include "collector/preload/nccl/nccl_calls.h"
#include "collector/preload/nccl/nccl_lanes.h"
#include "collector/preload/nccl/nccl_same_call.h"
#include "collector/wire/nccl_records.h"

namespace sonde::preload::nccl {

using wire::CollectiveEnd;
using wire::CollectiveOp;
using wire::Probe;

namespace {

// Another thread destroys the communicator. A missing handle means that it was invalid, or was
// counted as lost.
void countGone(Handle handle) noexcept {
  if (handle && core::enabled(Probe::Nccl))
    core::countLoss(Probe::Nccl, wire::RecordKind::Collective, wire::LossReason::Definitions);
}

}  // namespace

BegunCall beginApiCall(Handle handle, const CallFacts& facts) noexcept {
  Communicator* const communicator = findCommunicator(handle);
  if (facts.function == nullptr)
    return {};
  if (communicator == nullptr) {
    countGone(handle);
    return {};
  }
  const std::uint64_t seq = takeSequence(handle, *communicator, facts);
  const Handle made = addCall(handle, *communicator, facts, seq);
  keepCall(made);
  return {made ? made : Handle{HandleKind::Api, kApiNothing, kApiCounted}, seq};
}

void endApiCall(Handle handle, const CallFacts& facts, std::uint8_t group) noexcept {
  const std::uint64_t now = core::readTicks();
  Call call;
  if (!readCall(handle, call) || !call.identity.byApi)
    return;
  // NCCL may only now have been asked about it.
  if (const Communicator* const known = findCommunicator(call.identity.communicator);
      known != nullptr) {
    fillInSizes(call.record, *known, facts);
    if (isNothing(*known, facts))
      passOverCall(handle);
  }
  CallRest rest;
  if (!finishCall(handle, rest))
    return;
  call.record.endTicks = now;
  call.record.flags |= static_cast<std::uint8_t>(group << wire::Collective::kGroupShift);
  writeFinished(call, rest);
}

void dropApiCall(Handle handle) noexcept {
  CallIdentity call;
  CallRest rest;
  if (!readCall(handle, call) || !call.byApi)
    return;
  tellOfCall(handle);
  finishCall(handle, rest);
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
  CallIdentity call;
  return readCall(handle, call) ? call.communicator : Handle{};
}

// Starts with the last call, which gives its number back first.
void dropApiCallsSince(std::uint64_t number) noexcept {
  Call call;
  for (std::uint32_t back = 0; back < kMaxCalls; ++back) {
    const Handle handle = callBefore(back);
    if (!handle || !readCall(handle, call) || !call.identity.byApi ||
        call.identity.thread != core::tState || call.record.number <= number || !tellOfCall(handle))
      continue;
    CallFacts facts;
    facts.function = functionOf(call.function);
    facts.peer = call.record.peer;
    giveBack(call.identity.communicator, facts, call.record.seq);
    writeEnd(
        call.identity, core::readTicks(), CollectiveEnd::kUnfinished | CollectiveEnd::kDropped);
  }
}

void identifyWith(Handle communicator, Handle handle) noexcept {
  CallIdentity call;
  if (readCall(handle, call))
    identify(communicator, call.communicator);
}

}  // namespace sonde::preload::nccl
