// The work of a process's devices, by stream, with the call that launched each piece and the events
// that streams waited for. The input of the analyses in this folder. Plain values; reading uses the
// database's thread.
//
// Memory: about 100 bytes for a kernel or a copy.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::device {

enum class WorkKind : std::uint8_t { Compute, Communication, Copy };
inline constexpr std::size_t kWorkKinds = 3;
std::string_view word(WorkKind kind) noexcept;

// The host's call that launched work. An unknown end equals the begin.
struct Launch {
  std::int64_t sliceId = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t nameId = 0;
};

// A kernel or a copy. If it never ended, or ended before it began, it takes no time.
struct Work {
  WorkKind kind = WorkKind::Compute;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t nameId = 0;
  std::int64_t scopeId = 0;      // the slice that it was launched in; 0: none
  std::optional<Launch> launch;  // unset: not recorded
  std::optional<std::int64_t> bytes;
  std::string copyKind;  // of copies: `copy.kind`
  std::optional<bool> pinned;
};

// A stream waited until another stream had done all work that it had been given until `recordedNs`.
struct EventWait {
  std::int64_t calledNs = 0;    // when the host requested the wait
  std::int64_t recordedNs = 0;  // when the host recorded the event
  std::int64_t recordStream = 0;
};

struct StreamWork {
  std::int64_t streamId = 0;
  std::int64_t number = 0;
  std::vector<Work> work;        // by begin
  std::vector<EventWait> waits;  // by calledNs
};

struct DeviceWork {
  std::string name;                 // "gpu 0"; "device" if unknown
  std::vector<StreamWork> streams;  // those that did something, by number
};

// The devices that did something, by number.
Result<std::vector<DeviceWork>> readDevices(const store::Database& trace, std::int64_t processId);

}  // namespace sonde::engine::device
