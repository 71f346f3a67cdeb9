// Moves the records of a recording's processes from their spool files into the trace, exactly once.
//
// The recording loop (or `sonde recover`) owns one, on one thread. Rows, the progress in each slot
// and the state of the builders go into one transaction. Slots are given back only after it has
// committed. So if a recorder is killed at any point, open() with the same folder and `.part`
// resumes, and no record is stored twice.
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
#include "recorder/drain/store_delay.h"
#include "recorder/drain/storing_times.h"
#include "recorder/drain/thinning.h"
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
  std::filesystem::path folder;  // the session's spool folder; the drainer takes its `lock`
  std::filesystem::path part;    // the unfinished trace: created, or resumed
  std::string job;               // meta.job; empty: unknown
  std::string hostName;          // empty: gethostname()
  Redactor redactor;             // for the command that an image records about itself
  // Maximum size of the trace with all files next to it, at any time until it is finished; 0: only
  // the disk limits it. Records beyond it are counted as lost for the reason "max size".
  std::uint64_t limitBytes = 0;
  // Near `limitBytes`, fewer of the iterations or ranges that this requests are recorded in full.
  CaptureRule capture;
  // Storing takes processor time that the job may need. drainOnce() only looks, and stores nothing,
  // as long as storing would free less spool room than this and nothing has waited for
  // `longestWaitNs`. This does not apply near a limit, while notes are pending, or if a process
  // cannot continue without room. 0: always stores.
  std::uint64_t waitBytes = 0;
  // Nothing waits longer than this.
  std::int64_t longestWaitNs = 10'000'000'000;
  // Copies everything; gives no slots back and deletes no files (`sonde recover -o`).
  bool keepSpool = false;
  // Whether to take the session's lock; false for a spool file outside of a session.
  bool lock = true;
  // finish() may replace a file that is not this session's trace.
  bool replace = false;
  // Only this file of the folder; empty: all.
  std::filesystem::path onlyFile;
  // The source of clock triples; by default this machine's clocks. A triple is read at every drain
  // that finds something, and to check durations.
  std::function<ClockTriple()> clock;
  Progress progress;  // for finish()
};

struct DrainProgress {
  std::uint64_t records = 0;       // stored by this call
  std::uint64_t bytes = 0;         // read from the spool by this call
  std::uint64_t waitingBytes = 0;  // of spool room, left by this call to be stored later
  // Images that are new in the trace: their /proc can be read now.
  std::vector<ImageId> newImages;
  std::uint32_t liveImages = 0;  // images whose process still runs
  // Nothing can be stored now (disk full, quota, a lock on the trace). Retried every 10 s of
  // DrainerOptions::clock and in finish(). The job is not affected.
  bool stopped = false;
  std::string why;            // when stopped: one line
  bool limitReached = false;  // DrainerOptions::limitBytes is reached; nothing is stored any more
};

class Drainer {
 public:
  // Fails if the folder is not a session's, if another process drains it (ErrorCode::Busy), or if
  // the part cannot be created or is not this session's.
  static Result<std::unique_ptr<Drainer>> open(DrainerOptions options);
  // With the folder's lock already taken.
  static Result<std::unique_ptr<Drainer>> open(DrainerOptions options,
                                               std::optional<SpoolLock> lock);
  Drainer(const Drainer&) = delete;
  Drainer& operator=(const Drainer&) = delete;

  // Stores all committed records of all processes or, unless `isHurried`, leaves them for now
  // (DrainerOptions::waitBytes). Call it about every 250 ms.
  DrainProgress drainOnce(bool isHurried = false);

  // Facts about processes, rows of meta, losses and costs, which the next drain stores.
  RecorderNotes& notes() noexcept { return notes_; }
  // Notes readings of this recording's sampler. Stored at the latest when they cover a second.
  void noteSamples(system::Batch batch) { samples_.add(std::move(batch)); }
  // Adds a warning for the reader of the trace: a row of table note.
  void noteWarning(std::string text) {
    notes_.addNote(model::Severity::Warning, options_.clock().monotonicNs, std::move(text));
  }
  // The same for information that is not a warning.
  void noteEvent(std::string text) {
    notes_.addNote(model::Severity::Info, options_.clock().monotonicNs, std::move(text));
  }

  // Copies the notes of another drainer that it has not stored.
  void takeNotesOf(const Drainer& other) {
    notes_.takeFrom(other.notes_);
    samples_ = other.samples_;
  }
  // Forgets unstored samples from before `ns`, and unstored facts about processes that have ended,
  // unless `isKept` returns true for their image.
  void forgetBefore(std::int64_t ns, const std::function<bool(const ImageId&)>& isKept) {
    notes_.forgetEnded(isKept);
    samples_.forgetBefore(ns);
  }

  // Turns recording off in every image's control page.
  void stopRecording() const { setRecording(options_.folder, wire::RecordingState::Off); }

  // Call it at the end of the run. `lastMeta`: as in completeTrace(). Drains the rest, closes
  // everything that is open (processes that still run stay marked as running) and stores the
  // losses. Then it finalises the database, renames `part` to `output`, and deletes the spool files
  // and the manifest. After an error, whose message says what to do, the `.part` is as last
  // committed and `sonde recover` can continue.
  Result<DrainTotals> finish(const std::filesystem::path& output,
                             std::function<MetaRows()> lastMeta = {});

  const DrainTotals& totals() const noexcept { return totals_; }

 private:
  Drainer(DrainerOptions options, std::optional<SpoolLock> lock);

  // The treatment of the records, and the images to close: those of ended processes, or all.
  enum class Pass { Store, StoreAndClose, CountAndClose };
  struct Ending {
    SpoolImage* image;
    bool runs;
  };

  Result<void> openTrace();
  void stall(const Error& error);
  void reachLimit();
  bool counts(Pass pass) const { return limitReached_ || pass == Pass::CountAndClose; }
  bool mayStore();
  // Whether the records may stay in the spool for now.
  bool mayWait(const std::vector<Ending>& ending, DrainProgress& progress);
  void scan(DrainProgress& progress);
  std::vector<Ending> findEnding(Pass pass, DrainProgress& progress) const;
  bool findWork(std::vector<Ending>& ending, std::int64_t nowNs, std::uint64_t& bytes);
  // Room for `bytes` of the spool, unless they are only counted. Fails if they exceed the limit.
  Result<void> findRoom(Pass pass, std::uint64_t bytes);
  // False: another call must continue.
  Result<bool> run(Pass pass, DrainProgress& progress);
  Result<void> runToTheEnd(Pass pass, DrainProgress& progress);
  bool knowsAll(Pass pass);
  // Returns the number of records.
  Result<std::uint64_t> storeAll(Pass pass,
                                 const std::vector<Ending>& ending,
                                 std::int64_t beganNs);
  // True: there are more records to store.
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
  std::set<std::string> unreadable_;  // files that were already noted
  std::optional<Stall> stall_;
  StoreDelay delay_;
  Thinning thinning_;
  bool isPaused_ = false;      // the last state before the recording was over
  bool limitReached_ = false;  // records are only counted from now on
  bool finished_ = false;
  std::uint32_t liveImages_ = 0;  // at the last look
};

}  // namespace sonde::recorder
