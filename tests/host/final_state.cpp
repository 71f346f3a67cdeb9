// The final state of a process, as the kernel reports it.
#include "tests/host/children.h"
#include "tests/host/raw.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

namespace host {
namespace {

struct Entry {
  std::uint64_t inode;
  std::int64_t next;
  std::uint16_t length;
  std::uint8_t type;
  char name[];
};

const char* typeOf(mode_t mode) noexcept {
  return S_ISREG(mode)    ? "file"
         : S_ISFIFO(mode) ? "pipe"
         : S_ISSOCK(mode) ? "socket"
         : S_ISDIR(mode)  ? "folder"
         : S_ISCHR(mode)  ? "device"
                          : "other";
}

// `link`: the kernel's name for it, without numbers.
void logDescriptor(Context& c, int fd) noexcept {
  char path[40];
  char link[64] = {};
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  raw(SYS_readlinkat, AT_FDCWD, path, link, sizeof link - 1);
  if (strncmp(link, "anon_inode:", 11) != 0)
    link[0] = '\0';
  struct stat info {};
  raw(SYS_fstat, fd, &info);
  const bool isFile = S_ISREG(info.st_mode);
  c.note("fd %d %s %s flags %#lx %#lx at %ld of %ld",
         fd,
         typeOf(info.st_mode),
         link,
         raw(SYS_fcntl, fd, F_GETFD),
         raw(SYS_fcntl, fd, F_GETFL),
         isFile ? raw(SYS_lseek, fd, 0, SEEK_CUR) : 0,
         isFile ? static_cast<long>(info.st_size) : 0);
}

struct Open {
  int fd;
  ino_t inode;
};

ino_t inodeOf(int fd) noexcept {
  struct stat info {};
  return raw(SYS_fstat, fd, &info) == 0 ? info.st_ino : 0;
}

// The program's descriptors, in the order of their numbers, which is the folder's order.
int listDescriptors(const Context& c, int folder, Open* out, int most) noexcept {
  int count = 0;
  alignas(8) char entries[8192];
  long bytes = 0;
  while ((bytes = raw(SYS_getdents64, folder, entries, sizeof entries)) > 0) {
    for (long at = 0; at < bytes && count < most;) {
      const auto* entry = reinterpret_cast<const Entry*>(entries + at);
      at += entry->length;
      const int fd = atoi(entry->name);
      const bool isOwn = c.ownFirst < 0 || (fd >= c.ownFirst && fd < c.ownFirst + 100);
      if (entry->name[0] != '.' && fd != folder && isOwn)
        out[count++] = {fd, inodeOf(fd)};
    }
  }
  return count;
}

// Logs descriptors that stay: another thread may briefly have one of Sonde's open.
void logDescriptors(Context& c) noexcept {
  const long folder =
      raw(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    return c.note("descriptors cannot be listed: %ld", folder);
  Open open[1024];
  const int count = listDescriptors(c, static_cast<int>(folder), open, 1024);
  raw(SYS_close, folder);
  const timespec time = {0, 1'000'000};
  raw(SYS_nanosleep, &time, nullptr);
  for (int at = 0; at < count; ++at) {
    if (inodeOf(open[at].fd) == open[at].inode && open[at].inode != 0)
      logDescriptor(c, open[at].fd);
  }
}

void logSignals(Context& c) noexcept {
  std::uint64_t mask = 0;
  std::uint64_t pending = 0;
  raw(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &mask, 8);
  raw(SYS_rt_sigpending, &pending, 8);
  c.note("mask %lx pending %lx", mask, pending);
  for (int number = 1; number <= 64; ++number) {
    struct sigaction action {};
    // As the program sees it: glibc reserves two signals.
    if (number == 32 || number == 33 || sigaction(number, nullptr, &action) != 0)
      continue;
    if (action.sa_handler != SIG_DFL)
      c.note("signal %d %s %#x",
             number,
             action.sa_handler == SIG_IGN ? "ignored" : "handled",
             action.sa_flags & 0x7fff'ffff);
  }
  stack_t alternate{};
  raw(SYS_sigaltstack, nullptr, &alternate);
  c.note("alternate stack %d", alternate.ss_flags);
}

}  // namespace

void logFinalState(Context& c) noexcept {
  logDescriptors(c);
  if (c.isConcurrent())
    return;
  logSignals(c);
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  char name[16] = {};
  raw(SYS_prctl, 16 /* PR_GET_NAME */, name);
  c.note("files %lu %lu name %s umask %#o", files.rlim_cur, files.rlim_max, name, umask(022));
}

}  // namespace host
