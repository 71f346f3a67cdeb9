#include "collector/preload/nccl/nccl_call_records.h"

#include "collector/core/communication.h"
#include "collector/core/emit.h"
#include "collector/core/platform/clock.h"
#include "collector/core/thread_state.h"
#include "collector/preload/nccl/nccl_lanes.h"
#include "collector/preload/nccl/nccl_sizes.h"

namespace sonde::preload::nccl {
namespace {

using wire::Collective;
using wire::CollectiveOp;
using wire::LossReason;
using wire::Probe;
using wire::RecordKind;

constexpr auto kNotCounted = static_cast<std::uint64_t>(-1);  // returned by countPeerCall()
constinit std::atomic<std::uint64_t> gNumber{0};

std::uint32_t word(const char* text) noexcept {
  return text == nullptr ? 0 : core::intern(text);
}

std::uint8_t flagsOf(const CallFacts& facts) noexcept {
  const bool byApi = facts.name != nullptr;
  return static_cast<std::uint8_t>(
      Collective::kEnqueued | (facts.launch == Launch::Graph ? Collective::kGraphCaptured : 0) |
      (isPeerCall(facts.function->op) || byApi ? 0 : Collective::kHasNumber));
}

void fillIn(Collective& record, const Communicator& communicator, const CallFacts& facts) noexcept {
  record.header.detail = static_cast<std::uint8_t>(facts.function->op);
  fillInSizes(record, communicator, facts);
  record.root = facts.root;
  record.peer = facts.peer;
  record.name = core::intern(facts.name != nullptr ? facts.name : facts.function->name);
  record.algorithm = word(facts.algorithm);
  record.protocol = word(facts.protocol);
  record.dtype = facts.element.type;
  record.probe = Probe::Nccl;
  record.flags = flagsOf(facts);
  record.channels = facts.channels;
  record.number = gNumber.fetch_add(1, std::memory_order_relaxed) + 1;
  record.ownNumber = facts.number;
}

// The call is recorded, but a part of it is not.
void countPart() noexcept {
  core::countLoss(Probe::Nccl, RecordKind::CollectivePart, LossReason::Definitions);
}

// Communicators are defined as late as possible, so that the profiler interface can report about
// them first.
void write(const Call& call) noexcept {
  if (!call.identity.recorded)
    return;
  Collective record = call.record;
  if (Communicator* const found = findCommunicator(call.identity.communicator); found != nullptr) {
    record.header.subject = communicatorId(*found);
    if (record.header.subject == 0)
      countPart();
  }
  core::emitCollective(record);
}

}  // namespace

std::uint64_t lastCallNumber() noexcept {
  return gNumber.load(std::memory_order_relaxed);
}

std::uint64_t takeSequence(Handle handle,
                           Communicator& communicator,
                           const CallFacts& facts) noexcept {
  if (isPeerCall(facts.function->op))
    return static_cast<std::uint64_t>(
        countPeerCall(resolve(handle), facts.peer, facts.function->op == CollectiveOp::Send));
  if (facts.name != nullptr)
    return apiSequenceOf(communicator, facts.function->number);
  const auto function =
      static_cast<std::uint8_t>(facts.function->number + (facts.byCopyEngine ? kCopyEngine : 0));
  return sequenceOf(communicator, function, facts.number, facts.launch);
}

Handle addCall(Handle handle,
               const Communicator& communicator,
               const CallFacts& facts,
               std::uint64_t seq) noexcept {
  Call call;
  fillIn(call.record, communicator, facts);
  call.record.seq = seq;
  call.identity = {
      handle, facts.name != nullptr, core::enabled(Probe::Nccl), core::tState, call.record.number};
  if (call.identity.recorded && isPeerCall(facts.function->op) && seq == kNotCounted)
    countPart();
  call.function = facts.function->number;
  call.send = facts.send;
  call.receive = facts.receive;
  call.bufferBytes = facts.count * facts.element.bytes;
  call.record.beginTicks = core::readTicks();
  const Handle made = publishCall(call, isNothing(communicator, facts));
  if (!made && call.identity.recorded)
    core::countLoss(Probe::Nccl, RecordKind::Collective, LossReason::Definitions);
  return made;
}

// NCCL does report sends without bytes and sends to the same rank.
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

void writePlan(const CallIdentity& call, const CallFacts& facts) noexcept {
  if (!call.recorded)
    return;
  wire::CollectivePlan record{};
  record.ticks = core::tState == call.thread ? core::readTicks() : 0;
  record.header.subject = isPeerCall(facts.function->op) ? 0 : wire::CollectivePlan::kHasNumber;
  record.collective = call.number;
  record.ownNumber = facts.number;
  record.algorithm = word(facts.algorithm);
  record.protocol = word(facts.protocol);
  record.channels = facts.channels;
  core::emitCollectivePlan(record, Probe::Nccl);
}

void writeEnd(const CallIdentity& call, std::uint64_t ticks, std::uint32_t flags) noexcept {
  if (!call.recorded)
    return;
  wire::CollectiveEnd record{};
  record.header.subject = flags;
  record.ticks = ticks;
  record.collective = call.number;
  core::emitCollectiveEnd(record, Probe::Nccl);
}

void writeAbort(Handle communicator) noexcept {
  Communicator* const found = findCommunicator(communicator);
  if (found == nullptr || !core::enabled(Probe::Nccl))
    return;
  wire::CommunicatorAbort record{};
  record.header.subject = communicatorId(*found);
  record.ticks = core::readTicks();
  if (record.header.subject == 0)
    return countPart();
  core::emitCommunicatorAbort(record, Probe::Nccl);
}

void writeFinished(const Call& call, const CallRest& rest) noexcept {
  write(call);
  if (!rest.children && rest.lastTicks != 0)
    writeEnd(call.identity, rest.lastTicks);
}

void writeClosed(const Call& call, const CallRest& rest) noexcept {
  if (rest.running)
    write(call);
  if (rest.children)
    writeEnd(call.identity, core::readTicks(), wire::CollectiveEnd::kUnfinished);
  else if (rest.running && rest.lastTicks != 0)
    writeEnd(call.identity, rest.lastTicks);
}

}  // namespace sonde::preload::nccl
