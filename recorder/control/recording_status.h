// The status of a recording for `sonde ctl PID status`. Read from its session page, its spool and
// its unfinished trace without asking the recorder. Plain functions; any thread, any process of the
// user.
#pragma once

#include "base/result.h"
#include "collector/wire/recording_state.h"
#include "recorder/spool/find_recording.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace sonde::recorder {

// For a flight recorder (`sonde run --last`).
struct RingStatus {
  std::chrono::nanoseconds asked{0};
  std::chrono::nanoseconds kept{0};  // everything since at least this long ago is available
  std::uint64_t discardedBytes = 0;  // of discarded records
};

struct RecordingStatus {
  wire::RecordingState state = wire::RecordingState::Off;
  std::chrono::nanoseconds since{0};  // since the epoch
  std::int32_t recorderPid = 0;
  std::uint32_t processes = 0;  // running processes that record or would record
  std::uint64_t spoolBytes = 0;
  std::uint64_t spoolLimitBytes = 0;
  std::filesystem::path output;
  std::uint64_t traceBytes = 0;               // of the unfinished trace, including its log
  std::map<std::string, std::uint64_t> lost;  // by reason, as in table loss
  std::optional<RingStatus> ring;
};

Result<RecordingStatus> statusOf(const FoundRecording& recording);

}  // namespace sonde::recorder
