// The effects of a sequence of calls, as text that is the same in every bare run. The log is a file
// that all its processes map. So writing needs no descriptor, and the text of a killed process is
// kept. Each thread and process writes to its own area, whose number its creator chooses.
#pragma once

#include <cstddef>
#include <cstdint>

namespace host {

constexpr int kAreas = 96;
constexpr std::size_t kAreaBytes = 96 * 1024;

struct Area {
  std::uint32_t used;
  char text[kAreaBytes - sizeof(std::uint32_t)];
};

struct Log {
  std::uint32_t nextArea;
  Area areas[kAreas];
};

// Maps the file, and creates it if `isNew`; nullptr on failure.
Log* mapLog(const char* path, bool isNew) noexcept;

// Returns a new number; if there are no more, the last one each time.
int takeArea(Log& log) noexcept;

__attribute__((format(printf, 2, 3))) void say(Area& area, const char* format, ...) noexcept;

}  // namespace host
