#include "collector/core/open_calls.h"

#include "collector/core/emit.h"
#include "collector/core/spool.h"
#include "collector/core/thread_state.h"
#include "recorder/spool_file/spool_reader.h"
#include "tests/core/spool_dump.h"
#include "tests/support/spool_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csetjmp>
#include <string>
#include <thread>

namespace sonde::core {
namespace {

using recorder::SpoolReader;
using testing::ElementsAre;
using testing::IsEmpty;
using wire::RecordKind;

[[gnu::noinline]] OpenCall openAt(const void* frame, std::uint64_t begin) {
  wire::Call record{};
  record.beginTicks = begin;
  record.probe = wire::Probe::Sync;
  return openCall(record, RecordKind::Call, frame);
}

// Brackets `body` as a wrapper does with its call.
template <typename Body>
[[gnu::noinline]] void wrapped(std::uint64_t begin, Body body) {
  const OpenCall open = openAt(__builtin_frame_address(0), begin);
  body();
  closeCall(open);
  asm volatile("" ::: "memory");  // no tail call: the frame must stay
}

// The begins of the open calls in this process's file, by thread in the order of the slots.
std::vector<std::uint64_t> openNow() {
  auto reader = SpoolReader::open(gSpool.path, SpoolReader::Access::ReadOnly);
  EXPECT_TRUE(reader) << reader.error().message;
  std::vector<std::uint64_t> begins;
  reader->snapshot();
  for (const SpoolReader::OpenCalls& thread : reader->openCalls())
    for (const std::vector<std::byte>& record : thread.records) {
      wire::Call call{};
      std::memcpy(&call, record.data(), sizeof call);
      EXPECT_EQ(call.header.kind, RecordKind::Call);
      EXPECT_EQ(call.endTicks, 0U);
      begins.push_back(call.beginTicks);
    }
  return begins;
}

TEST(OpenCalls, AreThereWhileTheyLastTheOutermostFirst) {
  record([] {
    wrapped(1, [] {
      EXPECT_THAT(openNow(), ElementsAre(1));
      wrapped(2, [] { EXPECT_THAT(openNow(), ElementsAre(1, 2)); });
      EXPECT_THAT(openNow(), ElementsAre(1));
    });
    EXPECT_THAT(openNow(), IsEmpty());
  });
}

TEST(OpenCalls, DeeperThanThereIsRoomForAreLeftOut) {
  record([] {
    wrapped(1, [] {
      wrapped(2, [] {
        wrapped(3, [] {
          wrapped(4, [] {
            wrapped(5, [] { EXPECT_THAT(openNow(), ElementsAre(1, 2, 3, 4)); });
            EXPECT_THAT(openNow(), ElementsAre(1, 2, 3, 4));
          });
        });
      });
    });
    EXPECT_THAT(openNow(), IsEmpty());
  });
}

TEST(OpenCalls, MoveWithTheirThreadToItsNextSlot) {
  record([] {
    wrapped(1, [] {
      const wire::SlotHeader* const before = tState->slot;
      while (tState->slot == before)
        emitScalar(1, 1.0);
      EXPECT_THAT(openNow(), ElementsAre(1));
    });
    EXPECT_THAT(openNow(), IsEmpty());
  });
}

TEST(OpenCalls, LeftByAnExceptionGoWithTheNextCall) {
  record([] {
    const auto throwing = [] { wrapped(1, [] { throw 1; }); };
    EXPECT_THROW(throwing(), int);
    EXPECT_THAT(openNow(), ElementsAre(1));
    wrapped(2, [] { EXPECT_THAT(openNow(), ElementsAre(2)); });
    EXPECT_THAT(openNow(), IsEmpty());
  });
}

TEST(OpenCalls, LeftByLongjmpGoWithTheEndOfTheOneAround) {
  record([] {
    wrapped(1, [] {
      static jmp_buf back;
      if (setjmp(back) == 0)
        wrapped(2, [] { longjmp(back, 1); });
    });
    EXPECT_THAT(openNow(), IsEmpty());
  });
}

TEST(OpenCalls, OfAForkedChildAreItsOwn) {
  record([] {
    wrapped(1, [] {
      const pid_t child = fork();
      if (child == 0) {
        emitScalar(1, 1.0);
        wrapped(2, [] { EXPECT_THAT(openNow(), ElementsAre(2)); });
        _exit(testing::Test::HasFailure() ? 1 : 0);
      }
      int status = 0;
      waitpid(child, &status, 0);
      EXPECT_EQ(status, 0);
      EXPECT_THAT(openNow(), ElementsAre(1));
    });
  });
}

// A reader never sees a half-written record: begin, object and number match.
TEST(OpenCalls, AreReadWholeWhileTheyChange) {
  record([] {
    std::atomic<bool> stop{false};
    std::thread writer([&] {
      for (std::uint64_t at = 1; !stop.load(); ++at) {
        wire::Handoff call{};
        call.beginTicks = call.object = call.wakerTicks = at;
        closeCall(openCall(call, RecordKind::Handoff, __builtin_frame_address(0)));
      }
    });
    int seen = 0;
    for (int round = 0; round < 20'000 && seen < 200; ++round) {
      auto reader = SpoolReader::open(gSpool.path, SpoolReader::Access::ReadOnly);
      reader->snapshot();
      for (const SpoolReader::OpenCalls& thread : reader->openCalls()) {
        wire::Handoff call{};
        std::memcpy(&call, thread.records.at(0).data(), sizeof call);
        EXPECT_EQ(call.beginTicks, call.object);
        EXPECT_EQ(call.beginTicks, call.wakerTicks);
        ++seen;
      }
    }
    stop = true;
    writer.join();
    EXPECT_GT(seen, 0);
  });
}

TEST(OpenCalls, DoNothingWithoutASession) {
  wrapped(1, [] {});
}

}  // namespace
}  // namespace sonde::core
