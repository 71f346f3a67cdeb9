// Records events; called by probes. Linked into libsonde_preload.so only.
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

// Whether `probe` records now: the library is attached, recording is on and the mask includes the
// probe. One load and a test. Check it before any work that only serves a record.
bool enabled(wire::Probe probe) noexcept;

// The same; call it once for each call of the program that becomes `records` records. If only the
// calibration mask (calibration.h) keeps the probe off, the call is counted.
bool admits(wire::Probe probe, std::uint32_t records = 1) noexcept;

// Whether the run requested `probe`. Numbers that both ends of a communication count are counted
// even while the probe does not record.
bool isSource(wire::Probe probe) noexcept;

// The current tick of this file's clock.
std::uint64_t ticks() noexcept;

// Returns the id of a text: the same for the same bytes, valid in this process and its forked
// children. Returns 0 for the empty text, and when the spool has no room now. Returns the id of
// "(name lost)" when the table is full. In both cases the lost text is counted once.
std::uint32_t intern(const char* text, std::size_t length) noexcept;
std::uint32_t intern(const char* text) noexcept;
// The same for kinds of texts that may be numerous, so that they leave room for others. A new text
// gets an id only while less than `quarters` quarters of the table are used. Returns 0, uncounted,
// if the text has no id.
std::uint32_t internWithin(std::uint32_t quarters, const char* text, std::size_t length) noexcept;

// Opens a scope on the calling thread and returns its token, 0 if it was not recorded. `group`
// separates the stacks that a probe keeps on one thread (NVTX domains); 0 if there is only one.
std::uint32_t beginScope(wire::SliceKind kind,
                         std::uint32_t name,
                         wire::Probe probe,
                         std::uint8_t group = 0) noexcept;

// Closes the scope with this token if it is open on the calling thread. Ignores 0.
void endScope(std::uint32_t token) noexcept;

// The relation of a token to the calling thread, if `probe` opened it in `group`.
enum class OpenScopeState : std::uint8_t {
  Own,
  Foreign,    // another probe or group opened it
  NotOpen,    // on this thread
  Inherited,  // possibly opened by the parent; a forked child has no open scopes
};
OpenScopeState scopeState(std::uint32_t token, wire::Probe probe, std::uint8_t group) noexcept;

// Closes the innermost open scope of the calling thread that `probe` opened in `group` (for NVTX
// pops). False if there is none.
bool endInnermost(wire::Probe probe, std::uint8_t group = 0) noexcept;

// Called instead of beginScope while the probe is off, so that the matching endInnermost closes
// nothing.
void skipScope(wire::Probe probe, std::uint8_t group = 0) noexcept;

// The number of scopes of `probe` and `group` that are open on the calling thread.
std::uint32_t openScopes(wire::Probe probe, std::uint8_t group = 0) noexcept;

// Names the calling thread.
void nameThread(std::uint32_t name) noexcept;
// The same for a thread of this process by its kernel id. False if the thread has not recorded yet
// or has ended.
bool nameThread(std::int32_t tid, std::uint32_t name) noexcept;

// The functions below report whether the record was written. A call, a mark and the begin of a
// range may have arguments: their functions return the record's number in its thread, or 0. If the
// record was not written, its arguments are left out and counted as lost with it.
std::uint64_t emitCall(wire::SliceKind kind,
                       std::uint32_t name,
                       wire::Probe probe,
                       std::uint64_t beginTicks,
                       std::uint64_t endTicks) noexcept;
// A call from Python into code of `category`, or garbage collection.
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
// `when`: a value that ticks() returned; 0: now.
bool emitScalar(std::uint32_t name, double value, std::uint64_t when = 0) noexcept;
bool emitIterationInfo(std::uint64_t samples, std::uint64_t tokens, double flops) noexcept;

// The owner of an argument: an open scope of the calling thread, or the record with this number.
struct ArgOwner {
  std::uint32_t token = 0;
  std::uint64_t record = 0;
};

// Writes a key and value. The argument of a record is dropped and counted (`signal`) if a signal
// handler has recorded on its thread in between, so that the record is no longer the last one.
void emitArgText(ArgOwner owner, std::uint32_t key, std::uint32_t text) noexcept;
void emitArgInt(ArgOwner owner, std::uint32_t key, std::int64_t value) noexcept;
void emitArgDouble(ArgOwner owner, std::uint32_t key, double value) noexcept;
// The same for any type; `bits` as in wire::Arg.
void emitArgument(ArgOwner owner,
                  std::uint32_t key,
                  wire::ArgType type,
                  std::uint64_t bits) noexcept;
void emitProcessText(std::uint32_t key, std::uint32_t text) noexcept;

// The caller fills in everything except header.size and header.kind.
bool emitCollective(wire::Collective record) noexcept;
bool emitTransfer(wire::Transfer record, wire::Probe probe) noexcept;
bool emitFileAccess(wire::FileAccess record) noexcept;
bool emitHandoff(wire::Handoff record) noexcept;
// `bucketCount` buckets follow the record; at most kMaxTensorBuckets.
bool emitTensor(const wire::TensorStatistics& record,
                const std::uint64_t* buckets,
                std::uint32_t count) noexcept;
bool emitAllocation(wire::Allocation record) noexcept;
// Writes even while the probe does not record, because the trace has the allocation.
bool emitRelease(wire::Release record) noexcept;
bool emitMessage(const wire::Message& record) noexcept;
// The message that one call sent and the one it received: both are written, or neither.
bool emitMessages(const wire::Message& sent, const wire::Message& received) noexcept;

// Reads all clocks once; ingest converts ticks to time with these readings.
void recordClocks() noexcept;

void emitFork(std::int32_t childPid) noexcept;
// `reason` 0: Sonde follows into the new image.
void emitExec(std::uint32_t path, std::uint32_t reason) noexcept;

void countLoss(wire::Probe probe,
               wire::RecordKind kind,
               wire::LossReason reason,
               std::uint32_t count = 1) noexcept;
// Subtracts losses that turned out not to be losses.
void uncountLoss(wire::Probe probe,
                 wire::RecordKind kind,
                 wire::LossReason reason,
                 std::uint32_t count) noexcept;

}  // namespace sonde::core
