#include "analysis/finalise/finaliser.h"

#include "analysis/finalise/lod_builder.h"
#include "analysis/store/trace_file.h"
#include "analysis/store/trace_writer.h"
#include "tests/store/expect_result.h"
#include "tests/store/sample_trace.h"
#include "tests/store/temporary_folder.h"
#include "tests/store/trace_dump.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <random>
#include <set>

namespace sonde::store {
namespace {

namespace fs = std::filesystem;

class Finaliser : public TemporaryFolder {
 protected:
  TraceWriter created(const std::string& name) {
    auto trace = createTrace(file(name));
    EXPECT_TRUE(trace);
    return *TraceWriter::open(std::move(*trace));
  }

  // An unfinished recording without a log beside it, so that the file can be copied.
  fs::path recording(const std::string& name, int iterations) {
    TraceWriter writer = created(name);
    EXPECT_TRUE(writeSample(writer, iterations));
    return file(name);
  }

  static Result<void> finaliseFile(const fs::path& path) {
    SONDE_TRY_ASSIGN(Database trace, reopenTrace(path));
    return finalise(std::move(trace));
  }

  std::set<std::string> filesThere() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(file("x").parent_path()))
      names.insert(entry.path().filename().string());
    return names;
  }
};

TEST_F(Finaliser, LeavesOneCompleteFile) {
  ASSERT_GOOD(finaliseFile(recording("a.part", 5)));
  EXPECT_EQ(filesThere(), std::set<std::string>{"a.part"});
  ASSERT_GOOD_ASSIGN(Database trace, openTrace(file("a.part")));
  ASSERT_GOOD_ASSIGN(const bool done, isFinished(trace));
  EXPECT_TRUE(done);
  ASSERT_GOOD_ASSIGN(const auto mode, trace.queryText("PRAGMA journal_mode"));
  EXPECT_EQ(mode, "delete");
  ASSERT_GOOD_ASSIGN(const auto origin,
                     trace.queryText("SELECT value FROM meta WHERE key = 'origin_ns'"));
  EXPECT_EQ(origin, "1700000000000000000");
  ASSERT_GOOD_ASSIGN(const auto first, trace.queryInteger("SELECT min(rel_ns) FROM v_slice"));
  EXPECT_EQ(first, 1'000'000);
}

// Otherwise a query per process would read all threads each time.
TEST_F(Finaliser, ThreadsOfAProcessAreFoundByIndex) {
  ASSERT_GOOD(finaliseFile(recording("a.part", 5)));
  ASSERT_GOOD_ASSIGN(Database trace, openTrace(file("a.part")));
  ASSERT_GOOD_ASSIGN(Statement plan,
                     trace.prepare("EXPLAIN QUERY PLAN SELECT p.id FROM process p WHERE EXISTS"
                                   " (SELECT 1 FROM thread t WHERE t.process_id = p.id)"));
  std::string text;
  while (*plan.step())
    text += std::string(plan.text(3)) + "\n";
  EXPECT_THAT(text, ::testing::HasSubstr("thread_by_process (process_id=?)"));
}

TEST_F(Finaliser, ChangesNothingTheSecondTime) {
  const fs::path path = recording("a.part", 5);
  ASSERT_GOOD(finaliseFile(path));
  ASSERT_GOOD_ASSIGN(Database once, openTrace(path));
  const std::string before = dump(once);
  once = *Database::inMemory();
  {
    ASSERT_GOOD_ASSIGN(Database again, Database::open(path, Access::ReadWrite));
    ASSERT_GOOD(finalise(std::move(again)));
  }
  ASSERT_GOOD_ASSIGN(Database twice, openTrace(path));
  EXPECT_EQ(firstDifference(dump(twice), before), "");
}

TEST_F(Finaliser, GoesOnAfterMoreWasRecorded) {
  const fs::path path = recording("a.part", 2);
  ASSERT_GOOD(finaliseFile(path));
  {
    ASSERT_GOOD_ASSIGN(Database trace, reopenTrace(path));
    ASSERT_GOOD_ASSIGN(TraceWriter writer, TraceWriter::open(std::move(trace)));
    ASSERT_GOOD(writer.begin());
    ASSERT_GOOD(writer.add(model::Sample{model::CounterId{1}, 1, 2.0}));
    ASSERT_GOOD(writer.commit());
    ASSERT_GOOD_ASSIGN(const bool done, isFinished(writer.database()));
    EXPECT_FALSE(done);
    ASSERT_GOOD_ASSIGN(Database released, TraceWriter::release(std::move(writer)));
    ASSERT_GOOD(finalise(std::move(released)));
  }
  ASSERT_GOOD_ASSIGN(Database trace, openTrace(path));
  ASSERT_GOOD_ASSIGN(const auto samples,
                     trace.queryInteger("SELECT count(*) FROM sample WHERE counter_id = 1"));
  EXPECT_EQ(samples, 2);
  ASSERT_GOOD_ASSIGN(const bool done, isFinished(trace));
  EXPECT_TRUE(done);
}

// Runs finalise in a process that is killed after `delay`; returns whether it finished.
bool finaliseKilled(const fs::path& path, std::chrono::microseconds delay) {
  const pid_t child = fork();
  if (child == 0) {
    auto trace = reopenTrace(path);
    _exit(trace && finalise(std::move(*trace)) ? 0 : 1);
  }
  usleep(static_cast<useconds_t>(delay.count()));
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) != 0);
  return WIFEXITED(status);
}

TEST_F(Finaliser, KilledAnywhereAndRepeatedGivesTheSameTrace) {
  const fs::path original = recording("original.part", 400);
  fs::copy_file(original, file("whole.part"));
  ASSERT_GOOD(finaliseFile(file("whole.part")));
  ASSERT_GOOD_ASSIGN(Database whole, openTrace(file("whole.part")));
  const std::string expected = dump(whole);
  std::mt19937_64 random(1);
  int killed = 0;
  for (int round = 0; round < 40; ++round) {
    const fs::path path = file("round.part");
    fs::copy_file(original, path);
    for (int tries = 0; tries < 3; ++tries)
      killed += finaliseKilled(path, std::chrono::microseconds(random() % 40'000)) ? 0 : 1;
    ASSERT_GOOD(finaliseFile(path));
    ASSERT_GOOD_ASSIGN(Database trace, openTrace(path));
    ASSERT_EQ(firstDifference(dump(trace), expected), "") << "round " << round;
    trace = *Database::inMemory();
    fs::remove(path);
  }
  EXPECT_GT(killed, 0);
}

TEST_F(Finaliser, AReaderDoesNotStandInTheWay) {
  const fs::path path = recording("a.part", 20);
  ASSERT_GOOD_ASSIGN(Database reader, openTrace(path));
  ASSERT_GOOD_ASSIGN(const auto before, reader.queryInteger("SELECT count(*) FROM slice"));
  ASSERT_GOOD(finaliseFile(path));
  fs::rename(path, file("a.sonde"));
  ASSERT_GOOD_ASSIGN(const auto after, reader.queryInteger("SELECT count(*) FROM slice"));
  EXPECT_EQ(before, after);
  reader = *Database::inMemory();
  EXPECT_EQ(filesThere(), std::set<std::string>{"a.sonde"});
  ASSERT_GOOD_ASSIGN(Database trace, openTrace(file("a.sonde")));
  ASSERT_GOOD_ASSIGN(const bool done, isFinished(trace));
  EXPECT_TRUE(done);
  ASSERT_GOOD_ASSIGN(const auto slices, trace.queryInteger("SELECT count(*) FROM slice"));
  EXPECT_EQ(slices, before);
  ASSERT_GOOD_ASSIGN(const auto verdict, trace.queryText("PRAGMA integrity_check"));
  EXPECT_EQ(verdict, "ok");
}

// A thread with `count` nested pairs of slices, the outer 10 µs apart.
void writeDenseThread(TraceWriter& writer, int count) {
  ASSERT_GOOD(writer.begin());
  ASSERT_GOOD_ASSIGN(const auto name, writer.intern("step"));
  for (std::int64_t i = 0; i < count; ++i) {
    model::Slice slice{{},
                       model::ThreadId{1},
                       model::SliceKind::Operator,
                       "torch",
                       name,
                       i * 10'000,
                       6000 + i % 7};
    ASSERT_GOOD_ASSIGN(slice.parentId, writer.add(slice));
    slice.startNs += 1000;
    slice.durNs = 500;
    slice.depth = 1;
    ASSERT_GOOD(writer.add(slice));
  }
  ASSERT_GOOD(writer.commit());
}

TEST_F(Finaliser, EveryLineHasItsLevels) {
  {
    TraceWriter writer = created("a.part");
    writeDenseThread(writer, 50'000);
    ASSERT_GOOD(writer.begin());
    ASSERT_GOOD(writer.add(model::Host{{}, "host"}));
    model::Process process;
    process.hostId = model::HostId{1};
    ASSERT_GOOD(writer.add(process));
    ASSERT_GOOD(writer.add(model::Thread{{}, model::ProcessId{1}, 1}));
    ASSERT_GOOD(
        writer.add(model::Channel{{}, model::ProcessId{1}, model::ChannelKind::Pipe, "a", "b"}));
    for (std::int64_t i = 0; i < 10; ++i)  // the even ones overlap those after them
      ASSERT_GOOD(writer.add(model::Transfer{{},
                                             model::ChannelId{1},
                                             model::ThreadId{1},
                                             model::Direction::Receive,
                                             i,
                                             1,
                                             true,
                                             i * 10,
                                             i % 2 == 0 ? 15 : 5}));
    ASSERT_GOOD(writer.commit());
  }
  ASSERT_GOOD(finaliseFile(file("a.part")));
  ASSERT_GOOD_ASSIGN(Database trace, openTrace(file("a.part")));
  ASSERT_GOOD_ASSIGN(const auto lines,
                     trace.queryText("SELECT group_concat(owner || ':' || lane || ':' || depth || "
                                     "':' || count, ' ') FROM line"));
  EXPECT_EQ(lines, "channel:1:0:5 channel:1:1:5 thread:0:0:50000 thread:0:1:50000");
  ASSERT_GOOD_ASSIGN(
      const auto levels,
      trace.queryInteger(
          "SELECT count(*) FROM line WHERE min_level IS NOT NULL AND owner = 'thread'"));
  EXPECT_EQ(levels, 2);
  // At every level the counts and busy times add up to the line's.
  ASSERT_GOOD_ASSIGN(
      const auto wrong,
      trace.queryInteger(
          "SELECT count(*) FROM (SELECT sum(count) AS n, sum(busy_ns) AS busy, depth AS d FROM lod "
          "GROUP BY owner, owner_id, lane, depth, level) WHERE n <> 50000 OR busy <> "
          "(SELECT sum(dur_ns) FROM slice WHERE depth = d)"));
  EXPECT_EQ(wrong, 0);
  ASSERT_GOOD_ASSIGN(
      const auto coarsest,
      trace.queryInteger("SELECT max(n) FROM (SELECT count(*) AS n FROM lod JOIN line USING "
                         "(owner, owner_id, lane, depth) WHERE level = max_level GROUP BY depth)"));
  EXPECT_LE(coarsest, 514);
  ASSERT_GOOD_ASSIGN(const auto integrity, trace.queryText("PRAGMA integrity_check"));
  EXPECT_EQ(integrity, "ok");
}

// Kernels back to back, every 100th overlapping the next, and a host that waits for each ten.
void writeBusyStream(TraceWriter& writer, int kernels) {
  EXPECT_TRUE(writer.begin());
  EXPECT_TRUE(writer.add(model::Host{{}, "host"}));
  model::Process process;
  process.hostId = model::HostId{1};
  EXPECT_TRUE(writer.add(process));
  EXPECT_TRUE(writer.add(model::Stream{.processId = model::ProcessId{1}, .number = 7}));
  const auto name = writer.intern("kernel");
  for (std::int64_t at = 0; at < kernels; ++at) {
    model::Kernel kernel;
    kernel.work.streamId = model::StreamId{1};
    kernel.work.nameId = *name;
    kernel.work.startNs = at * 100;
    kernel.work.durNs = at % 100 == 0 ? 150 : 100;
    EXPECT_TRUE(writer.add(kernel));
    if (at % 10 == 0) {
      EXPECT_TRUE(writer.add(
          model::Sync{.streamId = model::StreamId{1}, .startNs = at * 100 + 1, .durNs = 998}));
    }
  }
  EXPECT_TRUE(writer.commit());
}

TEST_F(Finaliser, AStreamHasItsWorkAndItsSynchronisationInLanesOfTheirOwn) {
  {
    TraceWriter writer = created("a.part");
    writeBusyStream(writer, 20'000);
  }
  ASSERT_GOOD(finaliseFile(file("a.part")));
  ASSERT_GOOD_ASSIGN(Database trace, openTrace(file("a.part")));
  ASSERT_GOOD_ASSIGN(
      const auto lines,
      trace.queryText("SELECT group_concat(lane || ':' || depth || ':' || count, ' ') FROM line"));
  EXPECT_EQ(lines, "0:0:19800 0:1:200 1:0:2000");
  ASSERT_GOOD_ASSIGN(const auto kinds,
                     trace.queryText("SELECT group_concat(DISTINCT lane || kind) FROM lod"));
  EXPECT_EQ(kinds, "0kernel");
  // The second row, with few events, has the same levels as the first with many.
  ASSERT_GOOD_ASSIGN(const auto same,
                     trace.queryInteger("SELECT count(DISTINCT min_level || ' ' || max_level) FROM "
                                        "line WHERE lane = 0 AND min_level IS NOT NULL"));
  EXPECT_EQ(same, 1);
  ASSERT_GOOD_ASSIGN(const auto levels,
                     trace.queryInteger("SELECT count(*) FROM line WHERE min_level IS NULL"));
  EXPECT_EQ(levels, 1);
  ASSERT_GOOD_ASSIGN(const auto least,
                     trace.queryInteger("SELECT min(n) FROM (SELECT sum(count) AS n FROM lod WHERE "
                                        "depth = 1 GROUP BY level)"));
  EXPECT_EQ(least, 200);
}

}  // namespace
}  // namespace sonde::store
