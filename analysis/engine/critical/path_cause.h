// Why a critical path takes time. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sonde::engine::critical {

// Why the iteration could not end earlier, during a part of its path.
enum class PathCause : std::uint8_t {
  Host,      // a thread was busy
  Loader,    // a thread loaded data
  Io,        // a thread was in a call that reads or writes files or sockets
  Wait,      // a thread waited, and the trace does not say for whom
  Device,    // a kernel ran
  Copy,      // a copy ran
  Transfer,  // a message was on its way, or a collective moved data after all ranks had come
  Launch,    // a launch was on its way to the device
  WakeUp,    // a thread was slow to notice that its wait was over
  Gap,       // unknown
};
inline constexpr std::size_t kPathCauses = 10;

// The word of JSON: host loader io wait device copy transfer launch wake_up gap.
const char* nameOf(PathCause cause) noexcept;

}  // namespace sonde::engine::critical
