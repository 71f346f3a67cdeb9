#include "recorder/environment/program_output.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <thread>

namespace sonde::recorder {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kMostDying{1000};
constexpr milliseconds kAskEvery{20};  // to check whether to stop

std::vector<char*> pointersTo(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts)
    pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Starts the program in a separate process group with default signal handling: the recorder blocks
// most signals and ignores some.
class Attributes {
 public:
  Attributes() {
    sigset_t none;
    sigemptyset(&none);
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGXFSZ);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &usual);
  }
  ~Attributes() { posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;

  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

// -1: it could not be started.
pid_t start(const std::string& program,
            const std::vector<std::string>& arguments,
            const std::vector<std::string>& environment,
            int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const Attributes attributes;
  pid_t child = -1;
  const int error = posix_spawn(&child,
                                program.c_str(),
                                &actions,
                                attributes.get(),
                                pointersTo(arguments).data(),
                                pointersTo(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? child : -1;
}

std::string readAll(int from, const Allowance& allowance) {
  std::string text;
  char buffer[4096];
  while (!allowance.isOver()) {
    const auto left =
        std::chrono::duration_cast<milliseconds>(allowance.until - Clock::now()) + milliseconds(1);
    pollfd ready{from, POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(std::clamp(left, milliseconds(0), kAskEvery).count())) <=
        0)
      continue;
    const ssize_t count = read(from, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
  return {};
}

// Kills the whole group.
void end(pid_t child) {
  kill(-child, SIGKILL);
  const auto until = Clock::now() + kMostDying;
  while (waitpid(child, nullptr, WNOHANG) == 0 && Clock::now() < until)
    std::this_thread::sleep_for(milliseconds(1));
}

}  // namespace

std::string outputOf(const std::string& program,
                     const std::vector<std::string>& arguments,
                     const std::vector<std::string>& environment,
                     const Allowance& allowance) {
  int ends[2];
  if (allowance.isOver() || pipe2(ends, O_CLOEXEC) != 0)
    return {};
  const pid_t child = start(program, arguments, environment, ends[1]);
  close(ends[1]);
  std::string text = child > 0 ? readAll(ends[0], allowance) : std::string();
  close(ends[0]);
  if (child > 0)
    end(child);
  return text;
}

}  // namespace sonde::recorder
