// Knows how much of each slot of a spool file is stored: finds the slots with records to store, and
// gives stored ones back to the process.
//
// Part of one SpoolImage, on its thread.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"
#include "recorder/spool_file/spool_reader.h"

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sonde::recorder {

class SlotProgress {
 public:
  // `reader` must outlive it.
  explicit SlotProgress(SpoolReader& reader) : reader_(reader) {}

  // Continues from an earlier recorder's progress in this file.
  Result<void> restore(const store::Database& trace, std::string_view spool);
  // Whether nothing of the file is stored.
  bool isNew() const noexcept { return stored_.empty(); }

  // The bytes that storing would free, and whether the process has no slot left until then.
  struct Waiting {
    std::uint64_t bytes;
    bool isCramped;
  };
  Waiting waiting();

  // Looks for records to store: at most `most` bytes plus one slot. Returns their bytes. Records
  // that are committed later wait for the next call.
  std::uint64_t look(std::uint64_t most);
  // The slots that the last look() found.
  const std::vector<SpoolSlot>& work() const noexcept { return work_; }
  bool hasWork() const noexcept { return !work_.empty(); }
  // Whether the last look() left records for the next one.
  bool hasMore() const noexcept { return more_; }

  // The stored bytes of a slot, from its start.
  std::uint32_t storedBytes(const SpoolSlot& slot) const noexcept;
  // All committed bytes of the slot are stored as these records, or counted as lost.
  void noteStored(const SpoolSlot& slot, std::uint64_t records);
  void noteLost(const SpoolSlot& slot) { stored_[slot.seq].bytes = slot.committed; }

  // The stored records are committed: gives the full slots back to the process.
  void release();
  // The number of records in these slots …
  std::uint64_t recordsToRelease() const;
  // … and in all slots that were not given back, as far as this object has stored them.
  std::uint64_t recordsKept() const noexcept { return recordsKept_; }

 private:
  struct Stored {
    std::uint32_t bytes = 0;    // from the slot's start
    std::uint32_t records = 0;  // in these bytes, stored by this object
  };
  bool goesBack(const SpoolSlot& slot) const noexcept;

  SpoolReader& reader_;
  // By seq. Grows by one entry per 64 KiB.
  std::unordered_map<std::uint64_t, Stored> stored_;
  std::uint64_t recordsKept_ = 0;
  std::vector<SpoolSlot> work_;
  bool more_ = false;
};

}  // namespace sonde::recorder
