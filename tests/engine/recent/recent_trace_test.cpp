#include "analysis/engine/recent/recent_trace.h"

#include "analysis/engine/trim/trim.h"
#include "analysis/store/each_row.h"
#include "analysis/store/trace_file.h"
#include "tests/jobsim/simulation.h"
#include "tests/jobsim/workloads.h"
#include "tests/jobsim/write_trace.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace sonde::engine::recent {
namespace {

using store::Database;
using test::kMs;
using test::must;

constexpr RecentSize kTen{.events = 100, .iterations = 10};

std::vector<std::int64_t> ids(const Database& trace, const std::string& table) {
  std::vector<std::int64_t> all;
  must(store::forEachRow(trace,
                         fmt::format("SELECT rowid FROM {} ORDER BY rowid", table),
                         [&](const store::Statement& row) -> Result<void> {
                           all.push_back(row.integer(0));
                           return {};
                         }));
  return all;
}

class Recent : public ::testing::Test {
 protected:
  Recent() : path_(folder_ / "in.sonde") {}

  // Iterations 0 to 39 of two ranks with devices.
  void simulate(bool onHost) {
    jobsim::DataParallel of;
    of.ranks = of.ranksPerMachine = 2;
    of.iterations = 40;
    const jobsim::Job job = onHost ? jobsim::hostDataParallelJob(of) : jobsim::dataParallelJob(of);
    jobsim::writeTrace(job, jobsim::simulate(job), path_);
  }

  // As it is while it is recorded.
  void unfinish() {
    Database trace = must(Database::open(path_, store::Access::ReadWrite));
    std::vector<std::string> names;
    must(
        store::forEachRow(trace,
                          "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL",
                          [&](const store::Statement& row) -> Result<void> {
                            names.emplace_back(row.text(0));
                            return {};
                          }));
    for (const std::string& name : names)
      must(trace.exec(fmt::format("DROP INDEX {}", name)));
    must(trace.exec("DELETE FROM line; DELETE FROM lod; DELETE FROM meta WHERE key = 'finished'"));
  }

  // The rows that `sonde trim` keeps of the last ten iterations are the truth.
  void expectTrimmed() {
    const std::string trimmed = folder_ / "trimmed.sonde";
    const Database trace = must(store::openTrace(path_));
    const RecentTrace recent = must(RecentTrace::read(trace, kTen));
    ASSERT_FALSE(recent.isWhole());
    must(trim::trim({path_, trimmed, 30, 39, true}));
    const Database cut = must(store::openTrace(trimmed));
    for (const char* table : {"iteration",
                              "slice",
                              "kernel",
                              "copy",
                              "sync",
                              "collective",
                              "transfer",
                              "handoff",
                              "io"}) {
      EXPECT_EQ(ids(recent.database(), table), ids(cut, table)) << table;
      EXPECT_LE(ids(cut, table).size(), ids(trace, table).size()) << table;
    }
    EXPECT_EQ(must(recent.database().queryInteger("SELECT count(*) FROM v_iteration")), 20);
    EXPECT_EQ(must(trace.queryInteger("SELECT count(*) FROM v_iteration")), 80);
  }

  test::TemporaryFolder folder_;
  std::string path_;
};

TEST_F(Recent, KeepsTheNewestIterations) {
  for (const bool onHost : {false, true}) {
    std::filesystem::remove(path_);
    simulate(onHost);
    expectTrimmed();
  }
}

TEST_F(Recent, KeepsTheNewestIterationsOfARecordingThatGoesOn) {
  simulate(false);
  unfinish();
  expectTrimmed();
}

TEST_F(Recent, WritesTheSameRows) {
  simulate(false);
  const std::string copy = folder_ / "copy.sonde";
  for (const bool isFinished : {true, false}) {
    if (!isFinished)
      unfinish();
    const Database trace = must(store::openTrace(path_));
    for (const RecentSize size : {kTen, RecentSize{}}) {
      const RecentTrace recent = must(RecentTrace::read(trace, size));
      must(writeRecent(trace, copy, size));
      const Database written = must(store::openTrace(copy));
      for (const char* table :
           {"slice", "kernel", "collective", "process", "string", "iteration", "clock_sync"}) {
        EXPECT_EQ(ids(recent.database(), table), ids(written, table)) << table;
      }
      EXPECT_EQ(must(store::isFinished(written)), isFinished);
    }
  }
}

TEST_F(Recent, KeepsASmallTraceWhole) {
  simulate(false);
  const Database trace = must(store::openTrace(path_));
  EXPECT_TRUE(must(RecentTrace::read(trace, {.events = 1'000'000, .iterations = 10})).isWhole());
  EXPECT_TRUE(must(RecentTrace::read(trace, {.events = 100, .iterations = 40})).isWhole());
  EXPECT_FALSE(must(RecentTrace::read(trace, {.events = 100, .iterations = 39})).isWhole());
  EXPECT_EQ(&must(RecentTrace::read(trace)).database(), &trace);
}

TEST_F(Recent, KeepsTheNewestTimeOfATraceWithTooFewIterations) {
  simulate(false);
  const Database trace = must(store::openTrace(path_));
  const std::int64_t endNs = must(trace.queryInteger(
      "SELECT max(ns) FROM (SELECT max(start_ns + dur_ns) AS ns FROM kernel UNION ALL SELECT "
      "max(start_ns + dur_ns) FROM slice UNION ALL SELECT max(start_ns + dur_ns) FROM iteration)"));
  const std::int64_t fromNs = must(trace.queryInteger(
      "SELECT start_ns FROM iteration WHERE number = 35 ORDER BY start_ns LIMIT 1"));
  const RecentSize size{.events = 100, .iterations = 1000, .spanNs = endNs - fromNs};
  const RecentTrace recent = must(RecentTrace::read(trace, size));
  ASSERT_FALSE(recent.isWhole());
  EXPECT_EQ(
      must(recent.database().queryInteger("SELECT count(*) FROM kernel")),
      must(trace.queryInteger(fmt::format("SELECT count(*) FROM kernel k JOIN slice l ON l.id = "
                                          "k.launch_slice_id WHERE l.start_ns >= {}",
                                          fromNs))));
}

TEST_F(Recent, WritesOnlyNewScalarsAndSamples) {
  simulate(false);
  Database trace = must(Database::open(path_, store::Access::ReadWrite));
  const std::int64_t fromNs =
      must(trace.queryInteger("SELECT min(start_ns) FROM iteration WHERE number = 30"));
  must(trace.exec(
      fmt::format("INSERT INTO string VALUES(100000, 'loss');"
                  "INSERT INTO scalar VALUES(1, 29, 100000, 0.5, {0} - 1), (1, 30, 100000, "
                  "0.4, {0});",
                  fromNs)));
  const std::string copy = folder_ / "copy.sonde";
  must(writeRecent(trace, copy, kTen));
  const Database written = must(store::openTrace(copy));
  EXPECT_EQ(must(written.queryInteger("SELECT group_concat(iteration) FROM scalar")), 30);
  must(writeRecent(trace, copy, {}));
  EXPECT_EQ(must(must(store::openTrace(copy)).queryInteger("SELECT count(*) FROM scalar")), 2);
}

// A process that iterates less often keeps its own newest iterations, one that does not the time of
// the others.
TEST_F(Recent, CutsEachProcessByItself) {
  test::TraceBuilder trace(path_);
  const auto host = trace.add(model::Host{.name = "h"});
  for (int process = 0; process < 3; ++process) {
    const auto id = trace.add(model::Process{.hostId = host, .pid = process});
    const auto thread = trace.add(model::Thread{.processId = id, .tid = process});
    for (int i = 0; i < 60; ++i) {
      if (process < 2 && i % (process + 1) == 0)
        trace.add(model::Iteration{
            .processId = id, .number = i, .startNs = i * 10 * kMs, .durNs = 9 * kMs});
      trace.slice(thread, model::SliceKind::Operation, "op", {i * 10 * kMs, (i * 10 + 9) * kMs});
    }
  }
  trace.finish();
  const Database whole = must(store::openTrace(path_));
  const RecentTrace recent = must(RecentTrace::read(whole, {.events = 10, .iterations = 10}));
  std::vector<std::int64_t> counts;
  for (const int pid : {0, 1, 2})
    counts.push_back(must(recent.database().queryInteger(
        fmt::format("SELECT count(*) FROM v_slice WHERE pid = {}", pid))));
  EXPECT_EQ(counts, (std::vector<std::int64_t>{10, 20, 20}));
}

// A slice of a thread pool may belong to an operation that has long ended.
TEST_F(Recent, KeepsWhatKeptSlicesReferTo) {
  test::TraceBuilder trace(path_);
  const auto process =
      trace.add(model::Process{.hostId = trace.add(model::Host{.name = "h"}), .pid = 1});
  const auto main = trace.add(model::Thread{.processId = process, .tid = 1});
  const auto worker = trace.add(model::Thread{.processId = process, .tid = 2});
  for (int i = 0; i < 60; ++i)
    trace.add(model::Iteration{
        .processId = process, .number = i, .startNs = i * 10 * kMs, .durNs = 9 * kMs});
  const auto kind = model::SliceKind::Operation;
  const auto outer = trace.slice(main, kind, "outer", {0, 8 * kMs});
  const auto inner = trace.slice(main, kind, "inner", {kMs, 5 * kMs}, outer);
  trace.slice(main, kind, "unrelated", {20 * kMs, 21 * kMs});
  trace.slice(worker, kind, "late", {590 * kMs, 591 * kMs}, inner);
  trace.finish();
  const Database whole = must(store::openTrace(path_));
  const RecentTrace recent = must(RecentTrace::read(whole, {.events = 1, .iterations = 10}));
  ASSERT_FALSE(recent.isWhole());
  EXPECT_EQ(must(recent.database().queryText(
                "SELECT group_concat(name, ' ') FROM (SELECT name FROM v_slice ORDER BY id)")),
            "outer inner late");
}

}  // namespace
}  // namespace sonde::engine::recent
