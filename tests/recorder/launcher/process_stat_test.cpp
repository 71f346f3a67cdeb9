#include "recorder/launcher/process_stat.h"

#include <gmock/gmock.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

namespace sonde::launcher {
namespace {

TEST(ProcessStat, CountsFieldsBehindAnOddProgramName) {
  const auto stat = parseProcessStat(
      "42 (a) b (c d)) S 7 42 42 0 -1 4194304 90 0 0 0 300 200 0 0 20 0 1 0 123456 8192 25 "
      "18446744\n");
  ASSERT_TRUE(stat) << stat.error().message;
  EXPECT_EQ(stat->pid, 42);
  EXPECT_EQ(stat->parentPid, 7);
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->startTime, 123456U);
  EXPECT_EQ(stat->cpuNs,
            500 * (1'000'000'000ULL / static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK))));
  EXPECT_EQ(stat->residentBytes, 25 * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
}

TEST(ProcessStat, RefusesHalfALine) {
  EXPECT_FALSE(parseProcessStat("42 (sh) S 7 42"));
  EXPECT_FALSE(parseProcessStat(""));
}

TEST(ProcessStat, ReadsThisProcess) {
  const auto stat = readProcessStat(getpid());
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->parentPid, getppid());
  EXPECT_TRUE(processAlive(getpid(), stat->startTime));
  EXPECT_FALSE(processAlive(getpid(), stat->startTime + 1)) << "another process with the same pid";
  EXPECT_THAT(readCommandLine(getpid()).front(), ::testing::HasSubstr("launcher_test"));
  EXPECT_THAT(readExecutable(getpid()), ::testing::HasSubstr("launcher_test"));
  EXPECT_FALSE(readEnvironment(getpid()).empty());
}

TEST(ProcessStat, AZombieIsDead) {
  const pid_t pid = fork();
  if (pid == 0)
    _exit(0);
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT), 0);
  const auto stat = readProcessStat(pid);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->state, 'Z');
  EXPECT_FALSE(processAlive(pid, stat->startTime));
  waitpid(pid, nullptr, 0);
  EXPECT_FALSE(readProcessStat(pid));
}

TEST(ProcessStat, AProcessWhoseFirstThreadHasEndedIsAlive) {
  const pid_t pid = fork();
  if (pid == 0) {
    std::thread([] { pause(); }).detach();
    syscall(SYS_exit, 0);  // this thread only
  }
  auto stat = readProcessStat(pid);
  while (stat && stat->state != 'Z')
    stat = readProcessStat(pid);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->threads, 2U);
  EXPECT_TRUE(processAlive(pid, stat->startTime));
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  EXPECT_FALSE(processAlive(pid, stat->startTime));
}

}  // namespace
}  // namespace sonde::launcher
