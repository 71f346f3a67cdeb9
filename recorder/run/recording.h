// One recording: its spool folder, the thread that moves the job's records into the trace, and the
// end. The recorder's main thread creates and finishes it; the worker thread belongs to the
// recording.
#pragma once

#include "base/progress.h"
#include "base/result.h"
#include "recorder/calibrate/calibration_found.h"
#include "recorder/calibrate/cost_loops.h"
#include "recorder/control/capture_control.h"
#include "recorder/drain/drainer.h"
#include "recorder/drain/process_capture.h"
#include "recorder/flight/flight_recorder.h"
#include "recorder/launcher/reaper.h"
#include "recorder/options/redaction.h"
#include "recorder/run/recorder_share.h"
#include "recorder/run/worker_requests.h"
#include "recorder/spool/session_page.h"
#include "recorder/spool/spool_lock.h"
#include "recorder/system/sampler.h"

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace sonde::recorder {

// The default: the source memory records malloc blocks from this size on.
inline constexpr std::uint64_t kMemoryThreshold = 64 << 10;

struct RecordingOptions {
  std::filesystem::path folder;  // from makeSessionFolder
  std::filesystem::path output;
  bool replace = false;  // replace an existing file with that name
  std::uint32_t probeMask = 0;
  std::uint64_t spoolLimitBytes = 0;
  std::uint64_t maxTraceBytes = 0;
  CaptureRule capture;
  wire::StackRule stacks{};
  wire::CalibrationRule calibration{};
  std::uint64_t memoryThreshold = kMemoryThreshold;  // bytes
  std::chrono::nanoseconds sampleInterval{0};        // for the job's processes; 0: never
  bool samplesMachine = true;                        // also sample the rest of the machine
  CaptureTimes times;
  std::int64_t lastNs = 0;  // for a flight recorder; 0: everything is stored
  bool judgesLive = false;  // somebody reads the trace while it grows: nothing waits long
  std::string job;
  std::string sources;                   // names, comma-separated
  std::string build;                     // of the recording library
  std::vector<std::string> command;      // the job's, not redacted
  std::vector<std::string> environment;  // the environment of the job's main process
  Redactor redactor;
  Progress progress;  // for finish()
  // Messages that cannot wait for the end; any thread.
  std::function<void(const std::string& line)> say;
};

struct RecordingSummary {
  DrainTotals totals;
  std::filesystem::path output;
  double seconds = 0;            // from begin() to the end of finish()
  double unrecordedSeconds = 0;  // the last part of the job, after --max-size was reached
  std::uint64_t recorderCpuNs = 0;
  std::uint64_t recorderBytes = 0;              // largest memory use
  std::optional<CalibrationFound> calibration;  // for a run with --calibrate
};

// A recording whose spool folder is ready; its trace has not been touched yet.
struct PreparedRecording {
  RecordingOptions options;
  SessionPage page;
  SpoolLock lock;
};

class Recording {
 public:
  // An error here is about the spool folder …
  static Result<PreparedRecording> prepare(RecordingOptions options);
  // … and an error here is about the output, wherever the spool is. Busy: another recording has
  // taken it.
  static Result<std::unique_ptr<Recording>> begin(PreparedRecording prepared);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // Starts to drain. `mainPid`: the job's main process, not yet waited for.
  void start(pid_t mainPid);

  // Sonde could not follow the main process; stored as a loss.
  void noteNotFollowed(const std::string& program, const std::string& reason);

  // NCCL loads another plugin than Sonde's: the trace notes what the nccl probe lacks.
  void noteOtherNcclPlugin(const std::string& plugin);

  // The job's main process has ended: a flight recorder keeps what it has now.
  void noteMainEnded() { mainEnded_.store(true); }
  // Requests a dump of the flight recorder, at the next drain. False: this is not a flight
  // recorder.
  bool requestDump();

  // Carried out at the next drain.
  WorkerRequests& requests() noexcept { return requests_; }

  void noteReaped(const launcher::ReapedChild& child);

  // Adds a note to the trace. Any thread.
  void note(model::Severity severity, const std::string& source, std::string text);

  // Whether some recorded process still runs, as of the last drain.
  bool othersAlive() const { return liveImages_.load() > 0; }

  // Ends the recording: drains the rest, finalises and renames the trace, removes the spool folder.
  // With `restRunning`, processes that still run stop recording and stay marked as running. When
  // all records are in the trace, calls `costs` to measure the cost of recording on this machine;
  // may be empty.
  Result<RecordingSummary> finish(bool restRunning, const std::function<CostsFound()>& costs);

  // Gives up before start(): leaves nothing behind.
  void discard();

 private:
  Recording(RecordingOptions options, SessionPage page, std::unique_ptr<Drainer> drainer);
  void work();
  bool waitForNext(std::chrono::milliseconds time);
  void stopWorker();
  DrainProgress drain(bool isHurried);
  DrainProgress drainBeside(bool isHurried);
  void takeSamples();
  void storeCaptured(CapturedImage captured);
  void noteExits();
  void storeNotes();
  DrainProgress lookOrStore(bool isHurried);
  void obey();
  void stopJobRecording(const std::string& why);
  void noteCosts(const CostsFound& found);
  void noteRefused();
  void removeFolder();

  RecordingOptions options_;
  SessionPage page_;
  std::unique_ptr<Drainer> drainer_;        // the worker's while it runs
  CaptureControl control_;                  // the worker's while it runs
  std::unique_ptr<FlightRecorder> flight_;  // nullptr: everything is stored
  std::unique_ptr<ProcessCapture> capture_;
  std::unique_ptr<system::Sampler> sampler_;  // nullptr: nothing is sampled
  std::int64_t beganNs_ = 0;
  RecorderShare share_;
  std::set<ImageId> described_;  // images whose /proc was read; the worker's
  bool jobKnown_ = false;
  bool full_ = false;        // recording has ended because of --max-size …
  std::int64_t fullNs_ = 0;  // … at this time
  std::atomic<std::uint32_t> liveImages_{0};
  std::atomic<bool> mainEnded_{false};
  std::atomic<bool> isDumpWanted_{false};
  WorkerRequests requests_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ending_ = false;                        // guarded by mutex_
  std::vector<launcher::ReapedChild> reaped_;  // guarded by mutex_
  std::vector<RecorderNotes::Note> notes_;     // guarded by mutex_
  std::thread worker_;
};

}  // namespace sonde::recorder
