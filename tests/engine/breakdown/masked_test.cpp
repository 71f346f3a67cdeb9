// Times that a breakdown leaves out because they were recorded in part.
#include "analysis/engine/breakdown/breakdown.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

#include <string>

namespace sonde::engine::breakdown {
namespace {

using model::SliceKind;
using test::must;

// annotation, torch and io: bits 0, 2 and 9.
constexpr std::int64_t kAll = 0b10'0000'0101;
constexpr std::int64_t kWithoutTorch = 0b10'0000'0001;

// Processes that are there from 0 to 1000.
class MaskedBreakdown : public ::testing::Test {
 protected:
  MaskedBreakdown() {
    host_ = trace_.add(model::Host{.name = "h", .bootId = "b"});
    process_ = process({});
  }

  model::ProcessId process(model::ProcessId parent) {
    const auto id = trace_.add(model::Process{.hostId = host_,
                                              .pid = ++pid_,
                                              .parentId = parent,
                                              .command = "train",
                                              .startNs = 0,
                                              .endNs = 1000});
    const auto main = trace_.add(model::Thread{.processId = id, .tid = pid_});
    trace_.slice(main, SliceKind::Operation, "all", {0, 1000}, {}, "annotation");
    main_ = main;
    return id;
  }
  // One after the other, each for 100 ns.
  void iterations(const std::vector<std::int64_t>& masks) {
    for (std::size_t at = 0; at < masks.size(); ++at)
      trace_.add(model::Iteration{.processId = process_,
                                  .number = static_cast<std::int64_t>(at),
                                  .startNs = static_cast<std::int64_t>(at) * 100,
                                  .durNs = 100,
                                  .probeMask = masks[at]});
  }
  std::int64_t maskedNs() {
    trace_.finish();
    const auto trace = must(store::openTrace(path_));
    const Breakdown found = must(breakDown(trace, {.by = {.operation = true}}));
    EXPECT_EQ(found.totalNs + found.maskedNs, 1000 * pid_);
    return found.maskedNs;
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "t.sonde";
  test::TraceBuilder trace_{path_};
  model::HostId host_;
  model::ProcessId process_;
  model::ThreadId main_;  // of the last process
  std::int64_t pid_ = 0;
};

TEST_F(MaskedBreakdown, LeavesOutTheFirstIterationWithAllProbesAgain) {
  trace_.meta("sources", "annotation,torch,io");
  iterations({kAll, kWithoutTorch, kWithoutTorch, kAll, kAll});
  EXPECT_EQ(maskedNs(), 300);
}

TEST_F(MaskedBreakdown, NothingWasSwitchedAfterAnOutline) {
  trace_.meta("sources", "annotation,torch,io");
  iterations({kAll, 0, 0, kAll, kAll});
  EXPECT_EQ(maskedNs(), 200);
}

// A lost end must not extend an iteration over all that follows.
TEST_F(MaskedBreakdown, AnIterationWhoseEndWasLostEndsWhereItCanHaveEndedAtTheLatest) {
  trace_.meta("sources", "annotation,torch,io");
  const auto slice = trace_.slice(main_, SliceKind::Iteration, "lost", {100, 200}, {}, "torch");
  trace_.add(model::Arg{
      model::Owner::Slice, slice.value, trace_.name(model::kAtMostKey), std::int64_t{150}});
  trace_.add(model::Iteration{
      .processId = process_, .number = 7, .startNs = 100, .probeMask = 0, .sliceId = slice});
  iterations({kAll});
  EXPECT_EQ(maskedNs(), 150);
}

// The mask is not compared as a number: none of these had all probes.
TEST_F(MaskedBreakdown, ManyProbesAreNotALargeNumber) {
  iterations({0b1000'0001, 0b1000'0001, 0b111});
  EXPECT_EQ(maskedNs(), 300);
}

// As in a trace that was trimmed to a block without a probe.
TEST_F(MaskedBreakdown, WhatTheRunWasAskedForDecidesAndNotWhatIsThere) {
  trace_.meta("sources", "annotation,torch,io");
  iterations({kWithoutTorch, kWithoutTorch});
  EXPECT_EQ(maskedNs(), 200);
}

TEST_F(MaskedBreakdown, OfSeveralRunsEachProcessGoesByItsOwn) {
  trace_.meta("sources", "annotation,torch,io and annotation,io");
  iterations({kWithoutTorch, kWithoutTorch});
  EXPECT_EQ(maskedNs(), 0);
}

TEST_F(MaskedBreakdown, AProcessWithoutIterationsIsLeftOutWithTheOneThatStartedIt) {
  trace_.meta("sources", "annotation,torch,io");
  process(process(process_));
  iterations({kAll, kWithoutTorch, kAll, kAll});
  EXPECT_EQ(maskedNs(), 3 * 200);
}

TEST_F(MaskedBreakdown, ProcessesThatAreEachOthersParentsInheritNothing) {
  trace_.add(model::Process{.id = model::ProcessId{77},
                            .hostId = host_,
                            .pid = 77,
                            .parentId = model::ProcessId{78},
                            .command = "a"});
  trace_.add(model::Process{.id = model::ProcessId{78},
                            .hostId = host_,
                            .pid = 78,
                            .parentId = model::ProcessId{77},
                            .command = "b"});
  iterations({kAll, kAll});
  EXPECT_EQ(maskedNs(), 0);
}

}  // namespace
}  // namespace sonde::engine::breakdown
