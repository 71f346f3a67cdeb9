// The spool file: how one process image hands its records to the recorder through a shared mapping.
//
//   slot 0                slot 1            slot 2                   …  (64 KiB each)
//   +--------------------+-----------------+--------------------------+
//   | FileHeader         | SlotHeader      | SlotHeader with OpenCalls|
//   | ControlPage   @4K  | definitions …   | OpenScope × scopeCount   |
//   | LossCounters  @4½K | (never recycled)| records … → committed    |
//   | PluginLosses @51½K |                 |                          |
//   | slot states   @56K |                 |                          |
//   +--------------------+-----------------+--------------------------+
//
// The process writes, the recorder reads and gives slots back. No lock is shared. States of a slot:
//
//   Unallocated ──fallocate──▶ Free ──claim (CAS)──▶ Writing ──moves on──▶ Full ──stored──▶ Free
//                                └──────claim───────▶ Definitions
//
// Rules that both sides rely on:
//
// 1. A slot's bytes are allocated on disk before its state leaves Unallocated. Access to a hole of
//    the mapping would raise SIGBUS when the disk is full.
//
// 2. On a claim the writer sets `seq` to a number never used before in the file, then the header
//    and the open scopes, then `committed` to the first record's offset (release). So (seq,
//    offset) identifies one byte of the stream for ever.
//
// 3. Bytes below `committed` (acquire) do not change until the recorder gives the slot back. The
//    recorder does so only after the transaction that stores the bytes has committed. It then sets
//    `committed` to 0 and the state to Free, in this order. A slot with `committed` = 0 has
//    nothing to read. (Full with 0: a recorder was killed between the two; the next one sets it
//    Free.)
//
// 4. A slot starts with the scopes that were open on its thread, so it can be read without the
//    slots before it.
//
// 5. A file stays until its process is dead, even if the process has moved on to another image.
//
// 6. The OpenCalls of a thread's slot in state Writing are the calls that the thread is in right
//    now. They move with the thread to its next slot; those of a Full slot have no meaning.
#pragma once

#include "collector/wire/calibration.h"
#include "collector/wire/gate_history.h"
#include "collector/wire/plugin_misuse.h"
#include "collector/wire/records.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sonde::wire {

inline constexpr char kSpoolMagic[8] = {'S', 'O', 'N', 'D', 'E', 'S', 'P', '\x01'};
inline constexpr std::uint32_t kSpoolVersion = 13;
inline constexpr std::uint32_t kSlotBytes = 64 * 1024;
inline constexpr std::uint32_t kMaxSlots = 8192;  // 512 MiB per process image
inline constexpr std::uint32_t kMaxOpenScopes = 128;

inline constexpr std::uint32_t kMaxCommandBytes = 2048;

enum class SlotState : std::uint8_t {
  Unallocated = 0,
  Free = 1,
  Writing = 2,
  Full = 3,
  Definitions = 4
};

enum class ClockKind : std::uint32_t { Tsc = 1, Monotonic = 2 };

// Filled in before the file gets its final name; afterwards only the atomics change.
struct FileHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t slotBytes;
  std::int32_t pid;  // in the pid namespace of the process
  std::int32_t parentPid;
  std::uint64_t pidNamespace;  // inode of /proc/self/ns/pid
  std::uint64_t startTime;     // field 22 of /proc/self/stat: clock ticks since boot
  std::uint32_t execCount;     // images of this process before this one, under Sonde
  ClockKind clock;
  char bootId[40];            // text, zero-terminated
  std::int64_t testOffsetNs;  // SONDE_TEST_CLOCK: how far the clocks of this file were shifted …
  std::int64_t testDriftPpb;  // … and how fast they run away, in 10⁻⁹
  std::uint64_t startTicks;
  std::int64_t startMonotonicNs;
  std::int64_t startRealtimeNs;
  std::uint64_t startCpuNs;              // CPU time of the process when the library was loaded
  std::uint32_t maxSlots;                // from --spool-limit, at most kMaxSlots
  std::uint32_t forked;                  // 1: created by fork without exec
  std::atomic<std::uint32_t> slotCount;  // index of the last slot that was ever allocated, + 1
  // Less than slotCount if slots in between could not be allocated.
  std::atomic<std::uint32_t> allocatedSlots;
  std::atomic<std::uint32_t> finished;         // 0, or one of kFinished…
  std::atomic<std::uint32_t> leaving;          // 1: an exec is under way and has not failed
  std::atomic<std::uint64_t> nextSeq;          // for the next claim; > 0
  std::atomic<std::uint64_t> definitionsTail;  // file offset of the next definition record
  std::uint32_t commandBytes;                  // length of `command`
  char command[kMaxCommandBytes];  // the arguments, each zero-terminated, cut at the end; not
                                   // redacted
};

inline constexpr std::uint32_t kFinished = 1;                // the library's own exit ran
inline constexpr std::uint32_t kFinishedWithStatus = 0x100;  // + the status passed to exit or _exit

// The process reads it at each emit. It records the probes that all three words let through.
struct ControlPage {
  Gate recording;                        // set by the recorder from RecordingState
  Gate capture;                          // set by the process from SessionPage::capture
  std::atomic<std::uint32_t> probeMask;  // bit 1 << Probe: `sources` without the probes masked now
  std::uint32_t sources;                 // requested by --sources
  GateHistory<16> recordings;            // of `recording`, in ticks of the process
};

struct LossCounters {
  std::atomic<std::uint64_t> count[static_cast<int>(Probe::Count)][static_cast<int>(
      RecordKind::Count)][static_cast<int>(LossReason::Count)];
};

struct SlotTable {
  std::atomic<SlotState> state[kMaxSlots];
};

inline constexpr std::size_t kControlOffset = 4 << 10;
inline constexpr std::size_t kLossOffset = (4 << 10) + 512;
inline constexpr std::size_t kPluginLossOffset = (51 << 10) + 512;
inline constexpr std::size_t kSlotTableOffset = 56 << 10;

// The calls that a thread is in and that have not returned, outermost first. Each is the record
// that the call will become (Collective, Transfer, Message, Handoff, FileAccess or Call), with
// `endTicks` 0. Only the thread writes. A reader copies the records below `depth`, then checks that
// the version is unchanged and even.
struct OpenCalls {
  static constexpr std::uint32_t kMost = 4;                          // deeper calls are left out
  static constexpr std::uint32_t kRecordBytes = sizeof(Collective);  // the largest of these records
  static constexpr std::uint64_t kDepthMask = 0xff;
  static constexpr std::uint64_t kVersion = 0x100;

  std::atomic<std::uint64_t> state;  // version in the upper 56 bits, depth in the lower 8
  alignas(8) unsigned char records[kMost][kRecordBytes];
};

struct SlotHeader {
  // In `thread`: the slot holds only StackSample records of that thread, which also has other
  // slots.
  static constexpr std::uint32_t kSamples = 0x8000'0000;
  std::atomic<std::uint64_t> seq;  // of this claim
  std::atomic<std::uint32_t>
      committed;         // bytes from the slot's start that are readable; 0: not yet begun
  std::uint32_t thread;  // index of its ThreadDefinition; unused in definition slots
  std::uint32_t scopeCount;
  std::uint32_t firstRecord;  // offset of the first record from the slot's start
  std::uint64_t claimTicks;
  OpenCalls calls;  // valid in state Writing; empty in other kinds of slots
};

// A scope that was open when its thread claimed the slot, outermost first.
struct OpenScope {
  std::uint64_t beginTicks;
  std::uint32_t name;
  std::uint32_t token;
  SliceKind kind;
  Probe probe;
  std::uint8_t group;     // of probe `plugin`: as ScopeBegin::plugin; of `nvtx`: the domain
  std::uint8_t isSilent;  // 1: the file does not have the scope. For the process alone, as `stamp`
  std::uint32_t stamp;    // of an iteration or a silent scope, see core/capture.h
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(sizeof(FileHeader) <= kControlOffset);
static_assert(sizeof(ControlPage) <= kLossOffset - kControlOffset);
static_assert(sizeof(LossCounters) <= kPluginLossOffset - kLossOffset);
static_assert(sizeof(PluginLosses) <= kSlotTableOffset - kPluginLossOffset);
static_assert(sizeof(SlotTable) <= kSlotBytes - kSlotTableOffset);
static_assert(sizeof(Transfer) <= OpenCalls::kRecordBytes &&
              sizeof(Handoff) <= OpenCalls::kRecordBytes &&
              sizeof(Message) <= OpenCalls::kRecordBytes &&
              sizeof(FileAccess) <= OpenCalls::kRecordBytes);
static_assert(sizeof(SlotHeader) == 424 && sizeof(OpenScope) == 24);

// Which part of the run a process records in full.
struct CaptureRule {
  enum class Kind : std::uint32_t {
    All = 0,
    Iterations = 1,  // iterations with numbers from `first` to `last`
    Range = 2,       // while a scope called `range` is open
  };
  Kind kind;
  // Only iterations whose number is a multiple of it are recorded in full; 0 and 1: each. The
  // recorder raises it when a trace would become too large.
  std::atomic<std::uint32_t> every;
  std::int64_t first;
  std::int64_t last;
  char range[128];  // zero-terminated
};

// How the source `stack` samples the threads' stacks.
struct StackRule {
  static constexpr std::uint32_t kWall = 0x01;  // also report the time that is not CPU time
  static constexpr std::uint32_t kAtCollective = 0x10;
  static constexpr std::uint32_t kAtBlock = 0x20;
  static constexpr std::uint32_t kAtAllocation = 0x40;
  static constexpr std::uint32_t kAtCuda = 0x80;
  std::uint32_t perSecond;  // 0: never
  std::uint32_t flags;
};

// The recorder's own page, `session` in the spool folder, mapped by every process of the run.
struct SessionPage {
  std::uint32_t version;     // kSpoolVersion
  std::uint32_t probeMask;   // requested by --sources
  std::uint64_t limitBytes;  // --spool-limit, over all processes of the run on this host
  std::atomic<std::uint64_t> allocatedBytes;  // sum of the files' allocated bytes; a file's are
                                              // given back when it is deleted
  std::atomic<std::uint32_t> recording;       // a RecordingState
  // Process images for which there was no room for a file.
  std::atomic<std::uint32_t> refusedImages;
  // Process images that could not create a file in the folder.
  std::atomic<std::uint32_t> unreachableImages;
  CaptureRule capture;
  StackRule stack;
  std::uint64_t memoryThreshold;  // bytes: `memory` records allocations by malloc from this size on
  CalibrationRule calibration;
};

}  // namespace sonde::wire
