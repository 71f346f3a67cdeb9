#include "tests/host/log.h"

#include "tests/host/raw.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace host {

Log* mapLog(const char* path, bool isNew) noexcept {
  const long fd =
      raw(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | (isNew ? O_CREAT | O_TRUNC : 0), 0600);
  if (fd < 0 || (isNew && raw(SYS_ftruncate, fd, sizeof(Log)) < 0))
    return nullptr;
  const long address = raw(SYS_mmap, 0, sizeof(Log), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  raw(SYS_close, fd);
  return address < 0 && address >= -4095 ? nullptr : reinterpret_cast<Log*>(address);
}

int takeArea(Log& log) noexcept {
  return log.nextArea + 1 < static_cast<std::uint32_t>(kAreas) ? static_cast<int>(++log.nextArea)
                                                               : kAreas - 1;
}

void say(Area& area, const char* format, ...) noexcept {
  constexpr std::size_t kRoom = sizeof area.text;
  if (area.used >= kRoom)
    return;
  va_list values;
  va_start(values, format);
  const int length = std::vsnprintf(area.text + area.used, kRoom - area.used, format, values);
  va_end(values);
  area.used = static_cast<std::uint32_t>(
      std::min(kRoom, area.used + static_cast<std::size_t>(std::max(length, 0))));
}

}  // namespace host
