#include "session/program_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <thread>

namespace sonde::session {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using std::chrono::milliseconds;

Allowance forAMinute(std::stop_token asked = {}) {
  return {std::chrono::steady_clock::now() + std::chrono::minutes(1), std::move(asked)};
}

std::string said(const std::string& script, const Allowance& allowance) {
  return outputOf("/bin/sh", {"sh", "-c", script}, {"PATH=/usr/bin:/bin", "WORD=given"}, allowance);
}

TEST(ProgramOutput, IsWhatTheProgramWrites) {
  EXPECT_EQ(said("echo $WORD; echo no >&2; cat; echo end", forAMinute()), "given\nend\n");
  EXPECT_EQ(said("seq 20000", forAMinute()).size(), 108'894U) << "more than a pipe holds";
}

TEST(ProgramOutput, IsNothingOfWhatCannotBeRun) {
  EXPECT_EQ(outputOf("/nowhere/program", {"program"}, {}, forAMinute()), "");
}

TEST(ProgramOutput, IsNothingOfAProgramThatTakesTooLong) {
  EXPECT_EQ(said("echo early; exec sleep 1000",
                 {std::chrono::steady_clock::now() + milliseconds(200), {}}),
            "");
}

TEST(ProgramOutput, IsNothingOnceItIsAskedToEnd) {
  std::stop_source source;
  std::thread asker([&] {
    std::this_thread::sleep_for(milliseconds(100));
    source.request_stop();
  });
  EXPECT_EQ(said("echo early; exec sleep 1000", forAMinute(source.get_token())), "");
  asker.join();
}

TEST(ProgramOutput, LeavesNoProgramBehind) {
  const std::string pid = said("echo $$; exec 1>&-; exec sleep 1000", forAMinute());
  ASSERT_GT(std::stol(pid), 1);
  EXPECT_EQ(kill(static_cast<pid_t>(std::stol(pid)), 0), -1);
}

// The recorder blocks signals, and ignores some.
TEST(ProgramOutput, IsThatOfAProgramWithTheUsualSignals) {
  sigset_t all;
  sigfillset(&all);
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &all, &before);
  const auto ignored = std::signal(SIGPIPE, SIG_IGN);
  const std::string status = said("grep Sig /proc/self/status", forAMinute());
  std::signal(SIGPIPE, ignored);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_THAT(status, HasSubstr("SigBlk:\t0000000000000000"));
  const std::string ignoredThere = status.substr(status.find("SigIgn:\t") + 8, 16);
  EXPECT_EQ(std::stoull(ignoredThere, nullptr, 16) & (1U << (SIGPIPE - 1)), 0U) << status;
}

// A terminal's Ctrl-C is for the recorder, which knows what it may leave out.
TEST(ProgramOutput, IsThatOfAProcessGroupOfItsOwn) {
  const std::string group = said("cut -d' ' -f5 /proc/$$/stat; echo $$", forAMinute());
  EXPECT_THAT(group, Not(StartsWith(std::to_string(getpgrp()) + "\n")));
}

}  // namespace
}  // namespace sonde::session
