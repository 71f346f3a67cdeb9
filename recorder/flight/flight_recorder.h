// `sonde run --last`: keeps the newest records in the spool and writes them to separate traces on
// request and when a process crashes. At the end of the recording, the recording's own Drainer
// stores the ring. Owned by the recording, on its worker's thread; a dump is stored on a separate
// thread.
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
  std::filesystem::path output;  // dumps are written next to it
  std::int64_t lastNs = 0;
  std::string job;
  Redactor redactor;
  std::function<void(const std::string& line)> say;  // to the user, immediately
};

class FlightRecorder {
 public:
  using Answer = std::function<void(const Result<std::string>&)>;

  // `page` and `notes`, the drainer that has the recorder's notes, must outlive this object.
  FlightRecorder(FlightOptions options, SessionPage& page, Drainer& notes);
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder&) = delete;
  FlightRecorder& operator=(const FlightRecorder&) = delete;

  // Looks at the ring once; while it is frozen, no records are discarded for their age. Then starts
  // the next waiting dump.
  DrainProgress look(bool isFrozen);
  // The next look() without a dump in progress copies the ring and stores the copy. `answer` is
  // called when that is done, from any thread: with the trace's name, or the reason for its
  // absence.
  void dump(const std::string& why, Answer answer);
  // The job is ending: the recording's own trace will contain later crashes.
  void settle() noexcept { isSettled_ = true; }
  // Waits for the dump that is being stored; drops those that wait.
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
  std::optional<ImageId> crashed_;    // not yet in any dump
  std::int64_t nextCrashDumpNs_ = 0;  // no crash dump before this time
  std::int64_t nextCleaningNs_ = 0;
  std::int64_t saidNs_ = 0;  // the time for which the user was told there is room; 0: not told
  std::deque<Wanted> wanted_;
  std::atomic<bool> isStoring_{false};
  std::thread storing_;
};

}  // namespace sonde::recorder
