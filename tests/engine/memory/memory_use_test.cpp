// Memory by process, place and allocator, of recordings and of torch.profiler's marks.
#include "analysis/engine/memory/memory_use.h"

#include "analysis/engine/memory/reserved_memory.h"
#include "tests/support/device_trace.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

namespace sonde::engine::metrics {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

//   ns       0    10   20   30   40   50   60   70   80   90  100
//   step     |------------------------------------------------|
//   forward       |--------------|
//   linear          |----|
//   backward                          |-------------|
//   a 100             |-----------------------------|             in linear
//   b  50                    |--------------------------- …       in forward
//   c 400                                |----|                   in backward
class MemoryUses : public test::DeviceTrace {
 protected:
  void writeStep() {
    one_ = rank(0);
    const auto step = trace_->slice(one_.thread, model::SliceKind::Iteration, "step", {0, 100});
    trace_->add(model::Iteration{
        .processId = one_.process, .number = 7, .startNs = 0, .durNs = 100, .sliceId = step});
    forward_ = trace_->slice(one_.thread, model::SliceKind::Forward, "forward", {10, 40}, step);
    linear_ = trace_->slice(one_.thread, model::SliceKind::Module, "linear", {14, 24}, forward_);
    backward_ = trace_->slice(one_.thread, model::SliceKind::Backward, "backward", {50, 78}, step);
  }
  void block(model::Allocator allocator,
             std::int64_t bytes,
             Span time,
             model::SliceId scope,
             model::DeviceId device = {},
             model::StackId stack = {}) {
    trace_->add(model::Allocation{
        .processId = one_.process,
        .deviceId = device,
        .allocator = allocator,
        .address = next_++ * 4096,
        .bytes = bytes,
        .allocNs = time.first,
        .freeNs = time.second < 0 ? model::OptionalInt() : model::OptionalInt(time.second),
        .scopeId = scope,
        .stackId = stack});
  }
  model::StackId frame(model::FrameKind kind, const char* name, int line, model::StackId caller) {
    const auto id = trace_->add(model::Frame{.kind = kind,
                                             .nameId = trace_->name(name),
                                             .pathId = trace_->name("/home/me/train.py"),
                                             .line = line});
    return trace_->add(model::Stack{.parentId = caller, .frameId = id});
  }
  void mark(std::int64_t ns, std::string_view json, model::SliceId scope = {}) {
    const auto id = trace_->slice(one_.thread, model::SliceKind::Mark, "[memory]", {ns, ns}, scope);
    trace_->add(model::Arg{.owner = model::Owner::Slice,
                           .ownerId = id.value,
                           .keyId = trace_->name("args"),
                           .value = json});
  }
  std::vector<MemoryUse> read() { return usesOf(open()); }
  static std::vector<MemoryUse> usesOf(const store::Database& trace,
                                       const std::optional<Interval>& within = {}) {
    const auto ranks = test::must(readRanks(trace));
    return test::must(memoryUses(trace, ranks, within));
  }
  static const MemoryOperation& operation(const MemoryUse& use, std::string_view name) {
    const auto found = std::find_if(use.operations.begin(),
                                    use.operations.end(),
                                    [&](const MemoryOperation& each) { return each.name == name; });
    EXPECT_NE(found, use.operations.end()) << name;
    return found == use.operations.end() ? use.operations.front() : *found;
  }

  Rank one_;
  model::SliceId forward_, linear_, backward_;
  std::int64_t next_ = 1;
};

TEST_F(MemoryUses, OfARangeAreThoseInIt) {
  writeStep();
  block(model::Allocator::Torch, 100, {18, 78}, linear_);
  block(model::Allocator::Torch, 50, {30, -1}, forward_);
  block(model::Allocator::Torch, 400, {56, 66}, backward_);
  const store::Database trace = open();
  const MemoryUse use = usesOf(trace, Interval{20, 56}).at(0);
  EXPECT_EQ(use.peak, (MemoryLevel{30, 150}));
  EXPECT_THAT(use.series,
              ElementsAre(MemoryLevel{20, 100}, MemoryLevel{30, 150}, MemoryLevel{56, 150}));
  EXPECT_EQ(use.endBytes, 150);
  EXPECT_EQ(use.blocks, 1);
  EXPECT_EQ(use.allocatedBytes, 50);
  ASSERT_THAT(use.holders, SizeIs(2));
  EXPECT_EQ(operation(use, "backward").peakBytes, 150) << "its first 6 ns";
  EXPECT_EQ(operation(use, "forward").blocks, 1);
  EXPECT_EQ(operation(use, "step").freedBytes, 0);
  EXPECT_THAT(use.operations, SizeIs(3)) << "linear allocated nothing then";
  const MemoryUse late = usesOf(trace, Interval{80, 90}).at(0);
  EXPECT_EQ(late.peak, (MemoryLevel{80, 50}));
  EXPECT_EQ(late.blocks, 0);
  EXPECT_THAT(late.operations, SizeIs(1)) << "of the step";
}

TEST_F(MemoryUses, HaveThePeakWithWhoHoldsIt) {
  writeStep();
  block(model::Allocator::Torch, 100, {18, 78}, linear_);
  block(model::Allocator::Torch, 50, {30, -1}, forward_);
  block(model::Allocator::Torch, 400, {56, 66}, backward_);
  const std::vector<MemoryUse> uses = read();
  ASSERT_THAT(uses, SizeIs(1));
  const MemoryUse& use = uses[0];
  EXPECT_EQ(use.rank, 0);
  EXPECT_EQ(use.place, "host");
  EXPECT_EQ(use.allocator, "torch");
  EXPECT_EQ(use.peak, (MemoryLevel{56, 550}));
  EXPECT_EQ(use.peakIteration, 7);
  EXPECT_EQ(use.allocatedBytes, 550);
  EXPECT_EQ(use.endBytes, 50);
  EXPECT_EQ(use.sampledPeakBytes, std::nullopt);
  EXPECT_THAT(use.series,
              ElementsAre(MemoryLevel{18, 100},
                          MemoryLevel{30, 150},
                          MemoryLevel{56, 550},
                          MemoryLevel{66, 150},
                          MemoryLevel{78, 50}));
  ASSERT_THAT(use.holders, SizeIs(3));
  EXPECT_EQ(use.holders[0].operation, "backward");
  EXPECT_EQ(use.holders[0].bytes, 400);
  EXPECT_EQ(use.holders[1].operation, "forward");
  EXPECT_EQ(use.holders[1].operationKind, "forward");
  EXPECT_EQ(use.holders[1].scopeKind, "module");
  EXPECT_EQ(use.holders[1].scope, "linear");
  EXPECT_EQ(use.holders[1].bytes, 100);
  EXPECT_EQ(use.holders[2].scope, "forward");
}

TEST_F(MemoryUses, AtThePeakAreNotWhatWasFreedBefore) {
  writeStep();
  block(model::Allocator::Torch, 100, {10, 20}, forward_);
  block(model::Allocator::Torch, 200, {60, 70}, backward_);
  const std::vector<MemoryUse> uses = read();
  ASSERT_THAT(uses, SizeIs(1));
  ASSERT_THAT(uses[0].holders, SizeIs(1));
  EXPECT_EQ(uses[0].holders[0].bytes, 200);
}

TEST_F(MemoryUses, AreThoseOfEachOperation) {
  writeStep();
  block(model::Allocator::Torch, 100, {18, 78}, linear_);
  block(model::Allocator::Torch, 50, {30, -1}, forward_);
  block(model::Allocator::Torch, 400, {56, 66}, backward_);
  const std::vector<MemoryUse> uses = read();
  ASSERT_THAT(uses, SizeIs(1));
  const MemoryOperation& forward = operation(uses[0], "forward");
  EXPECT_EQ(forward.count, 1);
  EXPECT_EQ(forward.peakBytes, 150);
  EXPECT_EQ(forward.blocks, 2);
  EXPECT_EQ(forward.allocatedBytes, 150);
  EXPECT_EQ(forward.keptBytes, 150);
  EXPECT_EQ(forward.freedBytes, 0);
  const MemoryOperation& backward = operation(uses[0], "backward");
  EXPECT_EQ(backward.peakBytes, 550);
  EXPECT_EQ(backward.allocatedBytes, 400);
  EXPECT_EQ(backward.keptBytes, 0);
  EXPECT_EQ(backward.freedBytes, 400);  // at its end `a` is freed
  const MemoryOperation& linear = operation(uses[0], "linear");
  EXPECT_EQ(linear.peakBytes, 100);
  EXPECT_EQ(linear.keptBytes, 100);
  const MemoryOperation& step = operation(uses[0], "step");
  EXPECT_EQ(step.allocatedBytes, 550);
  EXPECT_EQ(step.keptBytes, 50);
  EXPECT_EQ(step.freedBytes, 500);
}

TEST_F(MemoryUses, OfAnOperationWithinItselfCountOnce) {
  writeStep();
  const auto inner =
      trace_->slice(one_.thread, model::SliceKind::Module, "linear", {15, 20}, linear_);
  block(model::Allocator::Torch, 100, {16, 18}, inner);
  const std::vector<MemoryUse> uses = read();
  ASSERT_THAT(uses, SizeIs(1));
  const MemoryOperation& linear = operation(uses[0], "linear");
  EXPECT_EQ(linear.count, 2);
  EXPECT_EQ(linear.blocks, 1);
  EXPECT_EQ(linear.allocatedBytes, 100);
  EXPECT_EQ(linear.freedBytes, 100);
}

TEST_F(MemoryUses, AreApartByPlaceAndAllocator) {
  writeStep();
  block(model::Allocator::Torch, 1, {1, 2}, {});
  block(model::Allocator::Malloc, 2, {1, 2}, {});
  block(model::Allocator::Cuda, 3, {1, 2}, {}, one_.device);
  const auto counter = trace_->add(model::Counter{.hostId = host_,
                                                  .deviceId = one_.device,
                                                  .nameId = trace_->name("GPU memory used"),
                                                  .unit = "bytes"});
  trace_->add(model::Sample{counter, 1, 500});
  trace_->add(model::Sample{counter, 2, 900});
  const std::vector<MemoryUse> uses = read();
  ASSERT_THAT(uses, SizeIs(3));
  EXPECT_EQ(std::count_if(uses.begin(),
                          uses.end(),
                          [](const MemoryUse& use) {
                            return use.place == "gpu 0" && use.allocator == "cuda" &&
                                   use.peak.bytes == 3 && use.sampledPeakBytes == 900;
                          }),
            1);
  EXPECT_THAT(uses[0].holders, SizeIs(1));
  EXPECT_EQ(uses[0].holders[0].scope, "");  // unknown
}

TEST_F(MemoryUses, HaveHoldersAtAnyInstantByScopeAndCode) {
  writeStep();
  const auto main = frame(model::FrameKind::Python, "main", 3, {});
  const auto step = frame(model::FrameKind::Python, "step", 9, main);
  const auto inner = frame(
      model::FrameKind::Native, "alloc", 1, frame(model::FrameKind::Native, "empty", 1, step));
  const auto native =
      frame(model::FrameKind::Native, "alloc", 1, frame(model::FrameKind::Native, "start", 1, {}));
  block(model::Allocator::Torch, 100, {18, 78}, linear_, {}, inner);
  block(model::Allocator::Torch, 30, {19, 78}, linear_, {}, native);
  block(model::Allocator::Torch, 20, {20, 78}, linear_, {}, inner);
  block(model::Allocator::Torch, 400, {56, 66}, backward_);
  const store::Database trace = open();
  const MemoryPlace place{one_.process.value, {}, "host", "torch"};
  const auto early = test::must(memoryHolders(trace, place, 30));
  ASSERT_THAT(early, SizeIs(2));
  EXPECT_EQ(early[0].site, "step (train.py:9)");
  EXPECT_EQ(early[0].bytes, 120);
  EXPECT_EQ(early[0].blocks, 2);
  EXPECT_EQ(early[0].scope, "linear");
  EXPECT_EQ(early[0].operation, "forward");
  EXPECT_EQ(early[1].site, "start");
  const auto late = test::must(memoryHolders(trace, place, 60));
  ASSERT_THAT(late, SizeIs(3));
  EXPECT_EQ(late[0].operation, "backward");
  EXPECT_EQ(late[0].site, "");
  EXPECT_THAT(test::must(memoryHolders(trace, {99, {}, "host", "torch"}, 60)), IsEmpty());
}

TEST_F(MemoryUses, HaveTheReservedBytesOverTime) {
  writeStep();
  const auto counter = trace_->add(model::Counter{.hostId = host_,
                                                  .processId = one_.process,
                                                  .deviceId = one_.device,
                                                  .nameId = trace_->name(kReservedCounter),
                                                  .unit = "bytes"});
  trace_->add(model::Sample{counter, 5, 500});
  trace_->add(model::Sample{counter, 9, 700});
  const auto levels = test::must(reservedLevels(open(), 10));
  ASSERT_THAT(levels, SizeIs(1));
  EXPECT_EQ(levels.begin()->first.second, "gpu 0");
  EXPECT_THAT(levels.begin()->second, ElementsAre(MemoryLevel{5, 500}, MemoryLevel{9, 700}));
}

TEST_F(MemoryUses, OfTorchProfilersMarksBeginWithWhatWasHeldBefore) {
  writeStep();
  stream(one_, 7);  // names the device that marks identify by number
  const auto event = [](std::int64_t address, std::int64_t bytes, std::int64_t total) {
    return fmt::format(R"({{"Total Allocated": {}, "Bytes": {}, "Addr": {}, "Device Id": 0,)"
                       R"( "Device Type": 1}})",
                       total,
                       bytes,
                       address);
  };
  mark(15, event(16, 100, 1100), linear_);
  mark(20, event(32, -300, 800));  // held before the first mark
  mark(25, event(16, -100, 700));
  mark(30, event(16, 50, 750), forward_);
  mark(35, R"({"Total Allocated": 8, "Bytes": 8, "Addr": 1, "Device Id": -1, "Device Type": 0})");
  mark(36, "no JSON");
  const std::vector<MemoryUse> uses = read();
  ASSERT_THAT(uses, SizeIs(2));
  const MemoryUse& gpu = uses[0].place == "gpu 0" ? uses[0] : uses[1];
  const MemoryUse& host = uses[0].place == "gpu 0" ? uses[1] : uses[0];
  EXPECT_EQ(gpu.allocator, "torch");
  EXPECT_THAT(
      gpu.series,
      ElementsAre(
          MemoryLevel{15, 1100}, MemoryLevel{20, 800}, MemoryLevel{25, 700}, MemoryLevel{30, 750}));
  EXPECT_EQ(gpu.baseBytes, 700);
  EXPECT_EQ(gpu.peak.bytes, 1100);
  EXPECT_EQ(gpu.holders[0].bytes, 300);
  EXPECT_EQ(gpu.holders[1].scope, "linear");
  EXPECT_EQ(host.place, "host");
  EXPECT_EQ(host.peak.bytes, 8);
}

TEST_F(MemoryUses, AreNoneWhereNothingWasRecorded) {
  writeStep();
  EXPECT_THAT(read(), IsEmpty());
}

}  // namespace
}  // namespace sonde::engine::metrics
