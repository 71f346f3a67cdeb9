#include "analysis/engine/trim/trim.h"

#include "analysis/engine/breakdown/breakdown.h"
#include "analysis/engine/merge/merge.h"
#include "analysis/engine/metrics/run_facts.h"
#include "analysis/store/statement.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sonde::engine::trim {
namespace {

using test::kMs;
using test::must;
using ::testing::HasSubstr;

class Trim : public ::testing::Test {
 protected:
  Trim() : input_(folder_ / "in.sonde"), output_(folder_ / "out.sonde") {}

  std::int64_t number(const std::string& sql) {
    return must(must(store::openTrace(output_)).queryInteger(sql));
  }

  test::TemporaryFolder folder_;
  std::string input_;
  std::string output_;
};

TEST_F(Trim, KeepsWhatOverlapsTheIterations) {
  test::writeTrainingRun(input_, {});
  must(trim({input_, output_, 10, 12, false}));
  EXPECT_EQ(number("SELECT min(number) * 100 + max(number) FROM iteration"), 1012);
  EXPECT_EQ(number("SELECT count(*) FROM slice WHERE kind = 'iteration'"), 3);
  EXPECT_EQ(number("SELECT count(*) FROM slice"), 3 * 7);
  EXPECT_EQ(number("SELECT count(*) FROM collective"), 6);
  EXPECT_EQ(number("SELECT count(*) FROM transfer"), 12);
  EXPECT_EQ(number("SELECT count(*) FROM scalar"), 3);
  EXPECT_EQ(number("SELECT count(*) FROM pragma_foreign_key_check()"), 0);
  EXPECT_EQ(must(must(store::openTrace(output_)).queryText("PRAGMA integrity_check")), "ok");
  EXPECT_EQ(number("SELECT count(*) FROM meta WHERE key = 'finished'"), 1);
  EXPECT_GT(number("SELECT count(*) FROM line"), 0);
  EXPECT_LT(std::filesystem::file_size(output_), std::filesystem::file_size(input_));
}

TEST_F(Trim, KeepsWhatOverlapsATime) {
  test::writeTrainingRun(input_, {});
  const auto input = must(store::openTrace(input_));
  const std::string origin =
      must(input.queryText("SELECT value FROM meta WHERE key = 'origin_ns'"));
  // From within iteration 4 to within iteration 6.
  const auto middle = [&](int iteration) {
    return must(input.queryInteger(fmt::format(
        "SELECT start_ns + dur_ns / 2 - {} FROM iteration WHERE number = {}", origin, iteration)));
  };
  const std::int64_t begin = middle(4);
  const std::int64_t end = middle(6);
  const std::int64_t expected = must(input.queryInteger(fmt::format(
      "SELECT count(*) FROM transfer WHERE start_ns - {0} < {2} AND start_ns + dur_ns - {0} > {1}",
      origin,
      begin,
      end)));
  ASSERT_GT(expected, 0);
  must(trim({.input = input_, .output = output_, .time = KeptTime{begin, end}}));
  EXPECT_EQ(number("SELECT count(*) FROM transfer"), expected);
  EXPECT_EQ(number("SELECT count(*) FROM iteration"),
            must(input.queryInteger(fmt::format("SELECT count(*) FROM iteration WHERE start_ns - "
                                                "{0} < {2} AND start_ns + dur_ns - {0} > {1}",
                                                origin,
                                                begin,
                                                end))));
  EXPECT_EQ(number("SELECT count(*) FROM pragma_foreign_key_check()"), 0);
  EXPECT_FALSE(
      trim({.input = input_, .output = output_, .overwrite = true, .time = KeptTime{5, 5}}));
}

TEST_F(Trim, KeepsHandoffsOfTheIterationsWithTheirWakers) {
  test::TraceBuilder trace(input_);
  model::Process process;
  process.hostId = trace.add(model::Host{.name = "h"});
  const auto rank = trace.add(process);
  const auto main = trace.add(model::Thread{.processId = rank, .tid = 1});
  const auto other = trace.add(model::Thread{.processId = rank, .tid = 2});
  for (int i = 0; i < 3; ++i) {
    model::Iteration iteration;
    iteration.processId = rank;
    iteration.number = i;
    iteration.startNs = i * 10 * kMs;
    iteration.durNs = 10 * kMs;
    trace.add(iteration);
    trace.handoff(main, other, {iteration.startNs + kMs, iteration.startNs + 2 * kMs});
  }
  trace.finish();
  must(trim({input_, output_, 1, 1, false}));
  EXPECT_EQ(number("SELECT count(*) FROM handoff"), 1);
  EXPECT_EQ(number("SELECT block_ns FROM v_handoff WHERE waker_tid = 1 AND wakee_tid = 2"),
            11 * kMs);
}

// A phase around all of it, and the process itself, extend before and after.
TEST_F(Trim, TimesOfWhatWasKeptAreWithoutWhatWasCut) {
  test::TraceBuilder trace(input_);
  const auto host = trace.add(model::Host{.name = "h", .bootId = "b"});
  const auto rank =
      trace.add(model::Process{.hostId = host, .pid = 1, .startNs = 0, .endNs = 100 * kMs});
  const auto helper =
      trace.add(model::Process{.hostId = host, .pid = 2, .startNs = 0, .endNs = 100 * kMs});
  const auto main = trace.add(model::Thread{.processId = rank, .tid = 1});
  const auto other = trace.add(model::Thread{.processId = helper, .tid = 2});
  const auto phase = trace.slice(main, model::SliceKind::Phase, "train", {kMs, 90 * kMs});
  trace.slice(other, model::SliceKind::Operation, "load", {2 * kMs, 80 * kMs});
  for (int i = 0; i < 5; ++i) {
    const auto slice = trace.slice(main,
                                   model::SliceKind::Operation,
                                   "step",
                                   {(20 + i * 10) * kMs, (30 + i * 10) * kMs},
                                   phase);
    trace.add(model::Iteration{.processId = rank,
                               .number = i,
                               .startNs = (20 + i * 10) * kMs,
                               .durNs = 10 * kMs,
                               .sliceId = slice});
  }
  trace.finish();
  must(trim({input_, output_, 1, 2, false}));
  const store::Database trimmed = must(store::openTrace(output_));
  breakdown::Options options;
  options.by.process = options.by.operation = true;
  const breakdown::Breakdown kept = must(breakdown::breakDown(trimmed, options));
  ASSERT_EQ(kept.rows.size(), 2U);
  for (const breakdown::Row& row : kept.rows)
    EXPECT_EQ(row.ns, 20 * kMs) << row.group.operations.front();
  options.by = {.thread = true};
  for (const breakdown::Row& row : must(breakdown::breakDown(trimmed, options)).rows)
    EXPECT_EQ(row.ns, 20 * kMs);
  EXPECT_EQ(must(metrics::readFacts(trimmed)).wallNs, 20 * kMs);
  EXPECT_EQ(must(metrics::readFacts(trimmed)).runNs, 100 * kMs);
}

// By rank and operation.
using Times = std::map<std::pair<std::int64_t, std::vector<std::string>>, std::int64_t>;

Times timesOf(const store::Database& trace) {
  breakdown::Options options;
  options.by.process = options.by.operation = true;
  const breakdown::Breakdown found = must(breakdown::breakDown(trace, options));
  Times times;
  for (const breakdown::ProcessTotal& process : found.processes)
    for (const breakdown::Row& row : found.rows)
      if (row.group.processId == process.id)
        times[{process.rank.value_or(-1), row.group.operations}] += row.ns;
  return times;
}

// Each alone, and two merges one after the other; the second has times with another origin.
TEST_F(Trim, BesideOneThatIsWholeNothingOfThatIsCut) {
  const auto write = [&](std::int64_t rank) {
    test::TrainingRun run;
    run.rank = rank;
    run.worldSize = 3;
    run.epochNs += 1000 * kMs * rank;
    run.beginNs += 1000 * kMs * rank;
    std::string path = folder_ / fmt::format("rank{}.sonde", rank);
    test::writeTrainingRun(path, run);
    return path;
  };
  const std::vector<std::string> ranks = {write(0), write(1), write(2)};
  must(trim({ranks[2], output_, 10, 12, false}));
  Times expected;
  for (const std::string& path : {ranks[0], ranks[1], output_})
    expected.merge(timesOf(must(store::openTrace(path))));
  int ofTheThird = 0;
  for (const auto& [of, ns] : expected)
    if (of.first == 2) {
      EXPECT_LT(ns, expected.at({0, of.second})) << "of three iterations";
      ++ofTheThird;
    }
  EXPECT_GT(ofTheThird, 0);
  const std::string pair = folder_ / "pair.sonde";
  const std::string job = folder_ / "job.sonde";
  must(merge::merge({{ranks[1], output_}, pair, false}));
  must(merge::merge({{ranks[0], pair}, job, false}));
  EXPECT_EQ(timesOf(must(store::openTrace(job))), expected);
  const auto facts = must(metrics::readFacts(must(store::openTrace(job))));
  EXPECT_EQ(facts.wallNs, facts.runNs) << "that of the whole ones";
}

TEST_F(Trim, ClosesReferencesAndArgumentsOverWhatItCut) {
  test::TraceBuilder trace(input_);
  model::Host host;
  host.name = "h";
  model::Process process;
  process.hostId = trace.add(host);
  process.rank = 0;
  const auto rank = trace.add(process);
  model::Thread thread;
  thread.processId = rank;
  const auto main = trace.add(thread);
  const auto other = trace.add(thread);
  // A phase around everything, three iterations of 10 ms in it.
  const auto phase = trace.slice(main, model::SliceKind::Phase, "train", {0, 40 * kMs});
  for (int i = 0; i < 3; ++i) {
    model::Iteration iteration;
    iteration.processId = rank;
    iteration.number = i;
    iteration.startNs = i * 10 * kMs;
    iteration.durNs = 10 * kMs;
    iteration.sliceId = trace.slice(
        main, model::SliceKind::Iteration, "iteration", {i * 10 * kMs, (i + 1) * 10 * kMs}, phase);
    trace.add(iteration);
    trace.add(model::Arg{
        model::Owner::Slice, iteration.sliceId.value, trace.name("number"), std::int64_t{i}});
  }
  // Its end was lost in the first iteration.
  const auto lost = trace.slice(main, model::SliceKind::Operation, "lost", {5 * kMs, 6 * kMs});
  trace.add(model::Arg{
      model::Owner::Slice, lost.value, trace.name(model::kAtMostKey), std::int64_t{3 * kMs}});
  must(trace.writer().database().exec(
      fmt::format("UPDATE slice SET dur_ns = NULL WHERE id = {}", lost.value)));
  // An inherited scope that ended before the slice that has it: kept, though it lies outside.
  const auto scope =
      trace.slice(main, model::SliceKind::Backward, "backward", {2 * kMs, 4 * kMs}, phase);
  model::Slice late;
  late.threadId = other;
  late.kind = model::SliceKind::Api;
  late.category = "torch";
  late.nameId = trace.name("late");
  late.startNs = 3 * kMs;
  late.durNs = 12 * kMs;
  late.scopeId = scope;
  late.scopeHow = model::ScopeHow::Inherited;
  const auto lateId = trace.add(late);
  const auto gone =
      trace.slice(main, model::SliceKind::Forward, "forward", {1 * kMs, 2 * kMs}, phase);
  trace.add(
      model::Link{"fwdbwd", model::Owner::Slice, gone.value, model::Owner::Slice, lateId.value});
  model::Collective collective;
  collective.processId = rank;
  collective.startNs = 1 * kMs;
  collective.durNs = kMs;
  const auto cut = trace.add(collective);
  model::Channel channel;
  channel.processId = rank;
  model::Transfer transfer;
  transfer.channelId = trace.add(channel);
  transfer.startNs = 11 * kMs;
  transfer.durNs = kMs;
  transfer.collectiveId = cut;
  trace.add(transfer);
  trace.finish();

  must(trim({input_, output_, 1, 1, false}));
  EXPECT_EQ(number("SELECT count(*) FROM iteration"), 1);
  EXPECT_EQ(
      number(
          "SELECT count(*) FROM v_slice WHERE name IN ('train', 'iteration', 'backward', 'late')"),
      4);
  EXPECT_EQ(number("SELECT count(*) FROM v_slice WHERE name IN ('forward', 'lost')"), 0);
  EXPECT_EQ(number("SELECT count(*) FROM arg"), 1);
  EXPECT_EQ(number("SELECT count(*) FROM link"), 0);
  EXPECT_EQ(number("SELECT count(*) FROM collective"), 0);
  EXPECT_EQ(number("SELECT count(*) FROM transfer WHERE collective_id IS NULL"), 1);
  EXPECT_EQ(number("SELECT count(*) FROM pragma_foreign_key_check()"), 0);
}

TEST_F(Trim, KeepsADevicesWorkWithTheIterationThatLaunchedIt) {
  test::TraceBuilder trace(input_);
  model::Process process;
  process.hostId = trace.add(model::Host{.name = "h"});
  const auto rank = trace.add(process);
  const auto main = trace.add(model::Thread{.processId = rank});
  const auto stream = trace.add(model::Stream{.processId = rank, .number = 7});
  for (int i = 0; i < 3; ++i) {
    trace.add(model::Iteration{
        .processId = rank, .number = i, .startNs = i * 10 * kMs, .durNs = 10 * kMs});
  }
  const auto kernel = [&](std::string_view name, int launchMs, int runMs) {
    model::Kernel row;
    row.work.streamId = stream;
    row.work.nameId = trace.name(name);
    row.work.startNs = runMs * kMs;
    row.work.durNs = kMs;
    if (launchMs >= 0)
      row.work.launchSliceId = trace.slice(
          main, model::SliceKind::Api, "launch", {launchMs * kMs, launchMs * kMs + 1000});
    const auto id = trace.add(row);
    trace.add(model::Collective{
        .processId = rank, .kernelId = id, .startNs = row.work.startNs, .durNs = kMs});
  };
  kernel("launched before", 9, 11);
  kernel("ran later", 19, 25);
  kernel("without a launch", -1, 12);
  kernel("without a launch, before", -1, 5);
  trace.finish();
  must(trim({input_, output_, 1, 1, false}));
  const store::Database trimmed = must(store::openTrace(output_));
  const char* const names =
      "SELECT group_concat(name, ', ') FROM (SELECT name FROM v_kernel {} "
      "ORDER BY v_kernel.start_ns)";
  EXPECT_EQ(must(trimmed.queryText(fmt::format(fmt::runtime(names), ""))),
            "without a launch, ran later");
  EXPECT_EQ(must(trimmed.queryText(fmt::format(fmt::runtime(names),
                                               "JOIN collective c ON c.kernel_id = v_kernel.id"))),
            "without a launch, ran later");
  EXPECT_EQ(number("SELECT count(*) FROM collective"), 2);
  EXPECT_EQ(number("SELECT count(*) FROM slice"), 1);
}

TEST_F(Trim, KeepsTheCallsOfMemoryAndTheScopesOfCountersThatItKeeps) {
  test::TraceBuilder trace(input_);
  model::Process process;
  process.hostId = trace.add(model::Host{.name = "h"});
  const auto rank = trace.add(process);
  const auto main = trace.add(model::Thread{.processId = rank});
  const auto device =
      trace.add(model::Device{.hostId = process.hostId, .kind = "gpu", .ordinal = 0});
  for (int i = 0; i < 3; ++i)
    trace.add(model::Iteration{
        .processId = rank, .number = i, .startNs = i * 10 * kMs, .durNs = 10 * kMs});
  model::Allocation held;
  held.processId = rank;
  held.bytes = 64;
  held.allocNs = kMs;
  held.sliceId = trace.slice(main, model::SliceKind::Api, "cudaMalloc", {kMs, 2 * kMs});
  trace.add(held);
  model::DeviceMetric metric;
  metric.threadId = main;
  metric.deviceId = device;
  metric.nameId = trace.name("sm__cycles_active.sum");
  metric.durNs = kMs;
  for (const int at : {5, 15}) {
    metric.startNs = at * kMs;
    metric.sliceId =
        trace.slice(main, model::SliceKind::Operation, "op", {at * kMs, (at + 1) * kMs});
    trace.add(metric);
  }
  trace.finish();
  must(trim({input_, output_, 1, 1, false}));
  EXPECT_EQ(number("SELECT count(*) FROM allocation JOIN slice ON slice.id = slice_id"), 1);
  EXPECT_EQ(number("SELECT count(*) FROM device_metric"), 1);
  EXPECT_EQ(number("SELECT count(*) FROM device_metric JOIN slice ON slice.id = slice_id"), 1);
}

TEST_F(Trim, CutsAMergedJobByEachRanksOwnSpan) {
  test::TrainingRun second;
  second.rank = 1;
  second.beginNs += 30 * kMs;  // the same numbers, a little later
  test::writeTrainingRun(folder_ / "a.sonde", {});
  test::writeTrainingRun(folder_ / "b.sonde", second);
  must(merge::merge({{folder_ / "a.sonde", folder_ / "b.sonde"}, input_, false}));
  must(trim({input_, output_, 5, 5, false}));
  EXPECT_EQ(number("SELECT count(*) FROM slice"), 2 * 7);
  EXPECT_EQ(number("SELECT count(*) FROM channel WHERE peer_channel_id IS NOT NULL"), 2);
}

TEST_F(Trim, SaysWhichIterationsThereAre) {
  test::writeTrainingRun(input_, {});
  const auto refused = trim({input_, output_, 40, 50, false});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
  EXPECT_THAT(refused.error().message, HasSubstr("has iterations 0-29, but none in 40-50"));
  EXPECT_FALSE(std::filesystem::exists(output_ + ".part"));
  test::writeText(output_, "precious");
  EXPECT_FALSE(trim({input_, output_, 1, 2, false}));
  EXPECT_EQ(test::readText(output_), "precious");
  EXPECT_FALSE(trim({input_, input_, 1, 2, true}));
  EXPECT_TRUE(trim({input_, output_, 1, 2, true}));
}

}  // namespace
}  // namespace sonde::engine::trim
