// Calls that open, copy and close descriptors.
#include "tests/host/calls.h"
#include "tests/host/raw.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utmp.h>

extern "C" {
int __open_2(const char* path, int flags);
int __open64_2(const char* path, int flags);
int __openat_2(int folder, const char* path, int flags);
int __openat64_2(int folder, const char* path, int flags);
int close_range(unsigned first, unsigned last, int flags) noexcept;
void closefrom(int first) noexcept;
}

namespace host {
namespace {

constexpr int kOpenFlags[] = {O_RDWR,
                              O_RDONLY,
                              O_WRONLY | O_APPEND,
                              O_RDWR | O_CREAT,
                              O_RDWR | O_CREAT | O_EXCL,
                              O_RDONLY | O_DIRECTORY,
                              O_RDWR | O_TMPFILE,
                              O_PATH,
                              O_WRONLY | O_TRUNC | O_CLOEXEC,
                              -1,
                              O_RDONLY | O_NOFOLLOW,
                              O_RDONLY | O_NONBLOCK};
constexpr int kPlainFlags[] = {
    O_RDWR, O_RDONLY, O_WRONLY | O_APPEND, O_PATH, O_RDONLY | O_CLOEXEC, O_RDONLY | O_DIRECTORY};

template <auto kFunction>
void callOpen(Context& c, const char* name) {
  const Path path = c.path();
  const int flags = c.oneOf(kOpenFlags, 40);
  const mode_t mode = c.oneOf<mode_t>({0600, 0, 07777, static_cast<mode_t>(-1)});
  c.call(name, "%s, %#x, %#o", path.name, flags, mode);
  c.resultFd(kFunction(path.at, flags, mode));
}

template <auto kFunction>
void callOpenat(Context& c, const char* name) {
  const int folder = c.fd(Kind::Folder);
  const Path path = c.path();
  const int flags = c.oneOf(kOpenFlags, 40);
  c.call(name, "%d, %s, %#x, 0600", folder, path.name, flags);
  c.resultFd(kFunction(folder, path.at, flags, 0600));
}

template <auto kFunction>
void callOpenChecked(Context& c, const char* name) {
  const Path path = c.path();
  const int flags = c.oneOf(kPlainFlags, 40);
  c.call(name, "%s, %#x", path.name, flags);
  c.resultFd(kFunction(path.at, flags));
}

template <auto kFunction>
void callOpenatChecked(Context& c, const char* name) {
  const int folder = c.fd(Kind::Folder);
  const Path path = c.path();
  const int flags = c.oneOf(kPlainFlags, 40);
  c.call(name, "%d, %s, %#x", folder, path.name, flags);
  c.resultFd(kFunction(folder, path.at, flags));
}

template <auto kFunction>
void callCreat(Context& c, const char* name) {
  const Path path = c.path();
  c.call(name, "%s, 0600", path.name);
  c.resultFd(kFunction(path.at, 0600));
}

void callClose(Context& c) {
  const int fd = c.fd(Kind::File);
  c.call("close", "%d", fd);
  c.result(close(fd));
}

void callCloseRange(Context& c) {
  const int own = c.ownFirst < 0 ? 5 : c.ownFirst;
  const unsigned first = static_cast<unsigned>(own + c.oneOf<int>({60, 0, 10, 30}));
  // Other threads' descriptors must not be closed.
  const unsigned least = c.ownFirst < 0 ? 0 : first;
  const unsigned begin = c.oneOf<unsigned>({first, least, ~0U, 1U << 20, INT_MAX, 1U << 31}, 70);
  unsigned end = c.oneOf<unsigned>({first + 20, first, ~0U, 0, first - 1, 1U << 20}, 60);
  if (c.ownFirst >= 0 && end > first + 20)
    end = first + 20;
  const int flags = c.oneOf<int>({0, 4, 2, -1, 1}, 70);
  c.call("close_range", "%u, %u, %#x", begin, end, flags);
  c.result(close_range(begin, end, c.ownFirst < 0 ? flags : flags & 4));
}

void callCloseFrom(Context& c) {
  const int first = c.oneOf<int>({50, 100, 20, 3, 0, -1, INT_MAX, INT_MIN, 1 << 20}, 40);
  c.call("closefrom", "%d", first);
  closefrom(first);
  c.result(0);
}

void callDup(Context& c) {
  const int fd = c.fd(Kind::File);
  c.call("dup", "%d", fd);
  c.resultFd(dup(fd));
}

void callDup2(Context& c) {
  const int fd = c.fd(Kind::File);
  const int to = c.choose(8, 85) == 1 ? fd : c.target();
  c.call("dup2", "%d, %d", fd, to);
  c.resultFd(dup2(fd, to));
}

void callDup3(Context& c) {
  const int fd = c.fd(Kind::File);
  const int to = c.choose(8, 85) == 1 ? fd : c.target();
  const int flags = c.oneOf<int>({0, O_CLOEXEC, -1, O_NONBLOCK}, 60);
  c.call("dup3", "%d, %d, %#x", fd, to, flags);
  c.resultFd(dup3(fd, to, flags));
}

// Onto itself: an open descriptor stays, a closed one is an error.
void callDup2Self(Context& c) {
  const int fd = c.fd(Kind::File);
  c.call("dup2", "%d, itself", fd);
  c.result(dup2(fd, fd));
}

void callDup3Self(Context& c) {
  const int fd = c.fd(Kind::File);
  c.call("dup3", "%d, itself", fd);
  c.result(dup3(fd, fd, O_CLOEXEC));
}

// Devices and anonymous files share one inode, whose locks are shared by all processes of the
// machine.
bool isOwn(int fd) noexcept {
  struct stat info {};
  return raw(SYS_fstat, fd, &info) != 0 || S_ISREG(info.st_mode);
}

template <auto kFunction>
void callFcntl(Context& c, const char* name) {
  int fd = c.fd(Kind::File);
  constexpr int kCommands[] = {F_DUPFD,
                               F_DUPFD_CLOEXEC,
                               F_GETFD,
                               F_SETFD,
                               F_GETFL,
                               F_SETFL,
                               F_GETPIPE_SZ,
                               F_GETLK,
                               F_SETLK,
                               F_GETOWN,
                               -1,
                               99999,
                               F_GET_SEALS};
  const int command = c.oneOf(kCommands, 25);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  if (command == F_GETLK || command == F_SETLK) {
    if (!isOwn(fd))
      fd = c.pooled(Kind::File);
    const char* place = nullptr;
    struct flock* const at = c.pointer(lock, place, true);
    c.call(name, "%d, %d, %s", fd, command, place);
    return c.result(kFunction(fd, command, at));
  }
  const bool copies = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
  const int from = c.ownFirst < 0 ? 0 : c.ownFirst;
  const long argument = copies ? c.oneOf<long>({from + 50L, from + 0L, -1, 1 << 20, INT_MAX, 4000})
                               : c.oneOf<long>({O_NONBLOCK, 0, FD_CLOEXEC, O_APPEND, -1});
  c.call(name, "%d, %d, %ld", fd, command, argument);
  const long result = kFunction(fd, command, argument);
  return copies ? c.resultFd(result) : c.result(result);
}

void callClosedir(Context& c) {
  if (c.folders[0] == nullptr || c.choose(4) == 1) {
    constexpr const char* kFolders[] = {
        ".", "folder", "data", "none/such", "/proc/self", ""};  // libc looks at it itself
    const char* const path = c.oneOf(kFolders);
    c.call("opendir", "%s", path);
    c.folders[0] = opendir(path);
    c.resultPointer(c.folders[0], "folder");
  }
  const bool isNull = c.choose(6, 85) == 1;
  c.call("closedir", "%s", isNull || c.folders[0] == nullptr ? "null" : "folder");
  c.result(closedir(isNull ? nullptr : static_cast<DIR*>(c.folders[0])));
  if (!isNull)
    c.folders[0] = nullptr;
}

void callLoginTty(Context& c) {
  const int fd = c.fd(Kind::Null);
  c.call("login_tty", "%d", fd);
  c.result(login_tty(fd));
}

#define HOST_CALL(name, ...)    \
  void name##Call(Context& c) { \
    __VA_ARGS__;                \
  }
HOST_CALL(open, callOpen<open>(c, "open"))
HOST_CALL(open64, callOpen<open64>(c, "open64"))
HOST_CALL(openat, callOpenat<openat>(c, "openat"))
HOST_CALL(openat64, callOpenat<openat64>(c, "openat64"))
HOST_CALL(open2, callOpenChecked<__open_2>(c, "__open_2"))
HOST_CALL(open642, callOpenChecked<__open64_2>(c, "__open64_2"))
HOST_CALL(openat2, callOpenatChecked<__openat_2>(c, "__openat_2"))
HOST_CALL(openat642, callOpenatChecked<__openat64_2>(c, "__openat64_2"))
HOST_CALL(creat, callCreat<creat>(c, "creat"))
HOST_CALL(creat64, callCreat<creat64>(c, "creat64"))
HOST_CALL(fcntl, callFcntl<fcntl>(c, "fcntl"))
HOST_CALL(fcntl64, callFcntl<fcntl64>(c, "fcntl64"))

constexpr NamedCall kCalls[] = {{"open", openCall, kInVfork},
                                {"open64", open64Call, kInVfork},
                                {"openat", openatCall, kInVfork},
                                {"openat64", openat64Call, kInVfork},
                                {"__open_2", open2Call, kInVfork},
                                {"__open64_2", open642Call, kInVfork},
                                {"__openat_2", openat2Call, kInVfork},
                                {"__openat64_2", openat642Call, kInVfork},
                                {"creat", creatCall, kInVfork},
                                {"creat64", creat64Call, kInVfork},
                                {"close", callClose, kInVfork},
                                {"close_range", callCloseRange, kInVfork},
                                {"closefrom", callCloseFrom, kInVfork | kAlone},
                                {"dup", callDup, kInVfork},
                                {"dup2", callDup2, kInVfork},
                                {"dup3", callDup3, kInVfork},
                                {"dup2", callDup2Self, kInVfork},
                                {"dup3", callDup3Self, kInVfork},
                                {"fcntl", fcntlCall, kInVfork},
                                {"fcntl64", fcntl64Call, kInVfork},
                                {"closedir", callClosedir, kAlone},
                                {"login_tty", callLoginTty, kAlone}};

}  // namespace

CallList lifeCalls() noexcept {
  return listOf(kCalls);
}

}  // namespace host
