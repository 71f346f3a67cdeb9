#include "recorder/environment/program_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <thread>

namespace sonde::recorder {
namespace {

using ::testing::HasSubstr;

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
  const Allowance forAnHour{std::chrono::steady_clock::now() + std::chrono::hours(1),
                            source.get_token()};
  EXPECT_EQ(said("echo early; exec sleep 10000", forAnHour), "");
  asker.join();
  EXPECT_EQ(said("echo late", forAnHour), "");
}

// Whether such a process still runs, after a while; one that has ended may not have been reaped
// yet.
bool stays(const std::string& pid) {
  for (int asked = 0; asked < 500; ++asked) {
    std::ifstream status("/proc/" + std::to_string(std::stol(pid)) + "/stat");
    std::string number, name, state;
    status >> number >> name >> state;
    if (state.empty() || state == "Z" || state == "X")
      return false;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return true;
}

TEST(ProgramOutput, LeavesNoProgramBehind) {
  EXPECT_FALSE(stays(said("echo $$; exec 1>&-; exec sleep 1000", forAMinute())));
  EXPECT_FALSE(stays(said("sleep 1000 > /dev/null & echo $!", forAMinute())));
}

// The recorder blocks some signals and ignores others. (A shell would unblock them.)
TEST(ProgramOutput, IsThatOfAProgramWithTheUsualSignals) {
  sigset_t all;
  sigfillset(&all);
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &all, &before);
  const auto ignored = std::signal(SIGPIPE, SIG_IGN);
  const std::string status =
      outputOf("/bin/grep", {"grep", "Sig", "/proc/self/status"}, {}, forAMinute());
  std::signal(SIGPIPE, ignored);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_THAT(status, HasSubstr("SigBlk:\t0000000000000000"));
  const std::string ignoredThere = status.substr(status.find("SigIgn:\t") + 8, 16);
  EXPECT_EQ(std::stoull(ignoredThere, nullptr, 16) & (1U << (SIGPIPE - 1)), 0U) << status;
}

// A terminal's Ctrl-C is for the recorder, which decides what to leave out.
TEST(ProgramOutput, IsThatOfAProcessGroupOfItsOwn) {
  EXPECT_EQ(said("test $(cut -d' ' -f5 /proc/$$/stat) = $$ && echo own", forAMinute()), "own\n");
}

}  // namespace
}  // namespace sonde::recorder
