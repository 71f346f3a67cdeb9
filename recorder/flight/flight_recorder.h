// `sonde run --last`: keeps the newest records in the spool and writes them to traces of their own
// when somebody asks, and when a process crashes. The end of the recording is not its business: the
// recording's own Drainer then stores what the ring holds. Owned by the recording, on its worker's
// thread; a dump is stored on a thread of its own.
#pragma once

#include "base/result.h"
#include "recorder/drain/drainer.h"
#include "recorder/flight/flight_ring.h"
#include "recorder/spool/session_page.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace sonde::recorder {

struct FlightOptions {
  std::filesystem::path folder;
  std::filesystem::path output;  // dumps go beside it
  std::int64_t lastNs = 0;
  std::string job;
  Redactor redactor;
  std::function<void(const std::string& line)> say;  // to the user, at once
};

class FlightRecorder {
 public:
  using Answer = std::function<void(const Result<std::string>&)>;

  // `page` and `notes`, the drainer that has what the recorder has to say, must outlive this
  // object.
  FlightRecorder(FlightOptions options, SessionPage& page, Drainer& notes);
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder&) = delete;
  FlightRecorder& operator=(const FlightRecorder&) = delete;

  // One look at the ring; nothing is let go for its age while it is frozen. Then begins the dump
  // whose turn it is.
  DrainProgress look(bool isFrozen);
  // With the next look that finds none being stored, what the ring holds is copied and stored.
  // `answer` is called when that is done, from any thread: with the trace's name, or why there is
  // none.
  void dump(const std::string& why, Answer answer);
  // The job is ending: what crashes now is in the trace of the recording.
  void settle() noexcept { isSettled_ = true; }
  // Waits for the dump that is being stored; those that wait are not made.
  void finish();

 private:
  struct Wanted {
    std::string why;
    Answer answer;
  };
  void dumpCrash(std::int64_t nowNs);
  void beginNext();
  void store(const Wanted& wanted);
  void sayHowShort(const FlightRing::Look& look);
  std::filesystem::path nextOutput() const;
  Result<std::unique_ptr<Drainer>> openDump(const std::filesystem::path& output,
                                            const std::filesystem::path& copy,
                                            const std::string& why);

  FlightOptions options_;
  SessionPage& page_;
  Drainer& notes_;
  FlightRing ring_;
  bool isSettled_ = false;
  std::optional<ImageId> crashed_;    // that no dump has yet
  std::int64_t nextCrashDumpNs_ = 0;  // not before
  std::int64_t nextCleaningNs_ = 0;
  std::int64_t saidNs_ = 0;  // that there is room for so much; 0: for all that was asked for
  std::deque<Wanted> wanted_;
  std::atomic<bool> isStoring_{false};
  std::thread storing_;
};

}  // namespace sonde::recorder
