#include "recorder/control/capture_control.h"

#include "recorder/spool/host_clock.h"
#include "recorder/spool/recording_switch.h"

#include <fmt/format.h>

#include <utility>

namespace sonde::recorder {

namespace {

using wire::RecordingState;

std::int64_t nowNs() {
  return readHostClock().monotonicNs;
}

void enter(SessionPage& page, RecordingState state) {
  page.setRecording(state);
  page.words().changedNs.store(readHostClock().realtimeNs);
  if (state == RecordingState::Paused)
    page.words().pauses.fetch_add(1);
}

}  // namespace

void CaptureControl::prepare(SessionPage& page, const CaptureTimes& times) {
  enter(page, times.delayNs > 0 ? RecordingState::Paused : RecordingState::On);
}

CaptureControl::CaptureControl(std::filesystem::path folder,
                               SessionPage& page,
                               Drainer& drainer,
                               const CaptureTimes& times,
                               std::uint32_t every)
    : folder_(std::move(folder)),
      page_(page),
      drainer_(drainer),
      times_(times),
      every_(every),
      schedule_(times, nowNs()) {}

void CaptureControl::begin() {
  schedule_ = CaptureSchedule(times_, nowNs());
}

bool CaptureControl::isCalled() const {
  const RecorderWords& words = page_.words();
  const auto next = schedule_.nextNs();
  return words.request.load() != words.answered.load() || (!isOver_ && next && nowNs() >= *next) ||
         (fullUntilNs_ && nowNs() >= *fullUntilNs_);
}

// Notes get a time before records that are not stored yet, but none of these is younger than one
// drain.
void CaptureControl::apply(const std::string& by) {
  const RecordingState state = schedule_.isOn() ? RecordingState::On : RecordingState::Paused;
  hasChanged_ = true;
  enter(page_, state);
  setRecording(folder_, state);
  drainer_.noteEvent(fmt::format("recording {} at {} ({})",
                                 schedule_.isOn() ? "started" : "paused, except for an outline,",
                                 timeOfDay(readHostClock()),
                                 by));
}

Result<std::string> CaptureControl::change(bool on) {
  if (isOver_)
    return Error{ErrorCode::Unsupported, whyOver_};
  if (!schedule_.set(on, nowNs()))
    return std::string(on ? "already recording" : "already paused");
  apply("sonde ctl");
  return std::string(on ? "recording" : "paused");
}

void CaptureControl::recordFullyFor(std::int64_t forNs) {
  if (isOver_)
    return;
  const std::int64_t now = nowNs();
  if (every_ > 1 && !fullUntilNs_) {
    page_.recordEvery(1);
    drainer_.noteEvent(fmt::format("all iterations are recorded in full from {} on (--on-fire)",
                                   timeOfDay(readHostClock())));
  }
  if (every_ > 1)
    fullUntilNs_ = now + forNs;
  if (schedule_.setFor(forNs, now))
    apply("--on-fire");
}

void CaptureControl::obey(const std::function<void()>& dump) {
  if (fullUntilNs_ && nowNs() >= *fullUntilNs_) {
    fullUntilNs_.reset();
    page_.recordEvery(every_);
  }
  if (!isOver_ && schedule_.advance(nowNs()))
    apply(schedule_.isOn() ? "--delay" : "--duration");
  const auto verb = takeRequest(page_.words());
  if (!verb)
    return;
  switch (*verb) {
    case ControlVerb::Start:
    case ControlVerb::Stop:
      return answerRequest(page_.words(), change(*verb == ControlVerb::Start));
    case ControlVerb::Dump:
      return dump();
  }
  answerRequest(page_.words(),
                Error{ErrorCode::Unsupported, "this recorder does not support the request"});
}

void CaptureControl::tellAgain() const {
  if (isOver_ || hasChanged_)
    setRecording(folder_, page_.recording());
}

void CaptureControl::end(const std::string& why) {
  if (std::exchange(isOver_, true))
    return;
  whyOver_ = why;
  enter(page_, RecordingState::Off);
  setRecording(folder_, RecordingState::Off);
}

void CaptureControl::noteOutcome() {
  if (schedule_.isWaiting())
    drainer_.noteWarning(fmt::format(
        "only an outline was recorded: the job ended before --delay ({:.4g} s) had passed",
        static_cast<double>(times_.delayNs) / 1e9));
}

}  // namespace sonde::recorder
