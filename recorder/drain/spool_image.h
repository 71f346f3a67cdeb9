// One spool file during a drain: its reader, the progress in its slots, and the builder of its
// rows. Owned by the drainer, on its thread.
#pragma once

#include "analysis/ingest/spool/image_builder.h"
#include "recorder/drain/slot_progress.h"
#include "recorder/spool/image_id.h"
#include "recorder/spool_file/spool_reader.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sonde::recorder {

class SpoolImage {
 public:
  SpoolImage(SpoolReader reader, ingest::ProcessRow& process);
  SpoolImage(const SpoolImage&) = delete;
  SpoolImage& operator=(const SpoolImage&) = delete;

  const SpoolIdentity& identity() const noexcept { return reader_.identity(); }
  SpoolReader& reader() noexcept { return reader_; }
  SlotProgress& slots() noexcept { return slots_; }
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

  // Passes the clock readings among the records to store to `fit`.
  void offerClocks(ingest::ClockFit& fit);
  // Stores the records that slots().look() found, and returns their number. `nowMonotonicNs`: the
  // time of that look().
  std::uint64_t store(ingest::RowSink& sink, std::int64_t nowMonotonicNs);
  // Stores the stacks of the threads that wait now. Requires: begun().
  void storeStill(std::int64_t nowMonotonicNs);
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

 private:
  void storeRecords(const SpoolSlot& slot, bool isNew, std::span<const std::byte> records);
  void lookAtCode();
  std::vector<ingest::ImageBuilder::OpenRecord> openRecords() const;
  std::int64_t jobTime(std::int64_t monotonicNs) const;

  SpoolReader reader_;
  SlotProgress slots_;
  std::string name_;
  ingest::ProcessRow& process_;
  std::unique_ptr<ingest::ImageBuilder> builder_;
  ingest::LostRecords lost_{};
  bool finished_ = false;
};

}  // namespace sonde::recorder
