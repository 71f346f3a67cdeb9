// The recorder's side of wire::SessionPage: the file `session` in the spool folder, which every
// process of the run maps. One owner; any of its threads may call.
#pragma once

#include "base/result.h"
#include "collector/wire/recording_state.h"
#include "collector/wire/spool_format.h"
#include "recorder/options/capture_rule.h"
#include "recorder/spool/recorder_words.h"

#include <cstdint>
#include <filesystem>
#include <utility>

namespace sonde::recorder {

class SessionPage {
 public:
  // Writes the complete file before it gets its name. Fails if fallocate(2) fails: such a place
  // cannot hold a spool.
  static Result<SessionPage> create(const std::filesystem::path& folder,
                                    std::uint32_t probeMask,
                                    std::uint64_t limitBytes);
  // Opens the page of a session that another recorder has begun. Io: there is none.
  static Result<SessionPage> open(const std::filesystem::path& folder);
  // Call before any process starts.
  void setCapture(const CaptureRule& rule);
  void setStacks(const wire::StackRule& rule) { page_->stack = rule; }
  void setCalibration(const wire::CalibrationRule& rule) { page_->calibration = rule; }
  const wire::CalibrationRule& calibration() const { return page_->calibration; }
  void setMemoryThreshold(std::uint64_t bytes) { page_->memoryThreshold = bytes; }
  // Records in full only iterations whose number is a multiple of `every`.
  void recordEvery(std::uint32_t every);
  SessionPage(SessionPage&& other) noexcept : page_(std::exchange(other.page_, nullptr)) {}
  SessionPage& operator=(SessionPage&&) = delete;
  ~SessionPage();

  // For new process images only; recording_switch.h changes all of them.
  void setRecording(wire::RecordingState state);
  wire::RecordingState recording() const;
  std::uint64_t limitBytes() const { return page_->limitBytes; }
  std::uint64_t allocatedBytes() const;
  RecorderWords& words() const noexcept;

  // Number of records whose spool room was given back because they are in the trace: without the
  // unfinished trace they are lost. Used by the recorder only; no process reads it.
  std::uint64_t givenBack() const;
  void addGivenBack(std::uint64_t records);
  // A spool file of `bytes` was deleted.
  void freeBytes(std::uint64_t bytes);

  // Number of process images for which the spool had no room.
  std::uint32_t refusedImages() const;
  // Number of process images that could not reach the spool.
  std::uint32_t unreachableImages() const;

 private:
  explicit SessionPage(wire::SessionPage* page) : page_(page) {}

  wire::SessionPage* page_;
};

}  // namespace sonde::recorder
