#include "rules/custom/own_program.h"

#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

namespace sonde::rules {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostOutput = 16'000'000;

class Descriptor {
 public:
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0)
      close(number_);
  }
  int number() const noexcept { return number_; }

 private:
  int number_;
};

Error cannotStart(int error) {
  return {ErrorCode::Io,
          fmt::format("cannot start a process: {}", std::generic_category().message(error))};
}

// Returns 0 or an errno. The process gets usual signals, which a recorder has blocked.
int startSelf(const char* name, int input, int output, pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::string own(name);
  const std::array<char*, 2> arguments = {own.data(), nullptr};
  const int error =
      posix_spawn(&pid, "/proc/self/exe", &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

// False: it did not end in time.
bool waitForEnd(int process, std::chrono::milliseconds limit) {
  const auto until = Clock::now() + limit;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd descriptor{process, POLLIN, 0};
    if (poll(&descriptor, 1, static_cast<int>(std::max<std::int64_t>(left, 0))) > 0)
      return true;
    if (left <= 0)
      return false;
  }
}

// The wait status; nullopt: another thread has collected the process.
std::optional<int> collect(pid_t pid) {
  int status = 0;
  pid_t collected = 0;
  do
    collected = waitpid(pid, &status, 0);
  while (collected < 0 && errno == EINTR);
  return collected == pid ? std::optional(status) : std::nullopt;
}

std::string readWhole(int file) {
  std::string text;
  std::array<char, 65536> block;
  for (;;) {
    const ssize_t got = pread(file, block.data(), block.size(), static_cast<off_t>(text.size()));
    if (got <= 0 || text.size() > kMostOutput)
      return text;
    text.append(block.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

Result<std::string> runOwnProgram(const char* name,
                                  std::string_view input,
                                  std::chrono::milliseconds limit) {
  const Descriptor in(memfd_create("input", MFD_CLOEXEC));
  const Descriptor out(memfd_create("output", MFD_CLOEXEC));
  if (in.number() < 0 || out.number() < 0 ||
      write(in.number(), input.data(), input.size()) != static_cast<ssize_t>(input.size()) ||
      lseek(in.number(), 0, SEEK_SET) != 0)
    return cannotStart(errno);
  pid_t pid = 0;
  if (const int error = startSelf(name, in.number(), out.number(), pid); error != 0)
    return cannotStart(error);
  const Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  const bool ended = process.number() < 0 || waitForEnd(process.number(), limit);
  if (!ended)
    syscall(SYS_pidfd_send_signal, process.number(), SIGKILL, nullptr, 0);
  const std::optional<int> status = collect(pid);
  if (!ended)
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("it took longer than {} s and was killed",
                             std::chrono::duration_cast<std::chrono::seconds>(limit).count())};
  if (status && WIFSIGNALED(*status))
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("it crashed: signal {} ({})", WTERMSIG(*status), strsignal(WTERMSIG(*status)))};
  std::string output = readWhole(out.number());
  if (output.empty() || (status && WEXITSTATUS(*status) != 0))
    return Error{ErrorCode::InvalidArgument, "its process ended without a result"};
  return output;
}

}  // namespace sonde::rules
