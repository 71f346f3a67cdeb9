// The spool file of this process image: creation, slots, loss counters. One instance, gSpool, owned
// by attach.cpp; every function may be called from any thread and from signal handlers, takes no
// lock and keeps errno.
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
  std::atomic<std::uint64_t> retryNs{0};         // no new chunk is tried for before this time
  std::atomic<std::uint64_t> fullUntilTicks{0};  // no slot is looked for before this time
  std::atomic<bool> unreachable{false};  // the file could not be opened when that was tried last
  char path[kPathBytes] = {};
};
extern Spool gSpool;

// Creates this image's file in `folder`, its header complete, under its final name. False, with
// nothing left behind, when that cannot be done.
bool createSpool(Spool& spool, const char* folder, bool forked) noexcept;

// Takes a free slot, allocating more of the file when there is none; nullptr when the limit, the
// file system or the host's RLIMIT_FSIZE forbids it. The slot's header is fresh: seq set, committed
// 0.
wire::SlotHeader* claimSlot(Spool& spool, wire::SlotState as) noexcept;

// Whether claimSlot has just found none, and so would look for none now. A moment, so that slots
// that the recorder gives back are soon seen.
bool isFull(const Spool& spool) noexcept;

// Why there was no slot the last time.
wire::LossReason whyNoRoom(const Spool& spool) noexcept;

// Hands a slot to the recorder, or, with Free, back.
void releaseSlot(Spool& spool, wire::SlotHeader* slot, wire::SlotState as) noexcept;

// Puts a private copy of the file in the place of the mapping: what this process writes there from
// now on is seen by nobody else. False when the copy is empty, because the file could not be
// opened.
bool makePrivate(const Spool& spool) noexcept;

// Whether the program that this process becomes by an exec will have access to the spool folder. It
// keeps the user that the process has now, but not the capabilities that a process may keep when it
// changes that.
bool mayReach(const char* folder) noexcept;

// Maps `session` in the spool folder; nullptr when there is none of this version.
wire::SessionPage* mapSession(const char* folder) noexcept;

}  // namespace sonde::core
