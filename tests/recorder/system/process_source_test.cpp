#include "recorder/system/process_source.h"

#include "tests/recorder/system/sources_rig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace sonde::recorder::system {
namespace {

using testing::Contains;
using testing::Key;
using testing::Not;
using testing::Pair;
using Values = std::map<std::string, double>;

constexpr std::uint64_t kStart = 777;
constexpr ImageId kImage = {42, kStart, 0};

// The line /proc/PID/stat of a process with an unusual name.
std::string statLine(int threads, std::uint64_t startTime = kStart, char state = 'S') {
  return "42 (a) b (c) " + std::string(1, state) +
         " 1 42 42 0 -1 4194560 100 5 3 1 20 10 0 0 20 0 " + std::to_string(threads) + " 0 " +
         std::to_string(startTime) + " 99999 250 18446744 1 1\n";
}

class ProcessSourceTest : public testing::Test {
 protected:
  ~ProcessSourceTest() override { KernelFile::keepAtMost(512); }
  void writeThread(int tid, std::uint64_t cpuNs, std::uint64_t queuedNs) const {
    machine_.write("proc/42/task/" + std::to_string(tid) + "/schedstat",
                   std::to_string(cpuNs) + " " + std::to_string(queuedNs) + " 3\n");
  }

  MachineOfFiles machine_;
};

TEST_F(ProcessSourceTest, CountsTheProcessAndEachOfItsThreads) {
  machine_.write("proc/42/stat", statLine(2));
  machine_.write("proc/42/io", "rchar: 9\nwchar: 8\nread_bytes: 4096\nwrite_bytes: 8192\n");
  writeThread(42, 1000, 10);
  writeThread(43, 2000, 20);
  ProcessSource source(machine_.roots());
  source.add(kImage);
  const Values values = machine_.sample(source);
  EXPECT_EQ(values.at("cpu time of process 42"), 30 * 1e7);
  EXPECT_EQ(values.at("resident memory of process 42"),
            250.0 * static_cast<double>(::sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(values.at("minor page faults of process 42"), 100);
  EXPECT_EQ(values.at("major page faults of process 42"), 3);
  EXPECT_EQ(values.at("threads of process 42"), 2);
  EXPECT_EQ(values.at("disk read of process 42"), 4096);
  EXPECT_EQ(values.at("disk written of process 42"), 8192);
  EXPECT_EQ(values.at("cpu time of thread 42"), 1000);
  EXPECT_EQ(values.at("cpu time of thread 43"), 2000);
  EXPECT_EQ(values.at("run queue time of thread 43"), 20);
}

TEST_F(ProcessSourceTest, AsksThreadsForMajorFaultsWhenTheProcessHasHadSome) {
  const auto stat = [](int threadFaults) {
    return "43 (t) R 1 42 42 0 -1 4194560 100 5 " + std::to_string(threadFaults) +
           " 1 20 10 0 0 20 0 2 0 777 99999 250 18446744 1 1\n";
  };
  const auto faults = [&](ProcessSource& source) {
    return machine_.sample(source).at("major page faults of thread 43");
  };
  machine_.write("proc/42/stat", statLine(1));
  writeThread(43, 1, 0);
  machine_.write("proc/42/task/43/stat", stat(2));
  ProcessSource source(machine_.roots());
  source.add(kImage);
  EXPECT_EQ(faults(source), 2);
  machine_.write("proc/42/task/43/stat", stat(9));
  writeThread(43, 2, 0);
  const auto unasked = machine_.sample(source);
  EXPECT_FALSE(unasked.contains("major page faults of thread 43") &&
               unasked.at("major page faults of thread 43") != 2);
  std::string more = statLine(1);
  more.replace(more.find(" 3 1 20"), 2, " 4");
  machine_.write("proc/42/stat", more);
  EXPECT_EQ(faults(source), 9);
}

TEST_F(ProcessSourceTest, FindsThreadsThatComeAndLeavesThoseThatGo) {
  machine_.write("proc/42/stat", statLine(1));
  writeThread(42, 1000, 10);
  ProcessSource source(machine_.roots());
  source.add(kImage);
  EXPECT_THAT(machine_.sample(source), Not(Contains(Key("cpu time of thread 50"))));
  machine_.write("proc/42/stat", statLine(2));
  writeThread(50, 5, 0);
  EXPECT_THAT(machine_.sample(source), Contains(Pair("cpu time of thread 50", 5)));
}

TEST_F(ProcessSourceTest, ReadsThreadsBeyondTheFilesThatMayBeKeptOpen) {
  machine_.write("proc/42/stat", statLine(3));
  for (const int tid : {42, 43, 44})
    writeThread(tid, 1, 0);
  KernelFile::keepAtMost(1);
  ProcessSource source(machine_.roots());
  source.add(kImage);
  machine_.sample(source);
  for (const int tid : {42, 43, 44})
    writeThread(tid, static_cast<std::uint64_t>(tid), 0);
  const Values values = machine_.sample(source);
  for (const int tid : {42, 43, 44})
    EXPECT_THAT(values, Contains(Pair("cpu time of thread " + std::to_string(tid), tid)));
}

TEST_F(ProcessSourceTest, AnotherProcessOfTheSameNumberIsNotIt) {
  machine_.write("proc/42/stat", statLine(1, kStart + 1));
  ProcessSource source(machine_.roots());
  source.add(kImage);
  EXPECT_EQ(machine_.sample(source), Values());
}

TEST_F(ProcessSourceTest, AZombieHasGone) {
  machine_.write("proc/42/stat", statLine(1, kStart, 'Z'));
  ProcessSource source(machine_.roots());
  source.add(kImage);
  EXPECT_EQ(machine_.sample(source), Values());
}

TEST_F(ProcessSourceTest, AZombieWhoseOtherThreadsGoOnHasNot) {
  machine_.write("proc/42/stat", statLine(2, kStart, 'Z'));
  writeThread(43, 2000, 20);
  ProcessSource source(machine_.roots());
  source.add(kImage);
  EXPECT_THAT(machine_.sample(source), Contains(Pair("cpu time of thread 43", 2000)));
}

TEST_F(ProcessSourceTest, AnImageThatReplacedAnotherHasCountersOfItsOwn) {
  machine_.write("proc/42/stat", statLine(1));
  writeThread(42, 1000, 10);
  ProcessSource source(machine_.roots());
  source.add(kImage);
  machine_.sample(source);
  const std::size_t before = machine_.metrics().size();
  source.add({42, kStart, 1});
  source.add(kImage);  // added late
  machine_.sample(source);
  ASSERT_EQ(machine_.metrics().size(), 2 * before);
  EXPECT_EQ(machine_.metrics().back().execCount, 1U);
}

}  // namespace
}  // namespace sonde::recorder::system
