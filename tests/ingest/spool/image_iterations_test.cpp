// The iteration that a value or an amount of work belongs to.
#include "collector/wire/iteration_keys.h"
#include "tests/support/ingest_rig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::ingest {
namespace {

using test::IngestRig;
using test::SpoolBuilder;
using testing::ElementsAre;
using wire::RecordKind;
using wire::SliceKind;

constexpr const char* kScalars =
    "SELECT text, iteration FROM scalar JOIN string ON string.id = name_id ORDER BY scalar.rowid";

struct Program {
  SpoolBuilder spool;

  void scalar(std::uint32_t thread, std::uint64_t ticks, const char* name) {
    wire::Scalar record{};
    record.header.subject = spool.string(name);
    record.ticks = ticks;
    spool.add(thread, RecordKind::Scalar, record);
  }
  void info(std::uint32_t thread, std::uint64_t ticks, std::uint64_t samples) {
    wire::IterationInfo record{};
    record.ticks = ticks;
    record.samples = samples;
    spool.add(thread, RecordKind::IterationInfo, record);
  }
  void iteration(std::uint32_t thread, std::uint64_t fromTicks, std::uint64_t toTicks) {
    spool.end(thread, spool.begin(thread, SliceKind::Iteration, "iteration", fromTicks), toTicks);
  }
};

TEST(ImageBuilder, BetweenIterationsValuesAndWorkAreOfTheOneThatEndedLast) {
  Program program;
  program.info(0, 40, 1);  // there is no iteration yet
  program.scalar(0, 50, "none");
  program.iteration(0, 100, 200);
  program.scalar(0, 210, "first");
  program.info(0, 220, 32);
  program.iteration(1, 300, 400);  // of another thread, read later
  program.scalar(0, 410, "still the first");
  program.scalar(1, 420, "the other thread's");
  program.scalar(2, 430, "none: a thread without iterations");
  program.iteration(0, 500, 600);
  program.scalar(0, 450, "of its time");
  IngestRig rig;
  rig.ingest(program.spool);
  EXPECT_THAT(rig.rows(kScalars),
              ElementsAre("none|-",
                          "first|0",
                          "still the first|0",
                          "of its time|0",
                          "the other thread's|2",
                          "none: a thread without iterations|-"));
  EXPECT_THAT(rig.rows("SELECT number, samples FROM iteration"), ElementsAre("0|32", "1|-", "2|-"));
  EXPECT_THAT(rig.rows("SELECT probe, kind, count, reason FROM loss"),
              ElementsAre("annotation|iteration info|1|no iteration"));
}

// The torch probe begins an iteration as soon as the one before has ended.
TEST(ImageBuilder, WhatFollowsAStepBelongsToItUntilSomethingOfTheNextBegins) {
  Program program;
  const auto torch = [&](std::uint64_t ticks, SliceKind kind = SliceKind::Iteration) {
    return program.spool.begin(0, kind, "torch", ticks, wire::Probe::Torch);
  };
  const auto first = torch(100);
  program.scalar(0, 105, "before the first event");
  program.spool.end(0, torch(110, SliceKind::Forward), 120);
  program.scalar(0, 130, "inside");
  program.spool.end(0, first, 200);
  const auto second = torch(200);
  const auto micro = torch(200, SliceKind::MicroStep);
  program.scalar(0, 210, "after the step");
  program.info(0, 215, 32);
  program.spool.end(0, torch(220, SliceKind::Checkpoint), 230);
  program.scalar(0, 240, "after the checkpoint");
  const auto rollout = program.spool.begin(0, SliceKind::Operation, "rollout", 250);
  program.scalar(0, 260, "in the next");
  program.info(0, 265, 64);
  program.spool.end(0, rollout, 270);
  program.spool.end(0, micro, 290);
  program.spool.end(0, second, 300);
  const auto third = torch(300);
  program.scalar(0, 310, "after the last step");
  program.spool.argInt(0, third, SONDE_ITERATION_COMPLETE, 0);
  program.spool.end(0, third, 320);
  IngestRig rig;
  rig.ingest(program.spool);
  EXPECT_THAT(rig.rows(kScalars),
              ElementsAre("before the first event|0",
                          "inside|0",
                          "after the step|0",
                          "after the checkpoint|0",
                          "in the next|1",
                          "after the last step|1"));
  EXPECT_THAT(rig.rows("SELECT number, samples FROM iteration"), ElementsAre("0|32", "1|64"));
}

TEST(ImageBuilder, AnIterationOfTheProgramHasItsValuesFromItsBegin) {
  Program program;
  program.iteration(0, 100, 200);
  const auto second = program.spool.begin(0, SliceKind::Iteration, "iteration", 200);
  program.scalar(0, 210, "second");
  program.spool.end(0, second, 300);
  IngestRig rig;
  rig.ingest(program.spool);
  EXPECT_THAT(rig.rows(kScalars), ElementsAre("second|1"));
}

TEST(ImageBuilder, AValueToldLateIsOfTheIterationOfItsTime) {
  Program program;
  program.iteration(0, 10, 20);
  const auto outer = program.spool.begin(0, SliceKind::Iteration, "epoch", 100);
  const auto inner = program.spool.begin(0, SliceKind::Iteration, "step", 300);
  program.scalar(0, 200, "outer");
  program.scalar(0, 310, "inner");
  program.spool.end(0, inner, 400);
  program.spool.end(0, outer, 500);
  IngestRig rig;
  rig.ingest(program.spool);
  EXPECT_THAT(rig.rows(kScalars), ElementsAre("outer|1", "inner|2"));
}

TEST(ImageBuilder, AThreadsLastIterationIsKnownHoweverManyOthersHave) {
  Program program;
  program.iteration(0, 10, 20);
  for (std::uint64_t i = 1; i < 200; ++i)
    program.iteration(1, 100 * i, 100 * i + 50);
  program.spool.openSlot(0);
  program.scalar(0, 30'000, "the first");
  IngestRig rig;
  rig.ingest(program.spool);
  EXPECT_THAT(rig.rows(kScalars), ElementsAre("the first|0"));
}

}  // namespace
}  // namespace sonde::ingest
