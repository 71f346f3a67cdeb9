#include "collector/preload/descriptors/io.h"

#include "collector/core/emit.h"
#include "collector/core/platform/syscalls.h"
#include "collector/core/vfork.h"
#include "collector/preload/descriptors/fd_calls.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>

namespace sonde::preload {
namespace {

using core::rawSyscall;
using wire::FileAccess;
using wire::Probe;

constexpr std::uint64_t kBlockBytes = 512;  // the kernel's unit, whatever the disk's is
constexpr std::size_t kLinkBytes = 32;      // "/proc/self/fd/" and a number

// One to four microseconds, depending on the clock: no disk answers that fast.
constexpr std::uint64_t kShortTicks = 4000;

// Files that are memory or information from the kernel.
constexpr const char* kNoFiles[] = {"/proc/", "/sys/", "/dev/", "/memfd:"};

// Number of blocks read from disks for this thread. Always 0 if the kernel does not count them.
std::uint64_t blocksRead() noexcept {
  rusage usage{};
  const bool known = rawSyscall(SYS_getrusage, RUSAGE_THREAD, core::asLong(&usage)) == 0;
  return known ? static_cast<std::uint64_t>(usage.ru_inblock) : 0;
}

void linkOf(int fd, char (&link)[kLinkBytes]) noexcept {
  constexpr char kFolder[] = "/proc/self/fd/";
  char digits[12];
  std::size_t count = 0;
  for (auto rest = static_cast<unsigned>(fd); rest > 0 || count == 0; rest /= 10)
    digits[count++] = static_cast<char>('0' + rest % 10);
  memcpy(link, kFolder, sizeof kFolder - 1);
  for (std::size_t at = 0; at < count; ++at)
    link[sizeof kFolder - 1 + at] = digits[count - 1 - at];
  link[sizeof kFolder - 1 + count] = '\0';
}

// A job that reads one file per sample has more files than the table of names can hold. When half
// of the table is used, a new file is named by its folder.
std::uint32_t nameOf(char* path, std::size_t bytes) noexcept {
  if (const std::uint32_t name = core::internWithin(2, path, bytes); name != 0)
    return name;
  while (bytes > 0 && path[bytes - 1] != '/')
    --bytes;
  if (bytes + 1 < PATH_MAX)
    path[bytes++] = '*';
  const std::uint32_t name = core::internWithin(3, path, bytes);
  return name != 0 ? name : core::intern("(one of many files)");
}

FilePath pathOf(int fd) noexcept {
  char link[kLinkBytes];
  linkOf(fd, link);
  char path[PATH_MAX];
  const long length = rawSyscall(
      SYS_readlinkat, AT_FDCWD, core::asLong(&link[0]), core::asLong(&path[0]), sizeof path);
  if (length <= 0)
    return {true, 0};
  const auto bytes = static_cast<std::size_t>(length);
  for (const char* const prefix : kNoFiles) {
    const std::size_t size = strlen(prefix);
    if (bytes >= size && memcmp(path, prefix, size) == 0)
      return {false, 0};
  }
  return {true, nameOf(path, bytes)};
}

FileCall begin(int fd, FdEntry entry, Way way) noexcept {
  if (!core::admits(Probe::Io) || core::inNotedVforkChild())
    return {fd, entry, way, 0, 0};
  entry = withPath(fd, entry);
  if (entry.kind() != FdKind::File)
    return {fd, entry, way, 0, 0};
  const std::uint64_t blocks = way == Way::Receive ? blocksRead() : 0;
  return {fd, entry, way, core::ticks(), blocks};
}

void end(const FileCall& call, std::int64_t moved, std::int64_t offset, const char* name) noexcept {
  FileAccess record{};
  record.endTicks = call.endTicks != 0 ? call.endTicks : core::ticks();
  record.beginTicks = call.beginTicks;
  record.diskBytes = FileAccess::kUnknown;
  record.offset = FileAccess::kUnknown;
  record.bytes = FileAccess::kUnknown;
  if (moved != kMovesNothing) {
    record.bytes = moved > 0 ? static_cast<std::uint64_t>(moved) : 0;
    if (call.way == Way::Receive)
      record.diskBytes = record.endTicks - record.beginTicks < kShortTicks
                             ? 0
                             : (blocksRead() - call.blocks) * kBlockBytes;
    if (offset == kOwnPosition) {
      const long position = rawSyscall(SYS_lseek, call.fd, 0, SEEK_CUR);
      offset = position < 0 ? -1 : position - static_cast<std::int64_t>(record.bytes);
    }
    if (offset >= 0)
      record.offset = static_cast<std::uint64_t>(offset);
  }
  record.header.subject = core::intern(name);
  record.path = call.entry.generation();
  core::emitFileAccess(record);
}

constexpr FileHandler kFiles = {pathOf, begin, end};

}  // namespace

void startIo() noexcept {
  registerFileHandler(&kFiles);
}

}  // namespace sonde::preload
