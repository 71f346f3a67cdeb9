#include "collector/launcher/group_witness.h"

#include "collector/launcher/signal_relay.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>

namespace sonde::launcher {
namespace {

// In a process group of its own, so that the test's is not signalled. 0 when all holds, else the
// step that failed.
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

TEST(GroupWitness, TellsTheGroupFromTheRecorder) {
  EXPECT_EQ(inOwnGroup([](GroupWitness& witness) {
              kill(getpid(), SIGUSR1);
              if (witness.got(SIGUSR1))
                return 1;
              kill(0, SIGUSR1);
              if (!witness.got(SIGUSR1))
                return 2;
              if (witness.got(SIGUSR1))
                return 3;  // it must have forgotten
              kill(0, SIGTERM);
              if (witness.got(SIGINT))
                return 4;
              return witness.got(SIGTERM) ? 0 : 5;
            }),
            0);
}

TEST(GroupWitness, CountsAsNoChild) {
  EXPECT_EQ(inOwnGroup([](GroupWitness&) {
              return waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD ? 0 : 1;
            }),
            0);
}

TEST(GroupWitness, ADeadOneAnswersNo) {
  EXPECT_EQ(inOwnGroup([](GroupWitness& witness) {
              std::ifstream children("/proc/thread-self/children");
              pid_t pid = 0;
              if (!(children >> pid))
                return 1;
              kill(0, SIGUSR1);
              kill(pid, SIGKILL);
              waitpid(pid, nullptr, __WALL);
              return witness.got(SIGUSR1) ? 2 : 0;
            }),
            0);
}

}  // namespace
}  // namespace sonde::launcher
