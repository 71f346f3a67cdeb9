#include "recorder/launcher/supervisor.h"

#include "recorder/launcher/child.h"
#include "tests/support/target_files.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

namespace sonde::launcher {
namespace {

using test::readAll;
using test::ScratchFolder;

using std::chrono::milliseconds;

class SupervisorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto relay = SignalRelay::install();
    ASSERT_TRUE(relay);
    relay_.emplace(*std::move(relay));
    ASSERT_TRUE(becomeSubreaper());
  }
  void TearDown() override {
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    while (relay_->next()) {
    }
    relay_->restoreInChild();
  }

  // Runs a shell script as the job.
  RunOutcome supervised(const std::string& script,
                        SupervisorOptions options = {},
                        const std::function<bool(int)>& isOwn = {}) {
    auto child = Child::fork({"/bin/sh", {"sh", "-c", script}}, *relay_);
    EXPECT_TRUE(child);
    EXPECT_EQ(child->release({"PATH=/usr/bin:/bin"}), 0);
    mainPid_ = child->pid();
    options.mainChild = child->pid();
    return supervise(
        *relay_, options, {[this](const ReapedChild& one) { reaped_.push_back(one); }, isOwn});
  }

  RunOutcome supervised(const std::string& script, milliseconds grace) {
    SupervisorOptions options;
    options.grace = grace;
    return supervised(script, options);
  }

  // A job that has set its trap continues until this process gets the signal.
  RunOutcome signalled(const std::string& trap,
                       int signal,
                       const SupervisorOptions& options = {},
                       const std::function<bool(int)>& isOwn = {}) {
    const std::string ready = folder_.path("ready");
    std::thread sender([&] {
      while (!std::filesystem::exists(ready))
        std::this_thread::sleep_for(milliseconds(5));
      kill(getpid(), signal);
    });
    const RunOutcome outcome =
        supervised(trap + "; : > " + ready + "; while :; do sleep 0.01; done", options, isOwn);
    sender.join();
    return outcome;
  }

  ScratchFolder folder_;
  std::optional<SignalRelay> relay_;
  std::vector<ReapedChild> reaped_;
  std::atomic<pid_t> mainPid_ = 0;
};

TEST_F(SupervisorTest, ReturnsTheStatusOfTheMainProcess) {
  const RunOutcome outcome = supervised("exit 3");
  EXPECT_EQ(WEXITSTATUS(outcome.waitStatus), 3);
  EXPECT_FALSE(outcome.restRunning);
  ASSERT_EQ(reaped_.size(), 1U);
  EXPECT_EQ(reaped_[0].pid, mainPid_);
  EXPECT_GT(reaped_[0].startTime, 0U);
}

TEST_F(SupervisorTest, ADeathBySignalIsOne) {
  const RunOutcome outcome = supervised("kill -9 $$");
  ASSERT_TRUE(WIFSIGNALED(outcome.waitStatus));
  EXPECT_EQ(WTERMSIG(outcome.waitStatus), SIGKILL);
  EXPECT_EQ(exitStatusOf(outcome.waitStatus), -SIGKILL);
}

// The orphan ends only after the main process, on a sign from it. The recorder waits for the orphan
// and gets its status.
TEST_F(SupervisorTest, WaitsForWhatTheMainProcessLeavesBehind) {
  const RunOutcome outcome =
      supervised("( (while kill -0 $$ 2>/dev/null; do sleep 0.01; done; exit 7) & ) ; exit 0");
  EXPECT_EQ(outcome.waitStatus, 0);
  EXPECT_FALSE(outcome.restRunning);
  ASSERT_EQ(reaped_.size(), 2U);
  EXPECT_EQ(WEXITSTATUS(reaped_[1].waitStatus), 7);
}

TEST_F(SupervisorTest, LeavesTheRestAloneWhenTheGraceHasPassed) {
  const std::string pidFile = folder_.path("pid");
  const RunOutcome outcome =
      supervised("setsid sleep 60 & echo $! > " + pidFile + "; exit 0", milliseconds(50));
  EXPECT_TRUE(outcome.restRunning);
  const pid_t rest = static_cast<pid_t>(std::stol(readAll(pidFile)));
  EXPECT_EQ(kill(rest, 0), 0) << "the rest is never killed";
  kill(rest, SIGKILL);
  waitpid(rest, nullptr, 0);
}

TEST_F(SupervisorTest, PassesASignalOn) {
  const RunOutcome outcome = signalled("trap 'exit 42' WINCH", SIGWINCH);
  EXPECT_EQ(WEXITSTATUS(outcome.waitStatus), 42);
  EXPECT_FALSE(outcome.askedToEnd);
}

TEST_F(SupervisorTest, SaysThatTheJobWasAskedToEndThoughItEndsWell) {
  const RunOutcome outcome = signalled("trap 'exit 0' TERM", SIGTERM);
  EXPECT_EQ(outcome.waitStatus, 0);
  EXPECT_TRUE(outcome.askedToEnd);
}

TEST_F(SupervisorTest, SaysThatABatchSystemHasGivenNotice) {
  for (const int signal : {SIGUSR1, SIGXCPU}) {
    std::filesystem::remove(folder_.path("ready"));
    EXPECT_TRUE(signalled("trap 'exit 0' USR1 XCPU", signal).askedToEnd) << signal;
  }
}

TEST_F(SupervisorTest, ASignalForTheRecorderItselfDoesNotAskTheJobToEnd) {
  const auto isOwn = [this](int signal) {
    kill(mainPid_, SIGKILL);
    return signal == SIGUSR2;
  };
  EXPECT_FALSE(signalled("trap : USR2", SIGUSR2, {}, isOwn).askedToEnd);
}

TEST_F(SupervisorTest, WhatAskedAJobToEndLongAgoHasNotEndedIt) {
  SupervisorOptions options;
  options.lately = milliseconds(1);
  EXPECT_FALSE(signalled("trap 'sleep 0.1; exit 0' TERM", SIGTERM, options).askedToEnd);
  std::filesystem::remove(folder_.path("ready"));
  options.lately = milliseconds(60'000);
  EXPECT_TRUE(signalled("trap 'sleep 0.1; exit 0' TERM", SIGTERM, options).askedToEnd);
}

TEST_F(SupervisorTest, ASignalEndsTheWaitForTheRest) {
  const std::string pidFile = folder_.path("pid");
  std::thread sender([&] {
    while (mainPid_ == 0 || kill(mainPid_, 0) == 0)
      std::this_thread::sleep_for(milliseconds(5));
    kill(getpid(), SIGTERM);
  });
  const RunOutcome outcome =
      supervised("setsid sleep 60 & echo $! > " + pidFile + "; exit 0", milliseconds(60'000));
  sender.join();
  EXPECT_TRUE(outcome.restRunning);
  const pid_t rest = static_cast<pid_t>(std::stol(readAll(pidFile)));
  kill(rest, SIGKILL);
  waitpid(rest, nullptr, 0);
}

TEST_F(SupervisorTest, WithoutASubreaperTheCallerKnowsWhetherOthersLive) {
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  auto child = Child::fork({"/bin/true", {"true"}}, *relay_);
  ASSERT_TRUE(child);
  ASSERT_EQ(child->release({}), 0);
  int asked = 0;
  SupervisorOptions options;
  options.mainChild = child->pid();
  options.othersAlive = [&asked] { return ++asked < 3; };
  const RunOutcome outcome = supervise(*relay_, options, {[](const ReapedChild&) {}});
  EXPECT_FALSE(outcome.restRunning);
  EXPECT_GE(asked, 3);
}

}  // namespace
}  // namespace sonde::launcher
