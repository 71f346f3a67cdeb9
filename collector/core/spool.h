// The spool file of this process image: creation, slots, loss counters. The only instance is
// gSpool, owned by attach.cpp. Any thread and signal handlers may call every function; none takes a
// lock or changes errno.
#pragma once

#include "collector/core/platform/chunk.h"
#include "collector/core/platform/spool_name.h"
#include "collector/wire/spool_format.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sonde::core {

struct Spool {
  char* base =
      nullptr;  // the mapping, header->maxSlots slots long; only allocated ones are touched
  std::size_t mappedBytes = 0;
  wire::FileHeader* header = nullptr;
  wire::ControlPage* control =
      nullptr;  // never null: a zeroed page stands in while there is no file
  wire::LossCounters* loss = nullptr;
  wire::PluginLosses* pluginLoss = nullptr;
  wire::SlotTable* slots = nullptr;
  wire::SessionPage* session = nullptr;
  std::atomic<bool> chunkTaken[kMaxChunks] = {};
  std::atomic<std::uint64_t> retryNs{0};         // no new chunk is requested before this time
  std::atomic<std::uint64_t> fullUntilTicks{0};  // no slot is searched for before this time
  std::atomic<bool> unreachable{false};          // the last attempt to open the file failed
  char path[kPathBytes] = {};
};
extern Spool gSpool;

// Creates this image's file in `folder`, with a complete header, under its final name. On failure
// returns false and leaves nothing behind.
bool createSpool(Spool& spool, const char* folder, bool forked) noexcept;

// Takes a free slot, and allocates more of the file if there is none. Returns nullptr if the limit,
// the file system or the host's RLIMIT_FSIZE forbids it. The slot's header is fresh: seq set,
// committed 0.
wire::SlotHeader* claimSlot(Spool& spool, wire::SlotState as) noexcept;

// Whether claimSlot has just found no slot and would not search now. Lasts only a moment, so that
// slots that the recorder gives back are soon noticed.
bool isFull(const Spool& spool) noexcept;

// Why the last claim found no slot.
wire::LossReason whyNoRoom(const Spool& spool) noexcept;

// Hands a slot to the recorder, or, with Free, gives it back.
void releaseSlot(Spool& spool, wire::SlotHeader* slot, wire::SlotState as) noexcept;

// Replaces the mapping by a private copy of the file: no other process sees later writes of this
// process. False if the copy is empty because the file could not be opened.
bool makePrivate(const Spool& spool) noexcept;

// Whether this process will still have access to the spool folder after an exec. The new program
// keeps the user of the process, but not the capabilities that a process may keep when it changes
// its user.
bool mayReach(const char* folder) noexcept;

// Maps `session` in the spool folder; nullptr if there is no session of this version.
wire::SessionPage* mapSession(const char* folder) noexcept;

}  // namespace sonde::core
