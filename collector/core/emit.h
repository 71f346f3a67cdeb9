// What a probe calls to record something. Linked into libsonde_preload.so alone.
//
// Every function may be called from any thread, from a signal handler and from a forked child. None
// allocates, locks, makes a system call on its fast path, throws, or changes errno. When the spool
// has no room, when the caller interrupted a write of its own thread, or in a vfork child, the
// record is dropped and counted (wire::LossReason).
#pragma once

#include "collector/wire/definitions.h"
#include "collector/wire/memory_records.h"
#include "collector/wire/records.h"
#include "collector/wire/tensor_records.h"

#include <cstddef>
#include <cstdint>

namespace sonde::core {

// Whether `probe` records now: the library is attached, recording is on and the probe is in the
// mask. One load and a test; ask before any work that only serves a record.
bool enabled(wire::Probe probe) noexcept;

// The same, once for each call of the program that becomes so many records: one that is let pass
// only because its probe is masked (calibration.h) is counted.
bool admits(wire::Probe probe, std::uint32_t records = 1) noexcept;

// Whether the run was asked for `probe` at all. What both ends of a communication count is counted
// also while the probe does not record.
bool isSource(wire::Probe probe) noexcept;

// Now, on the clock of this file.
std::uint64_t ticks() noexcept;

// The id of a text: the same for the same bytes, valid in this process and its forked children. 0
// for the empty text and when the spool has no room for it now; that of "(name lost)" when the
// table is full. Either way the text is counted, once.
std::uint32_t intern(const char* text, std::size_t length) noexcept;
std::uint32_t intern(const char* text) noexcept;
// The same of texts of which there may be very many, so that they leave room for others: a new one
// gets an id only as long as less than so many quarters of the table are used. 0, uncounted: it has
// none.
std::uint32_t internWithin(std::uint32_t quarters, const char* text, std::size_t length) noexcept;

// Opens a scope on the calling thread; returns its token, 0 when it was not recorded. `group` tells
// apart stacks that a probe keeps on one thread (an NVTX domain); 0 where there is one.
std::uint32_t beginScope(wire::SliceKind kind,
                         std::uint32_t name,
                         wire::Probe probe,
                         std::uint8_t group = 0) noexcept;

// Closes the scope with this token if it is open on the calling thread; 0 is ignored.
void endScope(std::uint32_t token) noexcept;

// What a token is to the calling thread, if `probe` opened it in `group`.
enum class OpenScopeState : std::uint8_t {
  Own,
  Foreign,    // another probe's or group's
  NotOpen,    // here
  Inherited,  // perhaps a parent's, of which a forked child has nothing open
};
OpenScopeState scopeState(std::uint32_t token, wire::Probe probe, std::uint8_t group) noexcept;

// Closes the innermost open scope of the calling thread that `probe` opened in `group` (NVTX pops).
// False when there is none.
bool endInnermost(wire::Probe probe, std::uint8_t group = 0) noexcept;

// Instead of beginScope while the probe is off: the endInnermost that belongs to it closes nothing.
void skipScope(wire::Probe probe, std::uint8_t group = 0) noexcept;

// How many scopes of `probe` and `group` are open on the calling thread.
std::uint32_t openScopes(wire::Probe probe, std::uint8_t group = 0) noexcept;

// The calling thread is called `name` from now on.
void nameThread(std::uint32_t name) noexcept;
// The same for a thread of this process by its kernel id. False when it is not known here: it has
// recorded nothing yet, or is gone.
bool nameThread(std::int32_t tid, std::uint32_t name) noexcept;

// The functions below say whether the record was written; a call, a mark and the begin of a range,
// which may have arguments, by a number in their thread, else 0. When it was not, what would be
// said about it is left away and counts as lost with it.
std::uint64_t emitCall(wire::SliceKind kind,
                       std::uint32_t name,
                       wire::Probe probe,
                       std::uint64_t beginTicks,
                       std::uint64_t endTicks) noexcept;
// A call by Python code of code of `category`, or garbage collection.
std::uint64_t emitNativeCall(std::uint32_t name,
                             wire::CodeCategory category,
                             std::uint64_t beginTicks,
                             std::uint64_t endTicks) noexcept;
std::uint64_t emitRangeBegin(wire::SliceKind kind,
                             std::uint32_t name,
                             wire::Probe probe,
                             std::uint64_t rangeId) noexcept;
bool emitRangeEnd(std::uint64_t rangeId) noexcept;
std::uint64_t emitMark(std::uint32_t name, wire::Probe probe) noexcept;
// `when`: as ticks() gave it; 0: now.
bool emitScalar(std::uint32_t name, double value, std::uint64_t when = 0) noexcept;
bool emitIterationInfo(std::uint64_t samples, std::uint64_t tokens, double flops) noexcept;

// What an argument is of: an open scope of the calling thread, or the record with this number.
struct ArgOwner {
  std::uint32_t token = 0;
  std::uint64_t record = 0;
};

// A key and value. Those of a record are dropped and counted (`signal`) when it is not the last of
// its thread any more, because a signal handler has recorded in between.
void emitArgText(ArgOwner owner, std::uint32_t key, std::uint32_t text) noexcept;
void emitArgInt(ArgOwner owner, std::uint32_t key, std::int64_t value) noexcept;
void emitArgDouble(ArgOwner owner, std::uint32_t key, double value) noexcept;
// The same of any type: `bits` as wire::Arg has them.
void emitArgument(ArgOwner owner,
                  std::uint32_t key,
                  wire::ArgType type,
                  std::uint64_t bits) noexcept;
void emitProcessText(std::uint32_t key, std::uint32_t text) noexcept;

// The caller fills in everything but header.size and header.kind.
bool emitCollective(wire::Collective record) noexcept;
bool emitTransfer(wire::Transfer record, wire::Probe probe) noexcept;
bool emitFileAccess(wire::FileAccess record) noexcept;
bool emitHandoff(wire::Handoff record) noexcept;
// With so many buckets behind it, of which there is room for kMaxTensorBuckets.
bool emitTensor(const wire::TensorStatistics& record,
                const std::uint64_t* buckets,
                std::uint32_t count) noexcept;
bool emitAllocation(wire::Allocation record) noexcept;
// Also while the probe does not record: the trace has the allocation.
bool emitRelease(wire::Release record) noexcept;
bool emitMessage(const wire::Message& record) noexcept;
// What one call sent and what it received, all or nothing.
bool emitMessages(const wire::Message& sent, const wire::Message& received) noexcept;

// One reading of all clocks; ingest fits ticks to time through them.
void recordClocks() noexcept;

void emitFork(std::int32_t childPid) noexcept;
// `reason` 0: Sonde follows into the new image.
void emitExec(std::uint32_t path, std::uint32_t reason) noexcept;

void countLoss(wire::Probe probe,
               wire::RecordKind kind,
               wire::LossReason reason,
               std::uint32_t count = 1) noexcept;
// Takes back so many of those, which were not lost after all.
void uncountLoss(wire::Probe probe,
                 wire::RecordKind kind,
                 wire::LossReason reason,
                 std::uint32_t count) noexcept;

}  // namespace sonde::core
