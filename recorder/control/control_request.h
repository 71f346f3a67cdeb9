// How `sonde ctl` asks a recorder for something, through RecorderWords: one request at a time,
// which the recorder takes up within a drain or so and answers when it is done. Each side has one
// thread.
#pragma once

#include "base/result.h"
#include "recorder/spool/recorder_words.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace sonde::recorder {

enum class ControlVerb : std::uint8_t { Start = 1, Stop = 2, Dump = 3 };

struct AskOptions {
  // For the recorder to take the request up, and before that for another's to be answered.
  std::chrono::milliseconds patience{5000};
  std::function<bool()> recorderLives;
};

// Returns the recorder's answer. Busy when it took the request up in time neither now nor, because
// the request is taken back, later; Io when it died meanwhile; Unsupported when it refused, with
// its reason.
Result<std::string> askRecorder(RecorderWords& words, ControlVerb verb, const AskOptions& options);

// The recorder's side. What was asked and is not taken up yet: it is now.
std::optional<ControlVerb> takeRequest(RecorderWords& words);
// Requires: a request was taken and is not answered.
void answerRequest(RecorderWords& words, const Result<std::string>& answer);

}  // namespace sonde::recorder
