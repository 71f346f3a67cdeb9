#include "recorder/drain/slot_progress.h"

namespace sonde::recorder {

Result<void> SlotProgress::restore(const store::Database& trace, std::string_view spool) {
  SONDE_TRY_ASSIGN(store::Statement rows,
                   trace.prepare("SELECT seq, consumed FROM ingested WHERE spool = ?1"));
  rows.bindAll(spool);
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      break;
    // The number of records that an earlier recorder found in it is unknown; at least one.
    stored_[static_cast<std::uint64_t>(rows.integer(0))] = {
        static_cast<std::uint32_t>(rows.integer(1)), 1};
  }
  if (isNew())
    return {};
  // The other slots were given back, and counted then.
  for (const SpoolSlot& slot : reader_.snapshot())
    recordsKept_ += stored_.count(slot.seq);
  return {};
}

std::uint32_t SlotProgress::storedBytes(const SpoolSlot& slot) const noexcept {
  const auto found = stored_.find(slot.seq);
  return found == stored_.end() ? 0 : found->second.bytes;
}

std::uint64_t SlotProgress::look(std::uint64_t most) {
  std::uint64_t bytes = 0;
  work_.clear();
  more_ = false;
  for (const SpoolSlot& slot : reader_.snapshot()) {
    more_ = bytes >= most;
    if (more_)
      break;
    const std::uint32_t stored = storedBytes(slot);
    // Not before its first record, which may be the end of a scope that the prefix does not list.
    if (slot.isBlank() && !slot.full)
      continue;
    if (slot.committed > stored)
      bytes += slot.committed - stored;
    else if (!slot.full)
      continue;
    work_.push_back(slot);
  }
  return bytes;
}

// A full slot counts as a whole one, even if it contains little: a thread that ends leaves one.
SlotProgress::Waiting SlotProgress::waiting() {
  Waiting waiting{0, false};
  bool isAnyFull = false;
  for (const SpoolSlot& slot : reader_.snapshot()) {
    isAnyFull = isAnyFull || slot.full;
    const std::uint32_t stored = storedBytes(slot);
    if (slot.full)
      waiting.bytes += wire::kSlotBytes;
    else if (slot.committed > stored && !slot.isBlank())
      waiting.bytes += slot.committed - stored;
  }
  waiting.isCramped = isAnyFull && reader_.freeSlots() == 0;
  return waiting;
}

void SlotProgress::noteStored(const SpoolSlot& slot, std::uint64_t records) {
  Stored& stored = stored_[slot.seq];
  stored.bytes = slot.committed;
  stored.records += static_cast<std::uint32_t>(records);
  recordsKept_ += records;
}

bool SlotProgress::goesBack(const SpoolSlot& slot) const noexcept {
  return slot.full && storedBytes(slot) >= slot.committed;
}

std::uint64_t SlotProgress::recordsToRelease() const {
  std::uint64_t records = 0;
  for (const SpoolSlot& slot : work_)
    if (const auto found = stored_.find(slot.seq); found != stored_.end() && goesBack(slot))
      records += found->second.records;
  return records;
}

void SlotProgress::release() {
  recordsKept_ -= recordsToRelease();
  for (const SpoolSlot& slot : work_)
    if (goesBack(slot))
      reader_.release(slot);
  work_.clear();
}

}  // namespace sonde::recorder
