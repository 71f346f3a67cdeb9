// Identifies a process image, as its spool file's name does. A plain value.
#pragma once

#include <compare>
#include <cstdint>

namespace sonde::recorder {

// `pid`: in the process's own pid namespace.
struct ImageId {
  // For a process that has ended: whichever of its images was the last.
  static constexpr std::uint32_t kLast = UINT32_MAX;

  std::int32_t pid = 0;
  std::uint64_t startTime = 0;  // field 22 of /proc/PID/stat
  std::uint32_t execCount = 0;

  friend auto operator<=>(const ImageId&, const ImageId&) = default;
};

}  // namespace sonde::recorder
