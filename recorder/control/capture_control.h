// Whether recording is on: controlled by its schedule (`--delay`, `--duration`) and by `sonde ctl`.
// Passes changes to all processes and to the trace. Owned by the recording; on its worker's thread
// while that runs.
#pragma once

#include "recorder/control/control_request.h"
#include "recorder/drain/drainer.h"
#include "recorder/options/capture_schedule.h"
#include "recorder/spool/session_page.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace sonde::recorder {

class CaptureControl {
 public:
  // Call before any process exists: sets the state in which the session begins.
  static void prepare(SessionPage& page, const CaptureTimes& times);

  // `page` and `drainer` must outlive this object. `every`: one of so many iterations is recorded
  // in full.
  CaptureControl(std::filesystem::path folder,
                 SessionPage& page,
                 Drainer& drainer,
                 const CaptureTimes& times,
                 std::uint32_t every);

  // The job starts: times count from now.
  void begin();
  // Whether a request or a scheduled change is due: cheap, for frequent calls.
  bool isCalled() const;
  // Carries out a due change of the schedule, then a pending request. For a dump it calls `dump`,
  // which must answer the request, possibly after this function has returned.
  void obey(const std::function<void()>& dump);

  // A rule has fired: all iterations are recorded in full for `forNs`.
  void recordFullyFor(std::int64_t forNs);

  // False while recording is paused, and after its end.
  bool isOn() const noexcept { return !isOver_ && schedule_.isOn(); }
  // Call it when new process images have appeared: sets their gates again.
  void tellAgain() const;
  // Recording ends for this reason and cannot be turned on again.
  void end(const std::string& why);
  // Call it before the trace is finished: adds a warning if the job ended before `--delay`.
  void noteOutcome();

 private:
  void apply(const std::string& by);
  Result<std::string> change(bool on);

  std::filesystem::path folder_;
  SessionPage& page_;
  Drainer& drainer_;
  CaptureTimes times_;
  std::uint32_t every_;
  std::optional<std::int64_t> fullUntilNs_;  // a rule has fired
  CaptureSchedule schedule_;
  bool hasChanged_ = false;  // the schedule or a request has changed the state
  bool isOver_ = false;
  std::string whyOver_;
};

}  // namespace sonde::recorder
