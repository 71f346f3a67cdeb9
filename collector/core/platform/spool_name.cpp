#include "collector/core/platform/spool_name.h"

#include "collector/core/platform/apart.h"
#include "collector/core/platform/syscalls.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

namespace sonde::core {
namespace {

long readFile(const char* path, char* out, std::size_t size) noexcept {
  const long fd = apart(rawSyscall(SYS_openat, AT_FDCWD, asLong(path), O_RDONLY | O_CLOEXEC));
  if (fd < 0)
    return fd;
  const long got = rawSyscall(SYS_read, fd, asLong(out), static_cast<long>(size - 1));
  rawSyscall(SYS_close, fd);
  out[got > 0 ? got : 0] = '\0';
  return got;
}

std::uint64_t parseNumber(const char* text) noexcept {
  std::uint64_t value = 0;
  for (; *text >= '0' && *text <= '9'; ++text)
    value = value * 10 + static_cast<std::uint64_t>(*text - '0');
  return value;
}

// Field 22 of a /proc/PID/stat line, counted after the command, which may itself contain blanks and
// brackets.
std::uint64_t startTimeOf(const char* stat) noexcept {
  const char* at = strrchr(stat, ')');
  for (int field = 2; at != nullptr && field < 22; ++field) {
    at = strchr(at, ' ');
    if (at != nullptr)
      ++at;
  }
  return at == nullptr ? 0 : parseNumber(at);
}

class TextBuilder {
 public:
  TextBuilder(char* out, std::size_t size) noexcept : out_(out), left_(size) {}

  TextBuilder& text(const char* from) noexcept { return bytes(from, strlen(from)); }

  TextBuilder& bytes(const char* from, std::size_t length) noexcept {
    if (length >= left_) {
      left_ = 0;
      return *this;
    }
    memcpy(out_, from, length);
    out_ += length;
    left_ -= length;
    *out_ = '\0';
    return *this;
  }

  TextBuilder& number(std::uint64_t value) noexcept {
    char digits[20];
    int at = sizeof digits;
    do {
      digits[--at] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0);
    return bytes(digits + at, sizeof digits - static_cast<std::size_t>(at));
  }

  bool fits() const noexcept { return left_ > 0; }

 private:
  char* out_;
  std::size_t left_;
};

}  // namespace

ImageIdentity readIdentity() noexcept {
  ImageIdentity who;
  who.pid = static_cast<std::int32_t>(rawSyscall(SYS_getpid));
  who.parentPid = static_cast<std::int32_t>(rawSyscall(SYS_getppid));
  if (readFile("/proc/sys/kernel/random/boot_id", who.bootId, sizeof who.bootId) <= 0)
    strcpy(who.bootId, "unknown-");
  if (char* end = strchr(who.bootId, '\n'); end != nullptr)
    *end = '\0';
  char stat[512];  // longer than the text before the start time
  if (readFile("/proc/self/stat", stat, sizeof stat) > 0)
    who.startTime = startTimeOf(stat);
  struct statx space {};
  if (rawSyscall(SYS_statx, AT_FDCWD, asLong("/proc/self/ns/pid"), 0, STATX_INO, asLong(&space)) ==
      0)
    who.pidNamespace = space.stx_ino;
  return who;
}

std::size_t readCommand(char* out, std::size_t size) noexcept {
  const long got = readFile("/proc/self/cmdline", out, size);
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

bool spoolPath(char (&out)[kPathBytes],
               const char* folder,
               const ImageIdentity& who,
               std::uint32_t execCount,
               const char* suffix) noexcept {
  return TextBuilder(out, sizeof out)
      .text(folder)
      .text("/")
      .bytes(who.bootId, 8)
      .text("-")
      .number(who.pidNamespace)
      .text("-")
      .number(static_cast<std::uint64_t>(who.pid))
      .text("-")
      .number(who.startTime)
      .text("-")
      .number(execCount)
      .text(".spool")
      .text(suffix)
      .fits();
}

}  // namespace sonde::core
