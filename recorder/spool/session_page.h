// The recorder's side of wire::SessionPage, the file `session` in the spool folder that every
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
  // Writes the file whole before it gets its name. Fails where fallocate(2) does: such a place is
  // no place for a spool.
  static Result<SessionPage> create(const std::filesystem::path& folder,
                                    std::uint32_t probeMask,
                                    std::uint64_t limitBytes);
  // That of a session which another recorder has begun. Io: there is none.
  static Result<SessionPage> open(const std::filesystem::path& folder);
  // Before any process begins.
  void setCapture(const CaptureRule& rule);
  void setStacks(const wire::StackRule& rule) { page_->stack = rule; }
  void setCalibration(const wire::CalibrationRule& rule) { page_->calibration = rule; }
  const wire::CalibrationRule& calibration() const { return page_->calibration; }
  void setMemoryThreshold(std::uint64_t bytes) { page_->memoryThreshold = bytes; }
  // Of the iterations that are to be recorded in full only each whose number is a multiple.
  void recordEvery(std::uint32_t every);
  SessionPage(SessionPage&& other) noexcept : page_(std::exchange(other.page_, nullptr)) {}
  SessionPage& operator=(SessionPage&&) = delete;
  ~SessionPage();

  // For new process images: see recording_switch.h for all of them.
  void setRecording(wire::RecordingState state);
  wire::RecordingState recording() const;
  std::uint64_t limitBytes() const { return page_->limitBytes; }
  std::uint64_t allocatedBytes() const;
  RecorderWords& words() const noexcept;

  // How many records the spool has no more, because their room was given back once they were in the
  // trace: without the unfinished trace these are lost. The recorder's own; no process reads it.
  std::uint64_t givenBack() const;
  void addGivenBack(std::uint64_t records);
  // The bytes of a spool file that was deleted.
  void freeBytes(std::uint64_t bytes);

  // Process images for which the spool had no room at all.
  std::uint32_t refusedImages() const;
  // Those that had no way to it.
  std::uint32_t unreachableImages() const;

 private:
  explicit SessionPage(wire::SessionPage* page) : page_(page) {}

  wire::SessionPage* page_;
};

}  // namespace sonde::recorder
