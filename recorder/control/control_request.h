// How `sonde ctl` sends requests to a recorder, through RecorderWords. One request at a time. The
// recorder takes it up within about one drain and answers when it is done. One thread on each side.
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
  // Time for the recorder to take the request up, and before that to answer another's request.
  std::chrono::milliseconds patience{5000};
  std::function<bool()> recorderLives;
};

// Returns the recorder's answer. Busy: the recorder did not take the request up in time; the
// request is withdrawn. Io: the recorder died meanwhile. Unsupported: it refused, with its reason.
Result<std::string> askRecorder(RecorderWords& words, ControlVerb verb, const AskOptions& options);

// For the recorder: takes up the pending request, if there is one.
std::optional<ControlVerb> takeRequest(RecorderWords& words);
// Requires: a request was taken up and is not answered.
void answerRequest(RecorderWords& words, const Result<std::string>& answer);

}  // namespace sonde::recorder
