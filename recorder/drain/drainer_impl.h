// What a Drainer is made of: passes (drainer_pass.cpp), each one transaction, and when they run,
// after what failure, and up to which limit (drainer.cpp). Within those two files; one thread.
#pragma once

#include "recorder/drain/drainer.h"
#include "recorder/drain/image_set.h"
#include "recorder/drain/recorder_notes.h"
#include "recorder/drain/sample_store.h"
#include "recorder/drain/stall.h"
#include "recorder/drain/still_watch.h"
#include "recorder/drain/storing_times.h"
#include "recorder/drain/trace_recorder.h"
#include "recorder/drain/trace_room.h"
#include "recorder/spool/recording_switch.h"
#include "recorder/spool/spool_lock.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sonde::recorder {

class Drainer::Impl {
 public:
  Impl(DrainerOptions options, std::optional<SpoolLock> lock);

  Result<void> openTrace();
  DrainProgress drainOnce(bool isHurried);
  Result<DrainTotals> finish(const std::filesystem::path& output,
                             std::function<MetaRows()> lastMeta);

  RecorderNotes& notes() noexcept { return notes_; }
  void noteSamples(system::Batch batch) { samples_.add(std::move(batch)); }
  void note(model::Severity severity, std::string text) {
    notes_.addNote(severity, options_.clock().monotonicNs, std::move(text));
  }
  void takeNotesOf(const Impl& other) {
    notes_.takeFrom(other.notes_);
    samples_ = other.samples_;
  }
  void forgetBefore(std::int64_t ns, const std::function<bool(const ImageId&)>& isKept) {
    notes_.forgetEnded(isKept);
    samples_.forgetBefore(ns);
  }
  void stopRecording() const { setRecording(options_.folder, wire::RecordingState::Off); }
  const DrainTotals& totals() const { return totals_; }

 private:
  // What becomes of the records, and which images are closed: those of ended processes, or all.
  enum class Pass { Store, StoreAndClose, CountAndClose };
  struct Ending {
    SpoolImage* image;
    bool runs;
  };

  void stall(const Error& error);
  void reachLimit();
  void thinOut();
  bool capturesRange() const noexcept {
    return options_.capture.kind == wire::CaptureRule::Kind::Range;
  }
  std::string whatIsThinned(std::uint32_t every) const;
  void sliceTime();
  bool counts(Pass pass) const { return limitReached_ || pass == Pass::CountAndClose; }
  bool mayStore();
  // Whether what there is to store may stay in the spool for now.
  bool mayWait(const std::vector<Ending>& ending, DrainProgress& progress);
  bool isUrgent() const;
  void scan(DrainProgress& progress);
  std::vector<Ending> findEnding(Pass pass, DrainProgress& progress) const;
  bool findWork(std::vector<Ending>& ending, std::int64_t nowNs, std::uint64_t& bytes);
  // For so many bytes of the spool, unless they are to be counted; they are past the limit.
  Result<void> findRoom(Pass pass, std::uint64_t bytes);
  // False: there is more to be done by another call.
  Result<bool> run(Pass pass, DrainProgress& progress);
  Result<void> runToTheEnd(Pass pass, DrainProgress& progress);
  // Returns the number of records.
  bool knowsAll(Pass pass);
  Result<std::uint64_t> storeAll(Pass pass,
                                 const std::vector<Ending>& ending,
                                 std::int64_t beganNs);
  // True: there is more to be stored.
  bool giveBack(Pass pass, bool anyEnded);
  Result<void> beginImages(const ClockTriple& now);
  Result<void> closeAll();
  Result<store::Database> releaseTrace();

  DrainerOptions options_;
  std::optional<SpoolLock> lock_;
  TraceRoom room_;
  std::unique_ptr<TraceRecorder> recorder_;
  std::unique_ptr<ImageSet> images_;  // its builders refer to recorder_
  RecorderNotes notes_;
  SampleStore samples_;
  StoringTimes storing_;
  DrainTotals totals_;
  std::set<std::string> unreadable_;  // files that are noted already
  std::optional<Stall> stall_;
  StillWatch still_;
  double thinAt_ = 0.5;        // of the limit, that is left
  std::uint32_t thinned_ = 1;  // of so many iterations one is recorded in full
  bool isPaused_ = false;      // as the recording was last, before it was over
  bool limitReached_ = false;  // nothing is stored any more, all is counted
  bool finished_ = false;
  bool wasCramped_ = false;  // some process had no free slot when the images were looked at last
  bool isStoring_ = false;   // what there was when it could not wait any more
  std::optional<std::int64_t> storedNs_;  // when all was stored last
  std::uint32_t liveImages_ = 0;          // when the images were looked at last
};

}  // namespace sonde::recorder
