// What a sequence of calls did, as text that is the same in every bare run: a file that all its
// processes map, so that no descriptor is needed to write to it and what a killed process has said
// is kept. Each thread and process writes to an area of its own, whose number its maker chooses.
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

// Maps the file, making it when `isNew`; nullptr when that fails.
Log* mapLog(const char* path, bool isNew) noexcept;

// A number that was not given before; the last one for good when there are no more.
int takeArea(Log& log) noexcept;

__attribute__((format(printf, 2, 3))) void say(Area& area, const char* format, ...) noexcept;

}  // namespace host
