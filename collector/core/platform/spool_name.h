// The identity of this process image, read from /proc without libc's stdio, and the file name made
// from it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sonde::core {

struct ImageIdentity {
  char bootId[40] = {};
  std::uint64_t pidNamespace = 0;
  std::int32_t pid = 0;
  std::int32_t parentPid = 0;
  std::uint64_t startTime = 0;
};
ImageIdentity readIdentity() noexcept;

// Copies the process's arguments, each zero-terminated, cut to `size`. Returns the number of bytes.
std::size_t readCommand(char* out, std::size_t size) noexcept;

inline constexpr std::size_t kPathBytes = 512;

// "<folder>/<boot id, 8 characters>-<pid namespace>-<pid>-<start time>-<execCount>.spool" plus
// `suffix`. False if it does not fit.
bool spoolPath(char (&out)[kPathBytes],
               const char* folder,
               const ImageIdentity& who,
               std::uint32_t execCount,
               const char* suffix) noexcept;

}  // namespace sonde::core
