#include "recorder/launcher/signal_relay.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sonde::launcher {
namespace {

signalfd_siginfo signalFrom(int number, int code) {
  signalfd_siginfo signal{};
  signal.ssi_signo = static_cast<std::uint32_t>(number);
  signal.ssi_code = code;
  return signal;
}

TEST(SignalRelay, WhatTheTerminalSentTheJobHasAlready) {
  for (const int number : {SIGINT, SIGQUIT, SIGHUP, SIGWINCH, SIGCONT})
    EXPECT_EQ(actionFor(signalFrom(number, SI_KERNEL)), SignalAction::Ignore) << number;
  EXPECT_EQ(actionFor(signalFrom(SIGTSTP, SI_KERNEL)), SignalAction::Suspend);
}

TEST(SignalRelay, WhatSomebodySentIsPassedOn) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGRTMIN + 3})
    EXPECT_EQ(actionFor(signalFrom(number, SI_USER)), SignalAction::Forward) << number;
  EXPECT_EQ(actionFor(signalFrom(SIGALRM, SI_KERNEL)), SignalAction::Forward);
  EXPECT_EQ(actionFor(signalFrom(SIGCHLD, CLD_EXITED)), SignalAction::Reap);
}

// exitLike ends a process, so each case runs in a child.
template <typename Body>
int statusOf(Body body) {
  const pid_t pid = fork();
  if (pid == 0) {
    body();
    _exit(99);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

TEST(SignalRelay, ExitLikeRepeatsAStatusOrASignal) {
  const int three = statusOf([] { exitLike(statusOf([] { _exit(3); })); });
  EXPECT_TRUE(WIFEXITED(three));
  EXPECT_EQ(WEXITSTATUS(three), 3);
  for (const int number : {SIGKILL, SIGTERM, SIGINT, SIGPIPE}) {
    const int status = statusOf([number] {
      const auto relay = SignalRelay::install();  // with signals blocked, as in the recorder
      exitLike(number);
    });
    ASSERT_TRUE(WIFSIGNALED(status)) << number;
    EXPECT_EQ(WTERMSIG(status), number);
  }
}

TEST(SignalRelay, TheRecorderLeavesNoCoreFile) {
  const int status = statusOf([] { exitLike(SIGSEGV); });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGSEGV);
  EXPECT_FALSE(WCOREDUMP(status));
}

TEST(SignalRelay, AQueuedValueArrives) {
  const int status = statusOf([] {
    const auto relay = SignalRelay::install();
    int pipeEnds[2];
    if (!relay || pipe(pipeEnds) != 0)
      _exit(1);
    sigval value{};
    value.sival_int = 4711;
    sigqueue(getpid(), SIGUSR1, value);
    const auto got = relay->next();
    if (!got || actionFor(*got) != SignalAction::Forward)
      _exit(2);
    SignalRelay::forward(*got, getpid());
    const auto again = relay->next();
    _exit(again && again->ssi_int == 4711 ? 0 : 3);
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace sonde::launcher
