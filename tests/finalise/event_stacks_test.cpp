#include "analysis/finalise/event_stacks.h"

#include "analysis/store/trace_file.h"
#include "analysis/store/trace_writer.h"
#include "tests/store/expect_result.h"
#include "tests/store/temporary_folder.h"

#include <gmock/gmock.h>

#include <optional>

namespace sonde::store {
namespace {

using Id = std::optional<std::int64_t>;

// A process with two threads, and stacks with distinct numbers.
class EventStacks : public TemporaryFolder {
 protected:
  EventStacks() : writer_(*TraceWriter::open(*createTrace(file("a.part")))) {
    EXPECT_TRUE(writer_.begin());
    EXPECT_TRUE(writer_.add(model::Host{{}, "host"}));
    model::Process process;
    process.hostId = model::HostId{1};
    EXPECT_TRUE(writer_.add(process));
    for (std::int64_t tid = 1; tid <= 2; ++tid)
      EXPECT_TRUE(writer_.add(model::Thread{{}, model::ProcessId{1}, tid}));
    const auto frame = *writer_.add(model::Frame{.nameId = *writer_.intern("work")});
    for (int i = 0; i < 4; ++i)
      EXPECT_TRUE(writer_.add(model::Stack{.frameId = frame}));
  }

  model::SliceId slice(model::SliceKind kind, std::int64_t startNs, Id correlation = {}) {
    return *writer_.add(model::Slice{.threadId = model::ThreadId{1},
                                     .kind = kind,
                                     .category = "cuda_runtime",
                                     .nameId = *writer_.intern("name"),
                                     .startNs = startNs,
                                     .durNs = 10,
                                     .correlationId = correlation});
  }
  void stackAt(std::int64_t ns, std::int64_t stack, Id correlation = {}, std::int64_t thread = 1) {
    EXPECT_TRUE(writer_.add(model::StackSample{.threadId = model::ThreadId{thread},
                                               .tsNs = ns,
                                               .stackId = model::StackId{stack},
                                               .kind = model::SampleKind::Event,
                                               .correlationId = correlation}));
  }
  void place() { EXPECT_TRUE(placeEventStacks(writer_.database())); }

  Id stackOf(model::SliceId slice) {
    auto row = *writer_.database().prepare("SELECT stack_id FROM slice WHERE id = ?1");
    row.bind(1, slice);
    EXPECT_TRUE(*row.step());
    return row.optionalInteger(0);
  }

  TraceWriter writer_;
};

TEST_F(EventStacks, AWaitHasTheNearestOfItsThread) {
  const auto wait = slice(model::SliceKind::Wait, 10'000);
  const auto late = slice(model::SliceKind::Wait, 20'000);
  stackAt(10'300, 1);
  stackAt(9'900, 2);
  stackAt(10'000, 3, {}, 2);
  stackAt(20'501, 4);
  place();
  EXPECT_EQ(stackOf(wait), 2);
  EXPECT_EQ(stackOf(late), std::nullopt) << "more than 500 ns away";
}

TEST_F(EventStacks, ACallHasThatOfItsNumberAtAboutItsTime) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const auto first = slice(model::SliceKind::Api, 10'000, 7);
  const auto again = slice(model::SliceKind::Api, 5 * kSecond, 7);
  const auto other = slice(model::SliceKind::Api, 20 * kSecond, 7);
  stackAt(40'000, 1, 7);
  stackAt(5 * kSecond - 20'000, 2, 7);
  place();
  EXPECT_EQ(stackOf(first), 1);
  EXPECT_EQ(stackOf(again), 2);
  EXPECT_EQ(stackOf(other), std::nullopt);
}

TEST_F(EventStacks, ThatOfACallIsNoWaits) {
  const auto wait = slice(model::SliceKind::Wait, 10'000);
  const auto call = slice(model::SliceKind::Api, 10'000);
  stackAt(10'000, 1, 7);
  place();
  EXPECT_EQ(stackOf(wait), std::nullopt);
  EXPECT_EQ(stackOf(call), std::nullopt) << "a call without a number";
}

TEST_F(EventStacks, StayWhereTheyAre) {
  const auto wait = slice(model::SliceKind::Wait, 10'000);
  stackAt(10'100, 1);
  place();
  stackAt(10'000, 2);
  place();
  EXPECT_EQ(stackOf(wait), 1);
}

TEST_F(EventStacks, MemoryOfADeviceHasThatOfTheCallThatGaveIt) {
  const auto call = slice(model::SliceKind::Api, 10'000, 7);
  stackAt(10'000, 3, 7);
  model::Allocation memory;
  memory.processId = model::ProcessId{1};
  memory.sliceId = call;
  memory.allocator = model::Allocator::Cuda;
  memory.address = 4096;
  memory.bytes = 1;
  memory.allocNs = 10'000;
  EXPECT_TRUE(writer_.add(memory));
  place();
  EXPECT_EQ(*writer_.database().queryInteger("SELECT stack_id FROM allocation"), 3);
}

}  // namespace
}  // namespace sonde::store
