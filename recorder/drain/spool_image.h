// One spool file during a drain: its reader, the builder of its rows, and the progress in each
// slot. Owned by the drainer, on its thread.
#pragma once

#include "analysis/ingest/spool/image_builder.h"
#include "recorder/spool/image_id.h"
#include "recorder/spool_file/spool_reader.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace sonde::recorder {

class SpoolImage {
 public:
  SpoolImage(SpoolReader reader, ingest::ProcessRow& process);

  const SpoolIdentity& identity() const noexcept { return reader_.identity(); }
  SpoolReader& reader() noexcept { return reader_; }
  // The bytes that storing would free, and whether the process has no slot left until then.
  struct Waiting {
    std::uint64_t bytes;
    bool isCramped;
  };
  Waiting waiting();
  const std::string& name() const noexcept { return name_; }
  ingest::ProcessRow& process() noexcept { return process_; }
  void setCommand(std::string redacted);
  ImageId id() const noexcept;

  // Whether the process that wrote the file still runs, as far as this machine can determine.
  bool processRuns() const;
  bool sameProcess(const SpoolImage& other) const noexcept;

  // Continues from an earlier recorder's progress in this file, or adds the row of its process.
  Result<void> begin(ingest::RowSink& sink, ingest::TimeBase time);
  bool begun() const noexcept { return builder_ != nullptr; }

  // Looks for records to store: at most `most` bytes plus one slot. Returns their bytes. Records
  // that are committed later wait for the next call.
  std::uint64_t look(std::uint64_t most);
  // Whether the last look() left records for the next one.
  bool hasMore() const noexcept { return more_; }
  bool hasWork() const noexcept { return !work_.empty(); }
  // Passes the clock readings among them to `fit`.
  void offerClocks(ingest::ClockFit& fit);
  // Stores them and returns the number of records. `nowMonotonicNs`: the time of the last look().
  std::uint64_t store(ingest::RowSink& sink, std::int64_t nowMonotonicNs);
  // Counts them as lost, if they cannot be stored any more.
  void giveUp(std::string_view reason);
  // Call it after the last store(): closes the image. `letGo`: as in LostRecords. `runsUntil`: the
  // time on CLOCK_MONOTONIC at which its process still ran; unset: it has ended.
  void finish(bool letGo, std::optional<std::int64_t> runsUntil);
  bool finished() const noexcept { return finished_; }
  // Requires: begun().
  model::ThreadId threadOfTid(std::int32_t tid, std::int64_t ns) {
    return builder_->threadOfTid(tid, ns);
  }
  const ingest::ImageCounts& counts() const noexcept { return builder_->counts(); }

  // The stored records are committed: gives the full slots back to the process.
  void releaseStored();
  // The number of records in these slots …
  std::uint64_t recordsStored() const;
  // … and in all slots that were not given back, as far as this object has stored them.
  std::uint64_t recordsKept() const noexcept { return recordsKept_; }

 private:
  struct SlotProgress {
    std::uint32_t bytes = 0;    // stored, from the slot's start
    std::uint32_t records = 0;  // in these bytes, stored by this object
  };
  std::uint32_t consumedOf(const SpoolSlot& slot) const noexcept;
  bool goesBack(const SpoolSlot& slot) const noexcept;
  void storeRecords(const SpoolSlot& slot, bool isNew, std::span<const std::byte> records);
  void lookAtCode();
  std::vector<ingest::ImageBuilder::OpenRecord> openRecords() const;
  std::int64_t jobTime(std::int64_t monotonicNs) const;

  SpoolReader reader_;
  std::string name_;
  ingest::ProcessRow& process_;
  std::unique_ptr<ingest::ImageBuilder> builder_;
  // By seq: how much of the slot is stored. Grows by one entry per 64 KiB.
  std::unordered_map<std::uint64_t, SlotProgress> consumed_;
  std::uint64_t recordsKept_ = 0;
  std::vector<SpoolSlot> work_;
  bool more_ = false;
  ingest::LostRecords lost_{};
  bool finished_ = false;
};

}  // namespace sonde::recorder
