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
#include <string>

namespace sonde::recorder {

class CaptureControl {
 public:
  // Call before any process exists: sets the state in which the session begins.
  static void prepare(SessionPage& page, const CaptureTimes& times);

  // `page` and `drainer` must outlive this object.
  CaptureControl(std::filesystem::path folder,
                 SessionPage& page,
                 Drainer& drainer,
                 const CaptureTimes& times);

  // The job starts: times count from now.
  void begin();
  // Whether a request or a scheduled change is due: cheap, for frequent calls.
  bool isCalled() const;
  // `dump` is called for a dump. It answers the request itself, at any time.
  void obey(const std::function<void()>& dump);

  // False while recording is paused, and after its end.
  bool isOn() const noexcept { return !isOver_ && schedule_.isOn(); }
  // New process images may have missed the last change.
  void tellAgain() const;
  // Recording ends for this reason and cannot be turned on again.
  void end(const std::string& why);
  // The trace is about to be finished: notes gaps that a reader could not explain otherwise.
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
