#include "collector/core/emit.h"

#include "collector/core/attach.h"
#include "tests/core/spool_dump.h"
#include "tests/support/spool_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

namespace sonde::core {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using wire::Probe;
using wire::SliceKind;

constexpr std::uint64_t kRoom = 64 << 20;

std::uint32_t begin(const char* name) {
  return beginScope(SliceKind::Operation, intern(name), Probe::Annotation);
}

// Runs `body` attached to a new folder, in a child; returns what the image's files hold afterwards,
// by name.
std::vector<SpoolDump> record(const std::function<void()>& body, std::uint64_t limit = kRoom) {
  const test::SpoolFolder folder(limit);
  EXPECT_TRUE(inChild([&] {
    EXPECT_TRUE(attach(folder.path().c_str(), nullptr));
    body();
  }));
  std::vector<SpoolDump> dumps;
  for (const auto& file : folder.files())
    dumps.push_back(dumpSpool(file));
  std::sort(dumps.begin(), dumps.end(), [](const SpoolDump& a, const SpoolDump& b) {
    return a.identity.forked < b.identity.forked;
  });
  return dumps;
}

TEST(Emit, DoesNothingWithoutASession) {
  EXPECT_EQ(intern("name"), 0U);
  EXPECT_EQ(begin("name"), 0U);
  EXPECT_FALSE(enabled(Probe::Annotation));
  endScope(1);
  emitScalar(1, 1.0);
}

TEST(Emit, WritesScopesInOrder) {
  const auto dumps = record([] {
    const std::uint32_t outer = begin("outer");
    const std::uint32_t inner = begin("inner");
    emitScalar(intern("loss"), 0.5);
    endScope(inner);
    endScope(outer);
  });
  ASSERT_EQ(dumps.size(), 1U);
  EXPECT_THAT(dumps[0].story(),
              ElementsAre("begin outer", "begin inner", "scalar loss", "end inner", "end outer"));
}

TEST(Emit, EndsByTokenWhateverIsInnermost) {
  const auto dumps = record([] {
    const std::uint32_t outer = begin("outer");
    const std::uint32_t inner = begin("inner");
    endScope(outer);
    endScope(inner);
    endScope(inner);
  });
  EXPECT_THAT(dumps.at(0).story(),
              ElementsAre("begin outer", "begin inner", "end outer", "end inner"));
  EXPECT_EQ(dumps[0].lost(wire::LossReason::Unbalanced), 1U);
}

TEST(Emit, PopsWithinItsProbeAndGroup) {
  const auto dumps = record([] {
    beginScope(SliceKind::Operation, intern("nvtx 1"), Probe::Nvtx, 1);
    beginScope(SliceKind::Operation, intern("nvtx 2"), Probe::Nvtx, 2);
    const std::uint32_t annotation = begin("annotation");
    EXPECT_EQ(openScopes(Probe::Nvtx, 1), 1U);
    EXPECT_TRUE(endInnermost(Probe::Nvtx, 1));
    EXPECT_FALSE(endInnermost(Probe::Nvtx, 1));
    endScope(annotation);
  });
  EXPECT_THAT(
      dumps.at(0).story(),
      ElementsAre(
          "begin nvtx 1", "begin nvtx 2", "begin annotation", "end nvtx 1", "end annotation"));
}

TEST(Emit, CountsScopesThatAreTooDeep) {
  const auto dumps = record([] {
    for (std::uint32_t depth = 0; depth < wire::kMaxOpenScopes + 3; ++depth)
      beginScope(SliceKind::Operation, intern("deep"), Probe::Nvtx);
    for (int depth = 0; depth < 3; ++depth)
      EXPECT_TRUE(endInnermost(Probe::Nvtx));
    EXPECT_EQ(openScopes(Probe::Nvtx), wire::kMaxOpenScopes)
        << "pops of lost pushes must not end others";
  });
  EXPECT_EQ(dumps.at(0).lost(wire::LossReason::Depth), 3U);
}

TEST(Emit, BeginsASlotWithTheScopesThatAreOpen) {
  const test::SpoolFolder folder(kRoom);
  EXPECT_TRUE(inChild([&] {
    EXPECT_TRUE(attach(folder.path().c_str(), nullptr));
    begin("phase");
    const std::uint32_t name = intern("value");
    for (std::uint32_t value = 0; value < wire::kSlotBytes / sizeof(wire::Scalar) + 10; ++value)
      emitScalar(name, value);
  }));
  auto reader =
      launcher::SpoolReader::open(folder.files().at(0), launcher::SpoolReader::Access::ReadOnly);
  ASSERT_TRUE(reader);
  const auto slots = reader->snapshot();
  ASSERT_EQ(slots.size(), 2U);
  EXPECT_EQ(slots[0].scopeCount, 0U);
  ASSERT_EQ(slots[1].scopeCount, 1U);
  const wire::OpenScope scope = reader->readScopes(slots[1])[0];
  EXPECT_EQ(dumpSpool(folder.files()[0]).strings[scope.name], "phase");
}

TEST(Emit, AChildWritesAFileOfItsOwnWithTheIdsOfItsParent) {
  const auto dumps = record([] {
    const std::uint32_t name = intern("before the fork");
    const std::uint32_t open = begin("parent's scope");
    if (::fork() == 0) {
      emitMark(name, Probe::Annotation);
      endScope(open);  // of the parent: ignored, and no mistake
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

TEST(Emit, AGrandchildOfAChildWithoutRoomRecordsWhenThereIsRoomAgain) {
  const test::SpoolFolder folder(1 << 20);  // for one image
  EXPECT_TRUE(inChild([&] {
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

TEST(Emit, RecordsAgainWhenThereIsRoomAgain) {
  const test::SpoolFolder folder(kRoom);
  EXPECT_TRUE(inChild([&] {
    EXPECT_TRUE(attach(folder.path().c_str(), nullptr));
    folder.setLimit(1 << 20);  // as when other processes of the run have the rest
    const std::uint32_t name = intern("value");
    std::vector<std::thread> threads;
    const auto starve = [&] {
      const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
      while (std::chrono::steady_clock::now() < until)
        emitScalar(name, 1);
    };
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back(starve);
    for (std::thread& thread : threads)
      thread.join();
    folder.setLimit(kRoom);
    ::usleep(20'000);
    for (std::uint32_t mark = 0; mark < 2 * wire::kSlotBytes / sizeof(wire::Mark); ++mark)
      emitMark(intern("room again"), Probe::Annotation);
  }));
  const auto reader =
      launcher::SpoolReader::open(folder.files().at(0), launcher::SpoolReader::Access::ReadOnly);
  EXPECT_EQ(reader->allocatedBytes(), 2U << 20);
  EXPECT_EQ(dumpSpool(folder.files()[0]).story().back(), "mark room again");
}

TEST(Emit, APopOfALostPushEndsNothingElse) {
  const auto dumps = record([] {
    beginScope(SliceKind::Operation, intern("kept"), Probe::Nvtx, 1);
    skipScope(Probe::Nvtx, 1);
    beginScope(SliceKind::Operation, intern("inner"), Probe::Nvtx, 1);
    beginScope(SliceKind::Operation, intern("other domain"), Probe::Nvtx, 2);
    EXPECT_TRUE(endInnermost(Probe::Nvtx, 2));
    EXPECT_TRUE(endInnermost(Probe::Nvtx, 1));
    EXPECT_TRUE(endInnermost(Probe::Nvtx, 1));
    EXPECT_TRUE(endInnermost(Probe::Nvtx, 1));
    EXPECT_FALSE(endInnermost(Probe::Nvtx, 1));
  });
  EXPECT_THAT(dumps.at(0).story(),
              ElementsAre("begin kept",
                          "begin inner",
                          "begin other domain",
                          "end other domain",
                          "end inner",
                          "end kept"));
}

TEST(Emit, NoticesAChildOfRawClone) {
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

TEST(Emit, SaysHowAThreadEndedAndWasCalled) {
  const auto dumps = record([] {
    std::thread([] {
      ::pthread_setname_np(::pthread_self(), "loader");
      begin("work");
    }).join();
  });
  ASSERT_EQ(dumps.size(), 1U);
  EXPECT_THAT(dumps[0].story(), ElementsAre("begin work", "kind 13 loader"));
  EXPECT_EQ(dumps[0].threadNames.at(dumps[0].records.back().thread), "loader");
}

sigjmp_buf gEscape;

TEST(Emit, DropsAndCountsWhatAHandlerEmitsInsideAWrite) {
  const auto dumps = record([] {
    struct sigaction action {};
    action.sa_handler = [](int) { emitMark(intern("handler"), Probe::Annotation); };
    ::sigaction(SIGALRM, &action, nullptr);
    const itimerval every{{0, 100}, {0, 100}};
    ::setitimer(ITIMER_REAL, &every, nullptr);
    const std::uint32_t name = intern("value");
    for (int value = 0; value < 2'000'000; ++value)
      emitScalar(name, value);
    const itimerval off{};
    ::setitimer(ITIMER_REAL, &off, nullptr);
  });
  // Whole records in order, whatever was interrupted; dumpSpool() has checked their sizes.
  double last = -1;
  std::uint64_t scalars = 0;
  for (const DumpedRecord& entry : dumps.at(0).records) {
    if (entry.header.kind != wire::RecordKind::Scalar)
      continue;
    const double value = entry.as<wire::Scalar>().value;
    ASSERT_EQ(value, last + 1);
    last = value;
    ++scalars;
  }
  EXPECT_EQ(scalars + dumps[0].lost(wire::LossReason::SpoolFull), 2'000'000U);
}

TEST(Emit, RecordsAgainAfterALongjmpOutOfAWrite) {
  const auto dumps = record([] {
    struct sigaction action {};
    action.sa_handler = [](int) { ::siglongjmp(gEscape, 1); };
    action.sa_flags = SA_NODEFER;
    ::sigaction(SIGALRM, &action, nullptr);
    const std::uint32_t name = intern("value");
    const itimerval soon{{0, 0}, {0, 1000}};
    for (int round = 0; round < 20; ++round) {
      if (sigsetjmp(gEscape, 1) == 0) {
        ::setitimer(ITIMER_REAL, &soon, nullptr);
        for (;;)
          emitScalar(name, round);
      }
    }
    for (int tries = 0; tries < 3; ++tries) {
      emitMark(intern("recovered"), Probe::Annotation);
    }
  });
  const auto story = dumps.at(0).story();
  ASSERT_FALSE(story.empty());
  EXPECT_EQ(story.back(), "mark recovered")
      << "lost to signals: " << dumps[0].lost(wire::LossReason::Signal)
      << ", to room: " << dumps[0].lost(wire::LossReason::SpoolFull) << " of " << story.size();
}

TEST(Emit, KeepsErrno) {
  record([] {
    errno = 42;
    const std::uint32_t scope = begin("first use registers the thread");
    emitScalar(intern("value"), 1);
    endScope(scope);
    for (std::uint32_t value = 0; value < 3 * wire::kChunkBytes / sizeof(wire::Scalar); ++value)
      emitScalar(1, value);
    EXPECT_EQ(errno, 42);
  });
}

TEST(Emit, StopsAtTheHostsOwnFileSizeLimit) {
  const auto dumps = record([] {
    const rlimit limit{3 << 20, 3 << 20};  // growing past it would raise SIGXFSZ
    ::setrlimit(RLIMIT_FSIZE, &limit);
    for (std::uint32_t value = 0; value < 6 * wire::kChunkBytes / sizeof(wire::Scalar); ++value)
      emitScalar(intern("value"), value);
  });
  EXPECT_GT(dumps.at(0).lost(wire::LossReason::SpoolFull), 0U);
}

TEST(Emit, GivesTheSameTextTheSameIdOnEveryThread) {
  const auto dumps = record([] {
    std::vector<std::vector<std::uint32_t>> ids(4);
    std::vector<std::thread> threads;
    for (auto& mine : ids) {
      threads.emplace_back([&mine] {
        for (int name = 0; name < 5000; ++name)
          mine.push_back(intern(std::to_string(name).c_str()));
      });
    }
    for (std::thread& thread : threads)
      thread.join();
    for (const auto& other : ids)
      EXPECT_EQ(other, ids[0]);
    EXPECT_EQ(intern(""), 0U);
  });
  EXPECT_GE(dumps.at(0).strings.size(), 5000U);
}

TEST(Emit, CountsNamesPastTheTable) {
  const auto dumps = record([] {
    std::uint32_t unnamed = 0;
    for (int name = 0; name < 60'000; ++name)
      unnamed += intern(std::to_string(name).c_str()) == 0 ? 1U : 0U;
    EXPECT_GT(unnamed, 0U);
    EXPECT_NE(intern("1"), 0U) << "names that are in stay in";
  });
  EXPECT_GT(dumps.at(0).lost(wire::LossReason::Definitions), 0U);
}

TEST(Emit, RecordsNothingWhenTurnedOff) {
  const test::SpoolFolder folder(kRoom);
  EXPECT_TRUE(inChild([&] {
    EXPECT_TRUE(attach(folder.path().c_str(), nullptr));
    auto recorder =
        launcher::SpoolReader::open(folder.files().at(0), launcher::SpoolReader::Access::ReadWrite);
    begin("before");
    recorder->setRecording(false);
    EXPECT_FALSE(enabled(Probe::Annotation));
    EXPECT_EQ(begin("while off"), 0U);
  }));
  EXPECT_THAT(dumpSpool(folder.files().at(0)).story(), ElementsAre("begin before"));
}

TEST(Attach, LeavesNothingBehindWhenTheLimitIsZero) {
  const test::SpoolFolder folder(0);
  EXPECT_TRUE(inChild([&] { EXPECT_FALSE(attach(folder.path().c_str(), nullptr)); }));
  EXPECT_THAT(folder.files(), IsEmpty());
}

TEST(Attach, KeepsTheCommand) {
  const auto dumps = record([] {});
  const auto arguments = testing::internal::GetArgvs();
  ASSERT_FALSE(dumps.at(0).identity.command.empty());
  EXPECT_EQ(dumps[0].identity.command[0], arguments[0]);
}

TEST(Attach, ShiftsEveryClockUnderTest) {
  const test::SpoolFolder folder(kRoom);
  EXPECT_TRUE(inChild([&] { EXPECT_TRUE(attach(folder.path().c_str(), "3600000000000,0")); }));
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
