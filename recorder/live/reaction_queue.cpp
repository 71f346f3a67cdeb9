#include "recorder/live/reaction_queue.h"

#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

namespace sonde::recorder {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kAtTheEnd{10};
constexpr std::chrono::seconds kLongestCommand{60};
constexpr int kLookEveryMs = 50;

std::string describe(int error) {
  return std::generic_category().message(error);
}

// A descriptor from which `text` can be read; -1: there is none.
int readableFrom(const std::string& text) {
  const int file = memfd_create("finding", MFD_CLOEXEC);
  if (file < 0)
    return -1;
  if (write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      lseek(file, 0, SEEK_SET) == 0)
    return file;
  close(file);
  return -1;
}

// Returns 0 or an errno. The command gets usual signals, which the recorder has blocked.
int start(const std::string& command, int input, pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);  // a group of its own, to end all of it
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::string shell = "sh";
  std::string option = "-c";
  std::string text = command;
  char* const arguments[] = {shell.data(), option.data(), text.data(), nullptr};
  const int error = posix_spawn(&pid, "/bin/sh", &files, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

// The supervisor collects the process; its end shows in the descriptor in any case.
bool waitForEnd(int process, const std::function<bool()>& mayContinue) {
  const auto until = Clock::now() + kLongestCommand;
  while (Clock::now() < until && mayContinue()) {
    pollfd descriptor{process, POLLIN, 0};
    if (poll(&descriptor, 1, kLookEveryMs) > 0)
      return true;
  }
  return false;
}

}  // namespace

ReactionQueue::ReactionQueue(std::string what,
                             React react,
                             std::function<void(const std::string&)> say)
    : what_(std::move(what)), react_(std::move(react)), say_(std::move(say)) {
  thread_ = std::thread([this] { work(); });
}

ReactionQueue::~ReactionQueue() {
  endSoon();
  thread_.join();
}

void ReactionQueue::endSoon() {
  {
    const std::lock_guard lock(mutex_);
    deadline_ = std::min(deadline_, Clock::now() + kAtTheEnd);
  }
  wake_.notify_all();
}

void ReactionQueue::add(std::string finding) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kMostWaiting) {
      ++dropped_;
      return;
    }
    waiting_.push_back(std::move(finding));
  }
  wake_.notify_all();
}

void ReactionQueue::work() {
  const auto mayContinue = [this] {
    const std::lock_guard lock(mutex_);
    return Clock::now() < deadline_;
  };
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return !waiting_.empty() || deadline_ != Clock::time_point::max(); });
    if (waiting_.empty())
      break;
    if (Clock::now() >= deadline_) {
      dropped_ += waiting_.size();
      break;
    }
    const std::string finding = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    if (const std::string why = react_(finding, mayContinue); !why.empty())
      say_(fmt::format("{}: {}", what_, why));
    lock.lock();
  }
  if (dropped_ > 0)
    say_(fmt::format("{}: {} findings were not reported", what_, dropped_));
}

ReactionQueue::React runCommand(const std::string& command, Starter starter) {
  return [command, starter = std::move(starter)](
             const std::string& finding, const std::function<bool()>& mayContinue) -> std::string {
    const int input = readableFrom(finding);
    if (input < 0)
      return describe(errno);
    pid_t pid = 0;
    const int error = starter([&] {
      const int failure = start(command, input, pid);
      return failure == 0 ? pid : -failure;
    });
    close(input);
    if (error < 0)
      return describe(-error);
    const int process = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    if (process < 0)
      return "";  // it has ended already
    const bool ended = waitForEnd(process, mayContinue);
    if (!ended)
      kill(-pid, SIGKILL);
    close(process);
    return ended ? "" : "it did not end in time, and was killed";
  };
}

}  // namespace sonde::recorder
