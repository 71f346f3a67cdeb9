// Moves what the processes of a recording have written from their spool files into the trace,
// exactly once.
//
// The recording loop (or `sonde recover`) owns one, on one thread. Rows, the note of how far each
// slot has been read and the state of the builders go into one transaction; slots are given back
// only after it has committed. So a recorder that is killed anywhere is resumed by open() on the
// same folder and `.part`, and nothing is stored twice.
#pragma once

#include "base/progress.h"
#include "base/result.h"
#include "recorder/drain/completion.h"
#include "recorder/drain/drain_totals.h"
#include "recorder/drain/image_set.h"
#include "recorder/drain/process_facts.h"
#include "recorder/drain/recorder_notes.h"
#include "recorder/drain/sample_store.h"
#include "recorder/drain/stall.h"
#include "recorder/drain/still_watch.h"
#include "recorder/drain/storing_times.h"
#include "recorder/drain/trace_recorder.h"
#include "recorder/drain/trace_room.h"
#include "recorder/options/capture_rule.h"
#include "recorder/options/redaction.h"
#include "recorder/spool/clock_triple.h"
#include "recorder/spool/image_id.h"
#include "recorder/spool/recording_switch.h"
#include "recorder/spool/spool_lock.h"
#include "recorder/system/readings.h"

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

struct DrainerOptions {
  std::filesystem::path folder;  // the session's spool folder; its `lock` is taken
  std::filesystem::path part;    // the trace under construction: created, or resumed
  std::string job;               // meta.job; empty: unknown
  std::string hostName;          // empty: gethostname()
  Redactor redactor;             // of the command that an image tells of itself
  // Of the trace with all that is beside it, at any time until it is finished; 0: what the disk
  // has. What would not fit is only counted, as lost for the reason "max size".
  std::uint64_t limitBytes = 0;
  // Towards `limitBytes` fewer of the iterations, or ranges, that it asks for are recorded in full.
  CaptureRule capture;
  // Storing takes time of a processor that the job may want. As long as it would give back less
  // room in the spool than this, and nothing has waited for some seconds, drainOnce() only looks;
  // not near a limit, while something is to be noted, or where a process cannot go on without room.
  // 0: it stores whatever there is.
  std::uint64_t waitBytes = 0;
  // Copies everything without giving slots back or deleting files (`sonde recover -o`).
  bool keepSpool = false;
  // Whether to take the session's lock; not for a spool file outside of any session.
  bool lock = true;
  // finish() may replace a file that is not this session's trace.
  bool replace = false;
  // Only this file of the folder; empty: all.
  std::filesystem::path onlyFile;
  // Where triples come from; by default the clocks of this machine. One is taken at every drain
  // that finds something, and where it asks how long something has lasted.
  std::function<ClockTriple()> clock;
  Progress progress;  // of finish()
};

struct DrainProgress {
  std::uint64_t records = 0;       // stored by this call
  std::uint64_t bytes = 0;         // of the spool, read by this call
  std::uint64_t waitingBytes = 0;  // of its room, that this call has left to be stored later
  // That the trace did not have yet: now is the time to read their /proc.
  std::vector<ImageId> newImages;
  std::uint32_t liveImages = 0;  // images whose process still runs
  // Nothing can be stored now (disk full, quota, a lock on the trace): tried again every 10 s of
  // DrainerOptions::clock and in finish(). The job is not touched.
  bool stopped = false;
  std::string why;            // when stopped: one line
  bool limitReached = false;  // DrainerOptions::limitBytes; nothing more is stored from now on
};

class Drainer {
 public:
  // Fails when the folder is not a session's, when another process drains it (ErrorCode::Busy), or
  // when the part cannot be created or is not this session's.
  static Result<std::unique_ptr<Drainer>> open(DrainerOptions options);
  // With the lock of the folder in hand.
  static Result<std::unique_ptr<Drainer>> open(DrainerOptions options,
                                               std::optional<SpoolLock> lock);
  Drainer(const Drainer&) = delete;
  Drainer& operator=(const Drainer&) = delete;

  // Stores what all processes have committed so far, or leaves it where it is for now
  // (DrainerOptions::waitBytes) unless it `isHurried`. Call it every 250 ms or so.
  DrainProgress drainOnce(bool isHurried = false);

  // Facts, rows of meta, losses and costs that the next drain stores.
  RecorderNotes& notes() noexcept { return notes_; }
  // What the sampler of this recording read. Stored at the latest when a second of it is there.
  void noteSamples(system::Batch batch) { samples_.add(std::move(batch)); }
  // Rows of table note: something that a reader of the trace must know from now on, and something
  // that is as it should be.
  void noteWarning(std::string text) { note(model::Severity::Warning, std::move(text)); }
  void noteEvent(std::string text) { note(model::Severity::Info, std::move(text)); }

  // Notes here, too, what was noted for `other` and is not stored there.
  void takeNotesOf(const Drainer& other) {
    notes_.takeFrom(other.notes_);
    samples_ = other.samples_;
  }
  // Of what is noted and not stored, forgets samples from before `ns`, and facts about processes
  // that have ended, unless their image `isKept`.
  void forgetBefore(std::int64_t ns, const std::function<bool(const ImageId&)>& isKept) {
    notes_.forgetEnded(isKept);
    samples_.forgetBefore(ns);
  }

  // Turns recording off in the control page of every image.
  void stopRecording() const { setRecording(options_.folder, wire::RecordingState::Off); }

  // `lastMeta`: as in completeTrace().
  // Call when the run is over: drains the rest, closes what is open (processes that still run stay
  // marked so), stores the losses, finalises the database and renames `part` to `output`; then
  // deletes the spool files and the manifest. After an error, which says what to do, the `.part` is
  // left as it was committed and `sonde recover` can continue.
  Result<DrainTotals> finish(const std::filesystem::path& output,
                             std::function<MetaRows()> lastMeta = {});

  const DrainTotals& totals() const noexcept { return totals_; }

 private:
  Drainer(DrainerOptions options, std::optional<SpoolLock> lock);

  // What becomes of the records, and which images are closed: those of ended processes, or all.
  enum class Pass { Store, StoreAndClose, CountAndClose };
  struct Ending {
    SpoolImage* image;
    bool runs;
  };

  void note(model::Severity severity, std::string text) {
    notes_.addNote(severity, options_.clock().monotonicNs, std::move(text));
  }
  Result<void> openTrace();
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
