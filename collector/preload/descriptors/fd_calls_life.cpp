// Calls that create, copy and close descriptors. A descriptor that is opened by name is only
// forgotten here; it is inspected at its first use.

#include "collector/core/emit.h"
#include "collector/core/platform/hooks.h"
#include "collector/core/platform/symbol_versions.h"
#include "collector/core/platform/syscalls.h"
#include "collector/preload/descriptors/fd_calls.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/types.h>

namespace sonde::preload {
namespace {

using core::Real;

using OpenCall = int (*)(const char*, int, ...);
using OpenAtCall = int (*)(int, const char*, int, ...);
using CreatCall = int (*)(const char*, mode_t);
using FdCall1 = int (*)(int);
using Dup2Call = int (*)(int, int);
using Dup3Call = int (*)(int, int, int);
using FcntlCall = int (*)(int, int, ...);
using CloseRangeCall = int (*)(unsigned, unsigned, int);
using CloseFromCall = void (*)(int);
using OpenChecked = int (*)(const char*, int);
using OpenAtChecked = int (*)(int, const char*, int);
using ClosedirCall = int (*)(DIR*);

constinit Real<OpenCall> gOpen{"open"};
constinit Real<OpenCall> gOpen64{"open64"};
constinit Real<OpenAtCall> gOpenAt{"openat"};
constinit Real<OpenAtCall> gOpenAt64{"openat64"};
constinit Real<OpenChecked> gOpenChecked{"__open_2"};
constinit Real<OpenChecked> gOpen64Checked{"__open64_2"};
constinit Real<OpenAtChecked> gOpenAtChecked{"__openat_2"};
constinit Real<OpenAtChecked> gOpenAt64Checked{"__openat64_2"};
constinit Real<CreatCall> gCreat{"creat"};
constinit Real<CreatCall> gCreat64{"creat64"};
constinit Real<FdCall1> gClose{"close"};
constinit Real<CloseRangeCall> gCloseRange{"close_range"};
constinit Real<CloseFromCall> gCloseFrom{"closefrom"};
constinit Real<FdCall1> gDup{"dup"};
constinit Real<Dup2Call> gDup2{"dup2"};
constinit Real<Dup3Call> gDup3{"dup3"};
constinit Real<FcntlCall> gFcntl{"fcntl"};
constinit Real<FcntlCall> gFcntl64{"fcntl64"};
constinit Real<ClosedirCall> gClosedir{"closedir"};
constinit Real<FdCall1> gLoginTty{"login_tty"};

__attribute__((constructor(102))) void resolve() {
  gOpen();
  gOpen64();
  gOpenAt();
  gOpenAt64();
  gOpenChecked();
  gOpen64Checked();
  gOpenAtChecked();
  gOpenAt64Checked();
  gCreat();
  gCreat64();
  gClose();
  gCloseRange();
  gCloseFrom();
  gDup();
  gDup2();
  gDup3();
  gFcntl();
  gFcntl64();
  gClosedir();
  gLoginTty();
}

constexpr int kCloexecOnly = 4;  // CLOSE_RANGE_CLOEXEC

bool takesMode(int flags) noexcept {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

int duplicated(int fd, int copy) noexcept {
  trackCopy(fd, copy);
  return copy;
}

int control(FcntlCall real, int fd, int command, void* argument) {
  const int result = real(fd, command, argument);
  return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? duplicated(fd, result) : result;
}

void forgetDescriptorOf(DIR* folder) noexcept {
  const int before = errno;
  const int fd = folder == nullptr ? -1 : dirfd(folder);
  errno = before;
  if (fd >= 0)
    forgetFd(fd);
}

// Before glibc 2.34 login_tty is in a separate library, which may be loaded only by a plugin.
FdCall1 loginTty() noexcept {
  if (gLoginTty() != nullptr)
    return gLoginTty();
  void* library = dlopen("libutil.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return library == nullptr ? nullptr : reinterpret_cast<FdCall1>(dlsym(library, "login_tty"));
}

}  // namespace
}  // namespace sonde::preload

using namespace sonde::preload;

// Reads `mode` only if the caller may have passed it, as libc does.
#define SONDE_READ_MODE(last)    \
  mode_t mode = 0;               \
  if (takesMode(last)) {         \
    va_list rest;                \
    va_start(rest, last);        \
    mode = va_arg(rest, mode_t); \
    va_end(rest);                \
  }

SONDE_EXPORT int open(const char* path, int flags, ...) {
  const std::uint64_t begin = beginOpening();
  SONDE_READ_MODE(flags)
  return opened(gOpen()(path, flags, mode), begin, "open");
}

SONDE_EXPORT int open64(const char* path, int flags, ...) {
  const std::uint64_t begin = beginOpening();
  SONDE_READ_MODE(flags)
  return opened(gOpen64()(path, flags, mode), begin, "open");
}

// Fortified programs call this if they pass no mode.
SONDE_EXPORT int __open_2(const char* path, int flags) {
  const std::uint64_t begin = beginOpening();
  return opened(gOpenChecked()(path, flags), begin, "open");
}

SONDE_EXPORT int __open64_2(const char* path, int flags) {
  const std::uint64_t begin = beginOpening();
  return opened(gOpen64Checked()(path, flags), begin, "open");
}

SONDE_EXPORT int __openat_2(int folder, const char* path, int flags) {
  const std::uint64_t begin = beginOpening();
  return opened(gOpenAtChecked()(folder, path, flags), begin, "open");
}

SONDE_EXPORT int __openat64_2(int folder, const char* path, int flags) {
  const std::uint64_t begin = beginOpening();
  return opened(gOpenAt64Checked()(folder, path, flags), begin, "open");
}

SONDE_EXPORT int openat(int folder, const char* path, int flags, ...) {
  const std::uint64_t begin = beginOpening();
  SONDE_READ_MODE(flags)
  return opened(gOpenAt()(folder, path, flags, mode), begin, "open");
}

SONDE_EXPORT int openat64(int folder, const char* path, int flags, ...) {
  const std::uint64_t begin = beginOpening();
  SONDE_READ_MODE(flags)
  return opened(gOpenAt64()(folder, path, flags, mode), begin, "open");
}

SONDE_EXPORT int creat(const char* path, mode_t mode) {
  const std::uint64_t begin = beginOpening();
  return opened(gCreat()(path, mode), begin, "open");
}

SONDE_EXPORT int creat64(const char* path, mode_t mode) {
  const std::uint64_t begin = beginOpening();
  return opened(gCreat64()(path, mode), begin, "open");
}

// Forgets the entry before closing: afterwards another thread may already own the number.
SONDE_EXPORT int close(int fd) {
  inspectClosing(fd);
  forgetFd(fd);
  return gClose()(fd);
}

SONDE_EXPORT int close_range(unsigned first, unsigned last, int flags) {
  if ((flags & kCloexecOnly) == 0)
    forgetFds(first, last);
  if (gCloseRange() != nullptr)
    return gCloseRange()(first, last, flags);
  const long result = sonde::core::rawSyscall(SYS_close_range, first, last, flags);
  if (result == 0)
    return 0;
  errno = static_cast<int>(-result);
  return -1;
}

SONDE_EXPORT void closefrom(int first) {
  const unsigned from = first < 0 ? 0 : static_cast<unsigned>(first);
  forgetFds(from, ~0U);
  if (gCloseFrom() != nullptr)
    gCloseFrom()(first);
  else
    sonde::core::rawSyscall(SYS_close_range, from, ~0U, 0);
}

SONDE_EXPORT int dup(int fd) {
  return duplicated(fd, gDup()(fd));
}

SONDE_EXPORT int dup2(int fd, int copy) {
  if (fd != copy)
    inspectClosing(copy);
  return duplicated(fd, gDup2()(fd, copy));
}

SONDE_EXPORT int dup3(int fd, int copy, int flags) {
  if (fd != copy)
    inspectClosing(copy);
  return duplicated(fd, gDup3()(fd, copy, flags));
}

SONDE_EXPORT int fcntl(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* argument = va_arg(rest, void*);
  va_end(rest);
  return control(gFcntl(), fd, command, argument);
}

SONDE_EXPORT int fcntl64(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* argument = va_arg(rest, void*);
  va_end(rest);
  return control(gFcntl64() != nullptr ? gFcntl64() : gFcntl(), fd, command, argument);
}

// libc closes the descriptor with an internal call that no wrapper sees.
SONDE_EXPORT int closedir(DIR* folder) {
  forgetDescriptorOf(folder);
  return gClosedir()(folder);
}

// Replaces descriptors 0 to 2 with the terminal, and closes the descriptor that it was given.
SONDE_EXPORT int login_tty(int fd) {
  const auto real = loginTty();
  if (real == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  const int result = real(fd);
  if (result == 0) {
    forgetFds(0, 2);
    forgetFd(fd);
  }
  return result;
}
