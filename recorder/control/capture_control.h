// Whether a recording is on: by its own schedule (`--delay`, `--duration`) and as `sonde ctl` asks.
// Tells all processes, and the trace. Owned by the recording, on its worker's thread while that
// runs.
#pragma once

#include "recorder/control/control_request.h"
#include "recorder/drain/drainer.h"
#include "recorder/options/capture_schedule.h"
#include "recorder/spool/session_page.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace sonde::recorder {

class CaptureControl {
 public:
  // Before there is any process: how the session is to begin.
  static void prepare(SessionPage& page, const CaptureTimes& times);

  // `page` and `drainer` must outlive this object.
  CaptureControl(std::filesystem::path folder,
                 SessionPage& page,
                 Drainer& drainer,
                 const CaptureTimes& times);

  // The job starts: times count from now.
  void begin();
  // Whether there is something to obey: cheap, to be asked often.
  bool isCalled() const;
  // `dump` is asked for a dump, and answers the request itself, at any time.
  void obey(const std::function<void()>& dump);

  // Not so while it is paused, and when it is over.
  bool isOn() const noexcept { return !isOver_ && schedule_.isOn(); }
  // Process images came which may have missed the last change.
  void tellAgain() const;
  // Recording ends, for this reason: nothing turns it on any more.
  void end(const std::string& why);
  // The trace is about to be finished: says what a reader would miss without knowing why.
  void noteOutcome();

 private:
  void apply(const std::string& by);
  Result<std::string> change(bool on);

  std::filesystem::path folder_;
  SessionPage& page_;
  Drainer& drainer_;
  CaptureTimes times_;
  CaptureSchedule schedule_;
  bool hasChanged_ = false;  // since the processes may have read the session page
  bool isOver_ = false;
  std::string whyOver_;
};

}  // namespace sonde::recorder
