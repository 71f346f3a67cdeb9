// Signals in the middle of emits.
#include "collector/core/emit.h"
#include "tests/core/spool_dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/time.h>
#include <ucontext.h>

#include <algorithm>
#include <csignal>
#include <thread>

namespace sonde::core {
namespace {

using testing::ElementsAre;
using wire::Probe;

sigjmp_buf gEscape;

TEST(EmitSignal, DropsAndCountsWhatAHandlerEmitsInsideAWrite) {
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
  // All records are complete and in order, whatever was interrupted; dumpSpool() has checked their
  // sizes.
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

TEST(EmitSignal, ArgumentsDoNotMoveToTheRecordOfAHandler) {
  const auto dumps = record([] {
    struct sigaction action {};
    action.sa_handler = [](int) { emitMark(intern("handler"), Probe::Annotation); };
    ::sigaction(SIGUSR1, &action, nullptr);
    const std::uint32_t key = intern("key");
    const std::uint64_t whole = emitMark(intern("whole"), Probe::Annotation);
    emitArgInt({.record = whole}, key, 1);
    recordClocks();  // it takes no arguments
    emitArgInt({.record = whole}, key, 2);
    const std::uint64_t torn =
        emitRangeBegin(wire::SliceKind::Range, intern("torn"), Probe::Annotation, 1);
    emitArgInt({.record = torn}, key, 3);
    ::raise(SIGUSR1);
    emitArgInt({.record = torn}, key, 4);
    emitArgDouble({.record = torn}, key, 5);
    const std::uint32_t scope =
        beginScope(wire::SliceKind::Operation, intern("scope"), Probe::Annotation);
    ::raise(SIGUSR1);
    emitArgInt({scope}, key, 6);
  });
  EXPECT_THAT(dumps.at(0).story(),
              ElementsAre("mark whole",
                          "kind 9 key",
                          "kind 9 key",
                          "kind 4 torn",
                          "kind 9 key",
                          "mark handler",
                          "begin scope",
                          "mark handler",
                          "kind 9 key"));
  EXPECT_EQ(dumps[0].lost(wire::LossReason::Signal), 2U);
}

TEST(EmitSignal, RecordsAgainAfterALongjmpOutOfAWrite) {
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

// With a sanitizer, most steps would be the sanitizer's own instructions.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)

constexpr greg_t kTrapFlag = 0x100;
volatile sig_atomic_t gStepsLeft = 0;
volatile sig_atomic_t gHandlerMarks = 0;

// Single-steps from here on, and emits after that many instructions.
void stepThenEmit(int, siginfo_t*, void* context) {
  auto& flags = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL];
  flags = gStepsLeft > 0 ? flags | kTrapFlag : flags & ~kTrapFlag;
  if (gStepsLeft == 0) {
    gHandlerMarks = gHandlerMarks + 1;
    emitMark(intern("handler"), Probe::Annotation);
  }
  gStepsLeft = gStepsLeft - 1;
}

// A handler that also records interrupts the first record of a thread at every instruction.
TEST(EmitSignal, AThreadIsRegisteredOnce) {
  constexpr int kThreads = 300;
  constexpr int kStride = 4;
  const auto dumps = record([] {
    struct sigaction action {};
    action.sa_sigaction = stepThenEmit;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGTRAP, &action, nullptr);
    const std::uint32_t name = intern("first");
    for (int thread = 1; thread <= kThreads; ++thread) {
      std::thread([thread, name] {
        gStepsLeft = thread * kStride;
        ::pthread_kill(::pthread_self(), SIGTRAP);
        emitMark(name, Probe::Annotation);
        gStepsLeft = -1;
      }).join();
    }
    emitScalar(name, gHandlerMarks);
  });
  ASSERT_EQ(dumps.size(), 1U);
  std::uint64_t marks = 0;
  double expected = kThreads;
  for (const DumpedRecord& entry : dumps[0].records) {
    marks += entry.header.kind == wire::RecordKind::Mark ? 1 : 0;
    if (entry.header.kind == wire::RecordKind::Scalar)
      expected += entry.as<wire::Scalar>().value;
  }
  EXPECT_EQ(dumps[0].threads, kThreads + 1U);  // including the one that attached
  EXPECT_EQ(static_cast<double>(marks + dumps[0].lost(wire::LossReason::Signal)), expected);
  EXPECT_GT(dumps[0].lost(wire::LossReason::Signal), 0U);
}

// One block of memory for both stacks: the handlers' is above the thread's, where a caller's frame
// would be.
struct Stacks {
  alignas(4096) char thread[256 * 1024];
  alignas(4096) char handlers[64 * 1024];
};

// The kernel does not report a handler's stack that disarms itself.
TEST(EmitSignal, AHandlerOnAStackThatDisarmsItselfIsKnownAsOne) {
  constexpr int kRounds = 600;
  constexpr int kAutoDisarm = 1 << 31;  // SS_AUTODISARM of the kernel's headers
  static Stacks stacks;
  const auto dumps = record([] {
    const auto body = [](void*) -> void* {
      const stack_t alternate{
          .ss_sp = stacks.handlers, .ss_flags = kAutoDisarm, .ss_size = sizeof stacks.handlers};
      EXPECT_EQ(::sigaltstack(&alternate, nullptr), 0);
      const std::uint32_t name = intern("value");
      for (int round = 0; round < kRounds; ++round) {
        gStepsLeft = round;
        ::pthread_kill(::pthread_self(), SIGTRAP);
        emitMark(name, Probe::Annotation);
        gStepsLeft = -1;
      }
      return nullptr;
    };
    struct sigaction action {};
    action.sa_sigaction = stepThenEmit;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigaction(SIGTRAP, &action, nullptr);
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstack(&attributes, stacks.thread, sizeof stacks.thread);
    pthread_t thread{};
    ASSERT_EQ(::pthread_create(&thread, &attributes, body, nullptr), 0);
    ::pthread_join(thread, nullptr);
    emitScalar(intern("handlers"), gHandlerMarks);
  });
  const auto story = dumps.at(0).story();
  EXPECT_EQ(std::count(story.begin(), story.end(), "mark value"), kRounds);
  const auto recorded = std::count(story.begin(), story.end(), "mark handler");
  const auto lost = static_cast<std::int64_t>(dumps[0].lost(wire::LossReason::Signal));
  EXPECT_GT(lost, 0);
  int scalars = 0;
  for (const DumpedRecord& entry : dumps[0].records) {
    if (entry.header.kind == wire::RecordKind::Scalar) {
      EXPECT_EQ(static_cast<double>(recorded + lost), entry.as<wire::Scalar>().value);
      ++scalars;
    }
  }
  EXPECT_EQ(scalars, 1);
}

#endif

}  // namespace
}  // namespace sonde::core
