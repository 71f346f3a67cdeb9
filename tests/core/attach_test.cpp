// The library in a process and in its children.
#include "collector/core/attach.h"

#include "collector/core/emit.h"
#include "collector/core/spool.h"
#include "collector/core/vfork.h"
#include "collector/wire/clock_source.h"
#include "tests/core/spool_dump.h"
#include "tests/support/in_child.h"
#include "tests/support/spool_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

namespace sonde::core {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using wire::Probe;
using wire::SliceKind;

std::uint32_t begin(const char* name) {
  return beginScope(SliceKind::Operation, intern(name), Probe::Annotation);
}

TEST(Attach, AChildWritesAFileOfItsOwnWithTheIdsOfItsParent) {
  const auto dumps = record([] {
    const std::uint32_t name = intern("before the fork");
    const std::uint32_t open = begin("parent's scope");
    if (::fork() == 0) {
      emitMark(name, Probe::Annotation);
      endScope(open);  // the parent's: ignored, not a mistake
      const std::uint32_t own = begin("child's scope");
      endScope(own);
      ::_exit(0);
    }
    ::wait(nullptr);
    endScope(open);
  });
  ASSERT_EQ(dumps.size(), 2U);
  EXPECT_THAT(dumps[0].story(), ElementsAre("begin parent's scope", "end parent's scope"));
  EXPECT_THAT(dumps[1].story(),
              ElementsAre("mark before the fork", "begin child's scope", "end child's scope"));
  EXPECT_TRUE(dumps[1].identity.forked);
  EXPECT_EQ(dumps[1].lost(wire::LossReason::Unbalanced), 0U);
}

// A handler may fork and attach between two instructions of a function that has just looked up the
// address of the control page, the counters or the header.
TEST(Attach, WhatTheParentsHeaderSlotWasIsStillThereForAChildToRead) {
  record([] {
    const std::uint32_t name = intern("value");
    const wire::ControlPage* control = gSpool.control;
    const wire::FileHeader* header = gSpool.header;
    wire::LossCounters* loss = gSpool.loss;
    const pid_t child = ::fork();
    if (child == 0) {
      emitMark(name, Probe::Annotation);
      loss->count[0][0][0].fetch_add(1);
      ::_exit(control->recording.load() == 0 && header->pid == 0 ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(loss->count[0][0][0].load(), 0U);
  });
}

TEST(Attach, CountsTheTextsForWhichAChildHasNoRoom) {
  const test::SpoolFolder folder(kRoom);
  constexpr int kTexts = 200;
  EXPECT_TRUE(test::inChild([&] {
    EXPECT_TRUE(attach(folder.path().c_str(), nullptr));
    for (int text = 0; text < kTexts; ++text)
      intern((std::string(10'000, 'x') + std::to_string(text)).c_str());
    folder.setLimit(gSpool.session->allocatedBytes.load() + (3 << 19));
    if (::fork() == 0) {
      begin("a name");
      ::_exit(0);
    }
    ::wait(nullptr);
  }));
  for (const auto& file : folder.files()) {
    const SpoolDump dump = dumpSpool(file);
    std::uint64_t texts = 0;
    for (const auto& [id, text] : dump.strings)
      texts += text.size() > 10'000 ? 1U : 0U;
    const std::uint64_t lost = kTexts - texts;
    EXPECT_EQ(lost > 0, dump.identity.forked);
    EXPECT_GE(dump.lost(wire::LossReason::Names), lost);
  }
}

TEST(Attach, AGrandchildOfAChildWithoutRoomRecordsWhenThereIsRoomAgain) {
  // A second chunk would use up the room to grow.
  const test::SpoolFolder folder(2 * kFirstChunkBytes);
  EXPECT_TRUE(test::inChild([&] {
    EXPECT_TRUE(attach(folder.path().c_str(), nullptr));
    begin("a text to inherit");
    if (::fork() == 0) {
      EXPECT_EQ(begin("no room"), 0U);
      folder.setLimit(kRoom);
      if (::fork() == 0) {
        EXPECT_NE(begin("room again"), 0U);
        ::_exit(::testing::Test::HasFailure() ? 1 : 0);
      }
      int status = 0;
      ::wait(&status);
      ::_exit(::testing::Test::HasFailure() || status != 0 ? 1 : 0);
    }
    int status = 0;
    ::wait(&status);
    EXPECT_EQ(status, 0);
  }));
  EXPECT_EQ(folder.files().size(), 2U);
}

TEST(Attach, NoticesAChildOfRawClone) {
  const auto dumps = record([] {
    begin("parent");
    if (::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) {
      begin("child");
      ::syscall(SYS_exit_group, 0);
    }
    ::wait(nullptr);
  });
  ASSERT_EQ(dumps.size(), 2U);
  EXPECT_THAT(dumps[0].story(), ElementsAre("begin parent"));
  EXPECT_THAT(dumps[1].story(), ElementsAre("begin child"));
}

std::optional<int> statusIn(const test::SpoolFolder& folder) {
  auto reader =
      recorder::SpoolReader::open(folder.files().at(0), recorder::SpoolReader::Access::ReadOnly);
  return reader ? reader->exitStatus() : std::nullopt;
}

TEST(Attach, KeepsTheStatusThatAThreadWithoutRecordsLeavesWith) {
  const test::SpoolFolder folder(kRoom);
  EXPECT_TRUE(test::inChild([&] {
    EXPECT_TRUE(attach(folder.path().c_str(), nullptr));
    std::thread([] { noteExit(5); }).join();
  }));
  EXPECT_EQ(statusIn(folder), 5);
}

TEST(Attach, AChildInTheSameMemorySaysNothingOfItsParentsEnd) {
  const test::SpoolFolder folder(kRoom);
  EXPECT_TRUE(test::inChild([&] {
    EXPECT_TRUE(attach(folder.path().c_str(), nullptr));
    const auto leave = [](void*) {
      noteExit(7);
      return 0;
    };
    EXPECT_FALSE(inNotedVforkChild());
    alignas(16) static char stack[64 * 1024];
    EXPECT_GT(::clone(leave, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, nullptr), 0);
    ::wait(nullptr);
  }));
  EXPECT_EQ(statusIn(folder), std::nullopt);
}

TEST(Attach, LeavesNothingBehindWhenTheLimitIsZero) {
  const test::SpoolFolder folder(0);
  EXPECT_TRUE(test::inChild([&] { EXPECT_FALSE(attach(folder.path().c_str(), nullptr)); }));
  EXPECT_THAT(folder.files(), IsEmpty());
}

TEST(Attach, KeepsTheCommand) {
  const auto dumps = record([] {});
  const auto arguments = testing::internal::GetArgvs();
  ASSERT_FALSE(dumps.at(0).identity.command.empty());
  EXPECT_EQ(dumps[0].identity.command[0], arguments[0]);
}

TEST(Attach, StampsByTheCounterWhereTheKernelTrustsIt) {
  std::string clockSource;
  std::getline(std::ifstream(wire::kClockSourcePath) >> std::ws, clockSource);
  const auto dumps = record([] {});
  EXPECT_EQ(dumps.at(0).identity.clock == wire::ClockKind::Tsc, wire::trustsTsc(clockSource));
}

TEST(Attach, ShiftsEveryClockUnderTest) {
  const test::SpoolFolder folder(kRoom);
  EXPECT_TRUE(
      test::inChild([&] { EXPECT_TRUE(attach(folder.path().c_str(), "3600000000000,0")); }));
  const SpoolDump dump = dumpSpool(folder.files().at(0));
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  EXPECT_EQ(dump.identity.clock, wire::ClockKind::Monotonic);
  EXPECT_EQ(dump.identity.testOffsetNs, 3'600'000'000'000);
  EXPECT_GT(dump.identity.startMonotonicNs, (now.tv_sec + 3500) * 1'000'000'000);
  EXPECT_EQ(static_cast<std::int64_t>(dump.identity.startTicks), dump.identity.startMonotonicNs);
}

}  // namespace
}  // namespace sonde::core
