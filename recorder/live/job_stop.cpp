#include "recorder/live/job_stop.h"

#include "recorder/launcher/descendants.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

namespace sonde::recorder {
namespace {

constexpr std::chrono::milliseconds kLookEvery{50};
constexpr std::chrono::milliseconds kAfterKill{5000};

}  // namespace

JobStop::JobStop(StopPlan plan, std::function<void(const std::string&)> say)
    : plan_(plan), say_(std::move(say)) {}

JobStop::~JobStop() {
  if (thread_.joinable())
    thread_.join();
}

void JobStop::spare(pid_t pid) {
  const std::lock_guard lock(mutex_);
  spared_.insert(pid);
}

pid_t JobStop::spareStarted(const std::function<pid_t()>& start) {
  const std::lock_guard lock(mutex_);
  const pid_t pid = start();
  if (pid > 0)
    spared_.insert(pid);
  return pid;
}

void JobStop::request() {
  const std::lock_guard lock(mutex_);
  if (requested_.load())
    return;
  requested_.store(true);
  thread_ = std::thread([this] { work(); });
}

bool JobStop::finish() {
  if (thread_.joinable())
    thread_.join();
  return isGone_.load();
}

// Returns whether some process got it.
bool JobStop::signalAll(int signal, bool onlyIfCaught) {
  bool any = false;
  for (const launcher::RunningProcess& process : launcher::descendants()) {
    if (isSpared(process.pid) || (onlyIfCaught && !launcher::catchesSignal(process.pid, signal)))
      continue;
    launcher::sendSignal(process, signal);
    any = true;
  }
  return any;
}

bool JobStop::isOver() const {
  const auto running = launcher::descendants();
  return std::all_of(running.begin(), running.end(), [this](const auto& process) {
    return isSpared(process.pid);
  });
}

bool JobStop::isSpared(pid_t pid) const {
  const std::lock_guard lock(mutex_);
  return spared_.contains(pid) || spared_.contains(getpgid(pid));
}

bool JobStop::waitForEnd(std::chrono::milliseconds most) {
  const auto until = std::chrono::steady_clock::now() + most;
  while (!isOver()) {
    if (std::chrono::steady_clock::now() >= until)
      return false;
    std::this_thread::sleep_for(kLookEvery);
  }
  return true;
}

void JobStop::work() {
  if (plan_.checkpointSignal != 0) {
    if (!signalAll(plan_.checkpointSignal, true))
      say_(fmt::format("no process of the job catches signal {}: it ends without a checkpoint",
                       plan_.checkpointSignal));
    else if (waitForEnd(plan_.checkpointWait)) {
      isGone_.store(true);
      return;
    }
  }
  signalAll(SIGTERM, false);
  if (waitForEnd(plan_.grace)) {
    isGone_.store(true);
    return;
  }
  say_(fmt::format("the job did not end within {:g} s of SIGTERM: it gets SIGKILL",
                   std::chrono::duration<double>(plan_.grace).count()));
  // Again and again: a process may have been started meanwhile.
  const auto until = std::chrono::steady_clock::now() + kAfterKill;
  do {
    signalAll(SIGKILL, false);
    if (waitForEnd(kLookEvery)) {
      isGone_.store(true);
      return;
    }
  } while (std::chrono::steady_clock::now() < until);
  say_("processes of the job did not end after SIGKILL");
}

}  // namespace sonde::recorder
