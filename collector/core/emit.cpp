#include "collector/core/emit.h"

#include "collector/core/capture.h"
#include "collector/core/definitions.h"
#include "collector/core/platform/clock.h"
#include "collector/core/platform/syscalls.h"
#include "collector/core/record_place.h"
#include "collector/core/spool.h"
#include "collector/core/stack_events.h"
#include "collector/core/thread_state.h"

#include <string.h>

namespace sonde::core {
namespace {

using wire::LossReason;
using wire::Probe;
using wire::RecordKind;

wire::RecordHeader header(std::uint32_t subject, std::uint8_t detail = 0) noexcept {
  return {0, RecordKind::Count, detail, subject};
}

bool defineThreadName(const ThreadState* state, std::uint32_t name) noexcept {
  auto* definition =
      attached()
          ? reinterpret_cast<wire::ThreadNameDefinition*>(claimDefinition(
                gSpool, wire::DefinitionKind::ThreadName, sizeof(wire::ThreadNameDefinition)))
          : nullptr;
  if (definition == nullptr)
    return false;
  definition->thread = state->thread;
  definition->name = name;
  commitDefinition(&definition->header);
  return true;
}

}  // namespace

bool isSource(Probe probe) noexcept {
  return attached() && (gSpool.session->probeMask >> static_cast<int>(probe) & 1) != 0;
}

std::uint64_t ticks() noexcept {
  return readTicks();
}

std::uint64_t emitCall(wire::SliceKind kind,
                       std::uint32_t name,
                       Probe probe,
                       std::uint64_t beginTicks,
                       std::uint64_t endTicks) noexcept {
  if (!isFull())
    return 0;
  wire::Call record{
      header(name, detailOf(kind)), beginTicks, endTicks, probe, wire::CodeCategory::None, 0, {}};
  const std::uint64_t number = emit(record, RecordKind::Call, probe);
  if (kind == wire::SliceKind::Wait)
    stackAt(wire::StackRule::kAtBlock, beginTicks, endTicks);
  return number;
}

std::uint64_t emitNativeCall(std::uint32_t name,
                             wire::CodeCategory category,
                             std::uint64_t beginTicks,
                             std::uint64_t endTicks) noexcept {
  if (!isFull())
    return 0;
  wire::Call record{header(name, detailOf(wire::SliceKind::Python)),
                    beginTicks,
                    endTicks,
                    Probe::Python,
                    category,
                    0,
                    {}};
  return emit(record, RecordKind::Call, Probe::Python);
}

std::uint64_t emitRangeBegin(wire::SliceKind kind,
                             std::uint32_t name,
                             Probe probe,
                             std::uint64_t rangeId) noexcept {
  if (!isFull())
    return 0;
  wire::RangeBegin record{header(name, detailOf(kind)), readTicks(), rangeId, probe, {}};
  return emit(record, RecordKind::RangeBegin, probe);
}

bool emitRangeEnd(std::uint64_t rangeId) noexcept {
  wire::RangeEnd record{header(0), readTicks(), rangeId};
  return emit(record, RecordKind::RangeEnd, Probe::Nvtx) != 0;
}

std::uint64_t emitMark(std::uint32_t name, Probe probe) noexcept {
  if (!isFull())
    return 0;
  wire::Mark record{header(name), readTicks(), probe, 0, {}};
  return emit(record, RecordKind::Mark, probe);
}

bool emitScalar(std::uint32_t name, double value, std::uint64_t when) noexcept {
  wire::Scalar record{header(name), when != 0 ? when : readTicks(), value};
  return emit(record, RecordKind::Scalar, Probe::Annotation) != 0;
}

bool emitIterationInfo(std::uint64_t samples, std::uint64_t tokens, double flops) noexcept {
  wire::IterationInfo record{header(0), readTicks(), samples, tokens, flops};
  return emit(record, RecordKind::IterationInfo, Probe::Annotation) != 0;
}

namespace {

// Whether the file lacks the scope; it may be about to get it.
[[gnu::cold, gnu::noinline]] bool isSilent(const ThreadState* state, std::uint32_t token) noexcept {
  for (std::uint32_t at = 0; at < state->scopeCount; ++at) {
    if (state->scopes[at].token == token)
      return state->scopes[at].isSilent != 0 && !isFull();
  }
  return false;
}

// A signal handler may have recorded since the argument's record was written, but not between
// enter() and leave().
void emitArg(ArgOwner owner, std::uint32_t key, std::uint8_t type, std::uint64_t bits) noexcept {
  ThreadState* state = enter(Probe::Annotation, RecordKind::Arg);
  if (state == nullptr)
    return;
  if (__builtin_expect(state->silentScopes != 0, 0) && isSilent(state, owner.token)) {
    leave(state);
    return;
  }
  const bool stale = owner.token == 0 && state->records != owner.record;
  auto* place = stale ? nullptr : reserve<wire::Arg>(state);
  if (place != nullptr) {
    *place = {header(key, type), bits, owner.token, 0};
    place->header.size = sizeof *place;
    place->header.kind = RecordKind::Arg;
    publish<wire::Arg>(state);
  }
  leave(state);
  if (place == nullptr)
    countLoss(Probe::Annotation, RecordKind::Arg, stale ? LossReason::Signal : whyNoRoom(gSpool));
}

}  // namespace

void emitArgText(ArgOwner owner, std::uint32_t key, std::uint32_t text) noexcept {
  emitArg(owner, key, static_cast<std::uint8_t>(wire::ArgType::Text), text);
}

void emitArgInt(ArgOwner owner, std::uint32_t key, std::int64_t value) noexcept {
  if (owner.token != 0)
    iterationArgument(owner.token, key, value);
  emitArg(
      owner, key, static_cast<std::uint8_t>(wire::ArgType::Int), static_cast<std::uint64_t>(value));
}

void emitArgDouble(ArgOwner owner, std::uint32_t key, double value) noexcept {
  std::uint64_t bits = 0;
  memcpy(&bits, &value, sizeof bits);
  emitArg(owner, key, static_cast<std::uint8_t>(wire::ArgType::Double), bits);
}

void emitArgument(ArgOwner owner,
                  std::uint32_t key,
                  wire::ArgType type,
                  std::uint64_t bits) noexcept {
  emitArg(owner, key, static_cast<std::uint8_t>(type), bits);
}

void emitProcessText(std::uint32_t key, std::uint32_t text) noexcept {
  constexpr auto kDetail = static_cast<std::uint8_t>(wire::ArgType::Text) | wire::Arg::kOfProcess;
  wire::Arg record{header(key, kDetail), text, 0, 0};
  emit(record, RecordKind::Arg, Probe::Annotation);
}

bool emitCollective(wire::Collective record) noexcept {
  const bool written = emit(record, RecordKind::Collective, record.probe) != 0;
  stackAt(wire::StackRule::kAtCollective, record.beginTicks, record.endTicks);
  return written;
}

bool emitTransfer(wire::Transfer record, Probe probe) noexcept {
  const bool written = emit(record, RecordKind::Transfer, probe) != 0;
  stackAt(wire::StackRule::kAtBlock, record.beginTicks, record.endTicks);
  return written;
}

bool emitFileAccess(wire::FileAccess record) noexcept {
  const bool written = emit(record, RecordKind::FileAccess, Probe::Io) != 0;
  stackAt(wire::StackRule::kAtBlock, record.beginTicks, record.endTicks);
  return written;
}

bool emitHandoff(wire::Handoff record) noexcept {
  const bool written = emit(record, RecordKind::Handoff, Probe::Sync) != 0;
  stackAt(wire::StackRule::kAtBlock, record.beginTicks, record.endTicks);
  return written;
}

bool emitTensor(const wire::TensorStatistics& record,
                const std::uint64_t* buckets,
                std::uint32_t count) noexcept {
  constexpr Probe kProbe = Probe::Tensor;
  constexpr RecordKind kKind = RecordKind::TensorStatistics;
  ThreadState* state = enter(kProbe, kKind);
  if (state == nullptr)
    return false;
  const std::uint32_t kept = count < wire::kMaxTensorBuckets ? count : wire::kMaxTensorBuckets;
  const std::size_t more = kept * sizeof *buckets;
  auto* place = reserve<wire::TensorStatistics>(state, more);
  if (place != nullptr) {
    *place = record;
    place->header.size = static_cast<std::uint16_t>(sizeof record + more);
    place->header.kind = kKind;
    place->bucketCount = kept;
    memcpy(place + 1, buckets, more);
    publish<wire::TensorStatistics>(state, more);
    countRecorded(state, kProbe);
  }
  leave(state);
  if (place == nullptr)
    countLoss(kProbe, kKind, whyNoRoom(gSpool));
  return place != nullptr;
}

bool emitAllocation(wire::Allocation record) noexcept {
  const bool written = emit(record, RecordKind::Allocation, Probe::Memory) != 0;
  if (written)
    stackAt(wire::StackRule::kAtAllocation, record.ticks, record.ticks);
  return written;
}

bool emitRelease(wire::Release record) noexcept {
  const bool isOver =
      wire::gateMask(gSpool.control->recording.load(std::memory_order_relaxed)) == 0;
  return !isOver && emit(record, RecordKind::Release, Probe::Memory) != 0;
}

bool emitMessage(const wire::Message& record) noexcept {
  return emit(record, RecordKind::Message, Probe::Mpi) != 0;
}

bool emitMessages(const wire::Message& sent, const wire::Message& received) noexcept {
  struct Pair {
    wire::Message sent;
    wire::Message received;
  };
  ThreadState* state = enter(Probe::Mpi, RecordKind::Message);
  if (state == nullptr)
    return false;
  auto* place = reserve<Pair>(state);
  if (place != nullptr) {
    place->sent = sent;
    place->received = received;
    for (wire::Message* record : {&place->sent, &place->received}) {
      record->header.size = sizeof *record;
      record->header.kind = RecordKind::Message;
    }
    publish<Pair>(state);
    countRecorded(state, Probe::Mpi);
    countRecorded(state, Probe::Mpi);
  }
  leave(state);
  if (place == nullptr)
    countLoss(Probe::Mpi, RecordKind::Message, whyNoRoom(gSpool), 2);
  return place != nullptr;
}

[[gnu::cold, gnu::noinline]] void recordClocks() noexcept {
  const ClockReading now = readClocks();
  wire::ClockSync record{header(0), now.ticks, now.monotonicNs, now.realtimeNs};
  emit(record, RecordKind::ClockSync, Probe::Process);
}

void emitFork(std::int32_t childPid) noexcept {
  wire::Fork record{header(static_cast<std::uint32_t>(childPid)), readTicks()};
  emit(record, RecordKind::Fork, Probe::Process);
}

void emitExec(std::uint32_t path, std::uint32_t reason) noexcept {
  wire::Exec record{header(path, reason != 0 ? 1 : 0), readTicks(), reason, 0};
  emit(record, RecordKind::Exec, Probe::Process);
}

void nameThread(std::uint32_t name) noexcept {
  if (tState != nullptr)
    defineThreadName(tState, name);
}

bool nameThread(std::int32_t tid, std::uint32_t name) noexcept {
  // A thread that names itself as its first action is not registered yet.
  if (tid == static_cast<std::int32_t>(rawSyscall(SYS_gettid)))
    registerSelf();
  ThreadState* state = findThread(tid);
  if (state == nullptr || !defineThreadName(state, name))
    return false;
  state->givenName.store(name, std::memory_order_relaxed);
  return true;
}

namespace {

std::atomic<std::uint64_t>& lossOf(Probe probe, RecordKind kind, LossReason reason) noexcept {
  const bool attachedNow = gForkPage->generation.load(std::memory_order_relaxed) != 0;
  wire::LossCounters& loss = attachedNow ? *gSpool.loss : gForkPage->missed;
  return loss.count[static_cast<int>(probe)][static_cast<int>(kind)][static_cast<int>(reason)];
}

}  // namespace

[[gnu::cold, gnu::noinline]] void countLoss(Probe probe,
                                            RecordKind kind,
                                            LossReason reason,
                                            std::uint32_t count) noexcept {
  lossOf(probe, kind, reason).fetch_add(count, std::memory_order_relaxed);
}

void uncountLoss(Probe probe, RecordKind kind, LossReason reason, std::uint32_t count) noexcept {
  lossOf(probe, kind, reason).fetch_sub(count, std::memory_order_relaxed);
}

}  // namespace sonde::core
