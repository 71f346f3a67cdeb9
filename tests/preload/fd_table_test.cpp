// The table of descriptors, alone: what leads where after any order of opens, copies and closes,
// and which transfers of concurrent calls are exact.
#include "collector/preload/probes/fd_table.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace sonde::preload {
namespace {

class FdTable : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(fd_table::started() || fd_table::start()); }
  void TearDown() override { fd_table::forgetRange(0, ~0U); }
};

// Runs `body` in a child and returns its result; `fork` decides how the child is made.
template <typename Body>
int inChild(bool rawClone, Body body) {
  if (!rawClone)
    fd_table::beforeFork();
  const auto child =
      rawClone ? static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) : fork();
  if (child == 0)
    _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(FdTable, KnowsNothingOfADescriptorUntilToldOf) {
  EXPECT_EQ(fd_table::entryOf(7).kind(), FdKind::Unknown);
  EXPECT_EQ(fd_table::entryOf(-1).kind(), FdKind::Other);
  EXPECT_EQ(fd_table::entryOf(5'000'000).kind(), FdKind::Other);
}

TEST_F(FdTable, FollowsAModelThroughRandomOpensCopiesAndCloses) {
  std::mt19937 random(7);
  std::map<int, int> model;  // descriptor -> which stream
  std::map<int, std::uint64_t> sent;
  int streams = 0;
  for (int turn = 0; turn < 200'000; ++turn) {
    const int fd = static_cast<int>(random() % 3000);
    const int other = static_cast<int>(random() % 3000);
    switch (random() % 4) {
      case 0:
        fd_table::openEndpoint(fd, FdKind::Tcp, false);
        model[fd] = ++streams;
        break;
      case 1:
        fd_table::duplicate(fd, other);
        if (fd != other && model.contains(fd))
          model[other] = model[fd];
        else if (fd != other)
          model.erase(other);
        break;
      case 2:
        fd_table::setPlain(fd, FdKind::Unknown);
        model.erase(fd);
        break;
      default: {
        Endpoint* endpoint = fd_table::endpointOf(fd_table::entryOf(fd));
        ASSERT_EQ(endpoint != nullptr, model.contains(fd));
        if (endpoint == nullptr)
          break;
        beginCrossing(endpoint->ways[0]);
        const Crossing crossing = endCrossing(endpoint->ways[0], 3);
        ASSERT_EQ(crossing.offset, sent[model[fd]]);
        ASSERT_TRUE(crossing.exact);
        sent[model[fd]] += 3;
      }
    }
  }
}

TEST_F(FdTable, AnEntryThatOutlivedItsEndpointIsRecognised) {
  const FdEntry old = fd_table::openEndpoint(5, FdKind::Pipe, false);
  fd_table::setPlain(5, FdKind::Unknown);
  EXPECT_EQ(fd_table::endpointOf(old), nullptr);
  for (std::uint32_t turn = 0; turn < fd_table::kEndpoints + 10; ++turn) {
    fd_table::openEndpoint(5, FdKind::Pipe, false);
    ASSERT_EQ(fd_table::endpointOf(old), nullptr);
  }
}

TEST_F(FdTable, GivesUpWithoutHarmWhenEndpointsRunOut) {
  fd_table::openEndpoint(4, FdKind::Tcp, false);
  std::uint32_t opened = 0;
  for (int fd = 5; fd < static_cast<int>(fd_table::kEndpoints) + 100; ++fd)
    opened += fd_table::openEndpoint(fd, FdKind::Tcp, false).hasEndpoint() ? 1U : 0U;
  EXPECT_LT(opened, fd_table::kEndpoints);
  EXPECT_EQ(fd_table::entryOf(static_cast<int>(fd_table::kEndpoints) + 99).kind(), FdKind::Other);
  EXPECT_NE(fd_table::endpointOf(fd_table::entryOf(4)), nullptr);
}

TEST_F(FdTable, AChildMovesTheOffsetThatItsParentSees) {
  for (const bool rawClone : {false, true}) {
    const FdEntry entry = fd_table::openEndpoint(6, FdKind::Unix, false);
    Endpoint* endpoint = fd_table::endpointOf(entry);
    const int result = inChild(rawClone, [&] {
      fd_table::settle();
      Endpoint* mine = fd_table::endpointOf(fd_table::entryOf(6));
      if (mine == nullptr || fd_table::lineage() == 0)
        return 1;
      beginCrossing(mine->ways[0]);
      endCrossing(mine->ways[0], 11);
      fd_table::setPlain(6, FdKind::Unknown);
      return 0;
    });
    EXPECT_EQ(result, 0);
    EXPECT_EQ(endpoint->ways[0].offset.load(), 11U);
    EXPECT_EQ(fd_table::endpointOf(entry), endpoint);  // the child's close did not take it away
  }
}

TEST_F(FdTable, ClosingInTheParentLeavesTheChildItsStream) {
  fd_table::openEndpoint(8, FdKind::Pipe, false);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  fd_table::beforeFork();
  const pid_t child = fork();
  if (child == 0) {
    char byte = 0;
    if (read(ends[0], &byte, 1) != 1)
      _exit(2);
    _exit(fd_table::endpointOf(fd_table::entryOf(8)) != nullptr ? 0 : 1);
  }
  fd_table::setPlain(8, FdKind::Unknown);
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  close(ends[0]);
  close(ends[1]);
}

// The kernel is a lock here: which bytes come first is known, and an exact offset has to be the
// true one.
TEST_F(FdTable, AnExactOffsetOfConcurrentCallsIsTheTrueOne) {
  Endpoint* endpoint = fd_table::endpointOf(fd_table::openEndpoint(9, FdKind::Tcp, false));
  std::mutex kernel;
  std::uint64_t truth = 0;
  std::atomic<int> wrong{0};
  std::atomic<int> exactOnes{0};
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int turn = 0; turn < 20'000; ++turn) {
      const std::uint64_t bytes = random() % 100;
      beginCrossing(endpoint->ways[0]);
      std::uint64_t at = 0;
      {
        const std::lock_guard lock(kernel);
        at = truth;
        truth += bytes;
      }
      const Crossing crossing = endCrossing(endpoint->ways[0], bytes);
      wrong += crossing.exact && crossing.offset != at ? 1 : 0;
      exactOnes += crossing.exact ? 1 : 0;
      if (random() % 8 == 0)
        std::this_thread::yield();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned at = 0; at < 3; ++at)
    threads.emplace_back(work, at);
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(wrong.load(), 0);
  beginCrossing(endpoint->ways[0]);
  const Crossing last = endCrossing(endpoint->ways[0], 0);
  EXPECT_TRUE(last.exact);  // once alone again, the count is whole
  EXPECT_EQ(last.offset, truth);
}

}  // namespace
}  // namespace sonde::preload
