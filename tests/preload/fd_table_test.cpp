// The descriptor table alone: which descriptor leads where after any order of opens, copies and
// closes, and which transfers of concurrent calls are exact.
#include "collector/preload/descriptors/fd_table.h"

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
  void SetUp() override { ASSERT_TRUE(fd_table::started() || fd_table::start()); }
  void TearDown() override { fd_table::forgetRange(0, ~0U); }
};

// Forks as the wrapper of fork() does.
pid_t forkTracked() {
  const fd_endpoints::HolderId holder = fd_table::beforeFork();
  const pid_t child = fork();
  fd_table::afterFork(holder, child);
  return child;
}

pid_t rawClone() {
  return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
}

// Returns the child's exit status, -1 if it was killed.
int wait(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Runs `body` in a child and returns its result; `make` creates the child.
template <typename Body>
int inChild(pid_t (*make)(), Body body) {
  const pid_t child = make();
  if (child == 0)
    _exit(body());
  return wait(child);
}

constexpr int kFirst = 10;

// Opens `count` descriptors; returns how many are followed.
int openMany(int count) {
  int followed = 0;
  for (int fd = kFirst; fd < kFirst + count; ++fd)
    followed += fd_table::openEndpoint(fd, FdKind::Tcp, false).hasEndpoint() ? 1 : 0;
  return followed;
}

TEST_F(FdTable, KnowsNothingOfADescriptorUntilToldOf) {
  EXPECT_EQ(fd_table::entryOf(7).kind(), FdKind::Unknown);
  EXPECT_EQ(fd_table::entryOf(-1).kind(), FdKind::Other);
  EXPECT_EQ(fd_table::entryOf(5'000'000).kind(), FdKind::Other);
}

TEST_F(FdTable, WhatHasBecomeAnotherMeanwhileIsNotReplaced) {
  const FdEntry unnamed(FdKind::File, 0, 0);
  const FdEntry named(FdKind::File, 0, 4711);
  fd_table::setFile(7, unnamed);
  EXPECT_TRUE(fd_table::replacePlain(7, unnamed, named));
  EXPECT_EQ(fd_table::entryOf(7).word(), named.word());
  EXPECT_FALSE(fd_table::replacePlain(7, unnamed, FdEntry()));
  EXPECT_EQ(fd_table::entryOf(7).word(), named.word());
  const FdEntry stream = fd_table::openEndpoint(7, FdKind::Tcp, false);
  EXPECT_FALSE(fd_table::replacePlain(7, named, FdEntry()));
  EXPECT_EQ(fd_table::entryOf(7).word(), stream.word());
  EXPECT_FALSE(fd_table::replacePlain(-1, named, FdEntry()));
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

// Also where a range begins or ends with one of the table's pages, and beyond the table.
TEST_F(FdTable, ForgetsARangeAndNothingBesideIt) {
  const auto know = [](int first, int last) {
    for (int fd = first; fd <= last; ++fd)
      fd_table::openEndpoint(fd, FdKind::Tcp, false);
  };
  const auto known = [](int first, int last) {
    std::vector<int> found;
    for (int fd = first; fd <= last; ++fd) {
      if (fd_table::entryOf(fd).kind() != FdKind::Unknown)
        found.push_back(fd);
    }
    return found;
  };
  know(4, 9);
  fd_table::forgetRange(6, 7);
  EXPECT_EQ(known(0, 20), (std::vector<int>{4, 5, 8, 9}));
  constexpr int kPage = fd_table::kPageFds;
  know(kPage - 2, 2 * kPage + 1);
  fd_table::forgetRange(kPage, 2 * kPage - 1);
  EXPECT_EQ(known(kPage - 5, 2 * kPage + 5),
            (std::vector<int>{kPage - 2, kPage - 1, 2 * kPage, 2 * kPage + 1}));
  constexpr int kEnd = fd_table::kPages * fd_table::kPageFds;
  know(kEnd - 2, kEnd - 1);
  fd_table::forgetRange(kEnd - 1, ~0U);
  EXPECT_EQ(known(kEnd - 5, kEnd - 1), (std::vector<int>{kEnd - 2}));
}

TEST_F(FdTable, WhatIsForgottenInARangeIsFreeAgainAndItsNumberIsANewStreams) {
  const FdEntry old = fd_table::openEndpoint(6, FdKind::Pipe, false);
  beginCrossing(fd_table::endpointOf(old)->ways[0]);
  endCrossing(fd_table::endpointOf(old)->ways[0], 6);
  fd_table::forgetRange(6, 6);
  EXPECT_EQ(fd_table::endpointOf(old), nullptr);
  const FdEntry next = fd_table::openEndpoint(6, FdKind::Pipe, false);
  EXPECT_NE(next.word(), old.word());
  EXPECT_EQ(fd_table::endpointOf(next)->ways[0].offset.load(), 0U);
}

TEST_F(FdTable, AnEntryThatOutlivedItsEndpointIsRecognised) {
  const FdEntry old = fd_table::openEndpoint(5, FdKind::Pipe, false);
  fd_table::setPlain(5, FdKind::Unknown);
  EXPECT_EQ(fd_table::endpointOf(old), nullptr);
  for (std::uint32_t turn = 0; turn < fd_endpoints::kEndpoints + 10; ++turn) {
    fd_table::openEndpoint(5, FdKind::Pipe, false);
    ASSERT_EQ(fd_table::endpointOf(old), nullptr);
  }
}

TEST_F(FdTable, GivesUpWithoutHarmWhenEndpointsRunOut) {
  constexpr int kTooMany = fd_endpoints::kEndpoints + 100;
  const int opened = openMany(kTooMany);
  EXPECT_LT(opened, kTooMany);
  EXPECT_GE(opened, static_cast<int>(fd_endpoints::kMostInUse));
  EXPECT_EQ(fd_table::entryOf(kFirst + kTooMany - 1).kind(), FdKind::Other);
  EXPECT_NE(fd_table::endpointOf(fd_table::entryOf(kFirst)), nullptr);
}

TEST_F(FdTable, FindsWhatWasFreedWhereverItLies) {
  openMany(fd_endpoints::kEndpoints);
  for (const int fd : {50'000, 30'000, 10'000}) {
    fd_table::setPlain(fd, FdKind::Unknown);
    EXPECT_TRUE(fd_table::openEndpoint(fd, FdKind::Tcp, false).hasEndpoint()) << fd;
  }
}

TEST_F(FdTable, AChildMovesTheOffsetThatItsParentSees) {
  for (const auto make : {forkTracked, rawClone}) {
    const FdEntry entry = fd_table::openEndpoint(6, FdKind::Unix, false);
    Endpoint* endpoint = fd_table::endpointOf(entry);
    const int result = inChild(make, [] {
      fd_table::settle();
      Endpoint* mine = fd_table::endpointOf(fd_table::entryOf(6));
      if (mine == nullptr || fd_endpoints::lineage() == 0)
        return 1;
      beginCrossing(mine->ways[0]);
      endCrossing(mine->ways[0], 11);
      fd_table::setPlain(6, FdKind::Unknown);
      return 0;
    });
    EXPECT_EQ(result, 0);
    EXPECT_EQ(endpoint->ways[0].offset.load(), 11U);
    EXPECT_EQ(fd_table::endpointOf(entry), endpoint);  // the child's close did not remove it
  }
}

TEST_F(FdTable, ClosingInTheParentLeavesTheChildItsStream) {
  fd_table::openEndpoint(8, FdKind::Pipe, false);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = forkTracked();
  if (child == 0) {
    char byte = 0;
    if (read(ends[0], &byte, 1) != 1)
      _exit(2);
    _exit(fd_table::endpointOf(fd_table::entryOf(8)) != nullptr ? 0 : 1);
  }
  fd_table::setPlain(8, FdKind::Unknown);
  for (std::uint32_t turn = 0; turn < fd_endpoints::kEndpoints + 10; ++turn)
    ASSERT_TRUE(fd_table::openEndpoint(5, FdKind::Pipe, false).hasEndpoint());
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  EXPECT_EQ(wait(child), 0);
  close(ends[0]);
  close(ends[1]);
}

// Opens more endpoints than there are, in rounds, with forks while they are open.
TEST_F(FdTable, WhatWasOpenAtAForkIsFreeAgainOnceAllHaveClosedIt) {
  constexpr int kEach = 5000;
  for (const auto make : {forkTracked, rawClone}) {
    for (std::uint32_t opened = 0; opened < 2 * fd_endpoints::kEndpoints; opened += kEach) {
      ASSERT_EQ(openMany(kEach), kEach) << opened;
      ASSERT_EQ(inChild(make,
                        [] {
                          fd_table::forgetRange(0, ~0U);
                          return 0;
                        }),
                0);
      fd_table::forgetRange(0, ~0U);
    }
  }
}

TEST_F(FdTable, WhatAKilledChildHeldIsFreeAgain) {
  constexpr int kEach = 5000;
  for (const auto make : {forkTracked, rawClone}) {
    for (std::uint32_t opened = 0; opened < 2 * fd_endpoints::kEndpoints; opened += kEach) {
      ASSERT_EQ(openMany(kEach), kEach) << opened;
      inChild(make, [] {
        fd_table::openEndpoint(6, FdKind::Tcp, false);
        return raise(SIGKILL);
      });
      fd_table::forgetRange(0, ~0U);
    }
  }
}

TEST_F(FdTable, WhatAFailedForkHeldIsFreeAgain) {
  for (std::uint32_t turn = 0; turn < 2 * fd_endpoints::kHolders; ++turn) {
    ASSERT_EQ(openMany(100), 100);
    const fd_endpoints::HolderId holder = fd_table::beforeFork();
    ASSERT_NE(holder, fd_endpoints::kNobody);
    fd_table::afterFork(holder, -1);
    fd_table::forgetRange(0, ~0U);
  }
}

TEST_F(FdTable, AChildThatCannotBeAHolderSeesWhatItsParentHolds) {
  const FdEntry entry = fd_table::openEndpoint(6, FdKind::Tcp, false);
  std::vector<fd_endpoints::HolderId> taken;
  for (auto holder = fd_table::beforeFork(); holder != fd_endpoints::kNobody;
       holder = fd_table::beforeFork())
    taken.push_back(holder);
  const auto useIt = [] {
    if (fd_table::openEndpoint(7, FdKind::Tcp, false).hasEndpoint())
      return 1;
    const bool there = fd_table::endpointOf(fd_table::entryOf(6)) != nullptr;
    fd_table::setPlain(6, FdKind::Unknown);
    return there ? 0 : 2;
  };
  EXPECT_EQ(inChild(forkTracked, useIt), 0);
  EXPECT_EQ(inChild(rawClone, useIt), 0);
  EXPECT_NE(fd_table::endpointOf(entry), nullptr);
  fd_table::afterFork(taken.back(), -1);
  for (int turn = 0; turn < 3; ++turn) {  // each child that ends leaves the only place to the next
    const auto open = [] {
      return fd_table::openEndpoint(7, FdKind::Tcp, false).hasEndpoint() ? 0 : 1;
    };
    EXPECT_EQ(inChild(forkTracked, open), 0);
  }
  taken.pop_back();
  for (const fd_endpoints::HolderId holder : taken)
    fd_table::afterFork(holder, -1);
}

// A lock stands in for the kernel: so the order of the bytes is known, and an exact offset must be
// the true one.
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
  EXPECT_TRUE(last.exact);  // once alone again, the count is complete
  EXPECT_EQ(last.offset, truth);
}

TEST_F(FdTable, AfterCallsThatOverlapTheNextIsExactAgain) {
  Direction& way = fd_table::endpointOf(fd_table::openEndpoint(9, FdKind::Tcp, false))->ways[0];
  beginCrossing(way);
  beginCrossing(way);
  EXPECT_FALSE(endCrossing(way, 3).exact);
  beginCrossing(way);
  EXPECT_FALSE(endCrossing(way, 4).exact);
  EXPECT_FALSE(endCrossing(way, 5).exact);
  beginCrossing(way);
  const Crossing alone = endCrossing(way, 6);
  EXPECT_TRUE(alone.exact);
  EXPECT_EQ(alone.offset, 12U);
}

}  // namespace
}  // namespace sonde::preload
