#include "recorder/launcher/group_witness.h"

#include "recorder/launcher/signal_relay.h"

#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <future>
#include <thread>

namespace sonde::launcher {
namespace {

// Runs `body` in a separate process group, so that the test's group gets no signals. Returns 0, or
// the step that failed.
int inOwnGroup(int (*body)(GroupWitness& witness)) {
  const pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    const auto relay = SignalRelay::install();
    auto witness = GroupWitness::start();
    _exit(relay && witness ? body(*witness) : 100);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -status;
}

// The calling process's only child.
pid_t witnessPid() {
  std::ifstream children("/proc/thread-self/children");
  pid_t pid = -1;
  children >> pid;
  return pid;
}

// Reads a signal, as the recorder does first.
void take(int number) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  sigwaitinfo(&one, nullptr);
}

TEST(GroupWitness, TellsTheGroupFromTheRecorder) {
  EXPECT_EQ(inOwnGroup([](GroupWitness& witness) {
              kill(getpid(), SIGUSR1);
              take(SIGUSR1);
              if (witness.got(SIGUSR1))
                return 1;
              kill(0, SIGUSR1);
              take(SIGUSR1);
              if (!witness.got(SIGUSR1))
                return 2;
              if (witness.got(SIGUSR1))
                return 3;  // it must have forgotten
              kill(0, SIGTERM);
              take(SIGTERM);
              if (witness.got(SIGINT))
                return 4;
              return witness.got(SIGTERM) ? 0 : 5;
            }),
            0);
}

TEST(GroupWitness, TwoToTheGroupOfWhichItSawOneAreBothOfTheGroup) {
  EXPECT_EQ(inOwnGroup([](GroupWitness& witness) {
              kill(0, SIGUSR1);
              take(SIGUSR1);
              kill(0, SIGUSR1);  // the witness has not read the first one
              if (!witness.got(SIGUSR1))
                return 1;
              take(SIGUSR1);
              if (!witness.got(SIGUSR1))
                return 2;
              kill(getpid(), SIGUSR1);
              take(SIGUSR1);
              return witness.got(SIGUSR1) ? 3 : 0;
            }),
            0);
}

TEST(GroupWitness, CountsAsNoChild) {
  EXPECT_EQ(inOwnGroup([](GroupWitness&) {
              return waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD ? 0 : 1;
            }),
            0);
}

// Keeps a process from running, as on a busy machine: it is not stopped, but never scheduled.
class NoTurn {
 public:
  explicit NoTurn(pid_t pid) : thread_([this, pid] { work(pid); }) {}
  ~NoTurn() { thread_.join(); }
  NoTurn(const NoTurn&) = delete;
  NoTurn& operator=(const NoTurn&) = delete;

  // Whether it is kept from running from now on, for half a second.
  bool begins() {
    const auto begun = begun_.get_future();
    return begun.wait_for(std::chrono::seconds(30)) == std::future_status::ready && isHeld_.load();
  }

 private:
  void work(pid_t pid) {
    isHeld_.store(ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0 &&
                  ptrace(PTRACE_INTERRUPT, pid, nullptr, nullptr) == 0 &&
                  waitpid(pid, nullptr, __WALL) == pid);
    begun_.set_value();
    if (!isHeld_.load())
      return;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    ptrace(PTRACE_DETACH, pid, nullptr, nullptr);
  }

  std::promise<void> begun_;
  std::atomic<bool> isHeld_{false};
  std::thread thread_;
};

TEST(GroupWitness, ALateAnswerIsWaitedFor) {
  const int failed = inOwnGroup([](GroupWitness& witness) {
    NoTurn hold(witnessPid());
    if (!hold.begins())
      return 77;
    kill(0, SIGUSR1);
    return witness.got(SIGUSR1) ? 0 : 1;
  });
  if (failed == 77)
    GTEST_SKIP() << "no process may be held here";
  EXPECT_EQ(failed, 0);
}

TEST(GroupWitness, AStoppedOneAnswersNo) {
  EXPECT_EQ(inOwnGroup([](GroupWitness& witness) {
              kill(0, SIGUSR1);
              kill(witnessPid(), SIGSTOP);
              return witness.got(SIGUSR1) ? 1 : 0;
            }),
            0);
}

TEST(GroupWitness, ADeadOneAnswersNo) {
  EXPECT_EQ(inOwnGroup([](GroupWitness& witness) {
              const pid_t pid = witnessPid();
              kill(0, SIGUSR1);
              kill(pid, SIGKILL);
              waitpid(pid, nullptr, __WALL);
              return witness.got(SIGUSR1) ? 2 : 0;
            }),
            0);
}

}  // namespace
}  // namespace sonde::launcher
