#include "analysis/engine/merge/merge.h"

#include "tests/engine/merge/merge_rig.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace sonde::engine::merge {
namespace {

using test::must;
using test::number;
using test::rank;
using test::TemporaryFolder;
using test::TrainingRun;
using test::writeTrainingRun;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;

class Merge : public test::MergeRig {};

TEST_F(Merge, WhatRecordingCostStaysThatOfItsTrace) {
  const auto costs = [&](const std::string& path, double ns) {
    {
      auto trace = must(store::Database::open(path, store::Access::ReadWrite));
      must(
          trace.exec(fmt::format("INSERT INTO overhead(probe, api, mean_ns, method) VALUES('io', "
                                 "'call', {}, 'in-run'); INSERT INTO overhead_covariance(probe, "
                                 "other_probe, covariance) VALUES('io', 'io', {})",
                                 ns,
                                 ns / 1000)));
    }
    return path;
  };
  const std::string a = costs(write("a.sonde", rank(0)), 100);
  const std::string b = costs(write("b.sonde", rank(1)), 200);
  const store::Database job = mergeAll({a, b});
  for (const auto& [rank, ns] : {std::pair(0, 100), std::pair(1, 200)}) {
    EXPECT_EQ(number(job,
                     fmt::format("SELECT sum(mean_ns) FROM overhead o JOIN process p ON p.id = "
                                 "o.process_id WHERE p.rank = {}",
                                 rank)),
              ns);
    EXPECT_EQ(number(job,
                     fmt::format("SELECT round(sum(1000 * covariance)) FROM overhead_covariance o "
                                 "JOIN process p ON p.id = o.process_id WHERE p.rank = {}",
                                 rank)),
              ns);
  }
  EXPECT_EQ(number(job, "SELECT count(*) FROM overhead"), 2);
  EXPECT_EQ(number(job, "SELECT count(*) FROM overhead_covariance"), 2);
}

TEST_F(Merge, SaysOfAllTracesWhichProbesTheyHad) {
  const auto sources = [&](const std::string& path, const std::string& words) {
    {
      auto trace = must(store::Database::open(path, store::Access::ReadWrite));
      must(trace.exec(fmt::format("INSERT OR REPLACE INTO meta VALUES('sources', '{}')", words)));
    }
    return path;
  };
  const std::string a = sources(write("a.sonde", rank(0)), "annotation,io");
  const std::string b = sources(write("b.sonde", rank(1)), "annotation");
  const std::string c = sources(write("c.sonde", rank(2)), "annotation,io");
  const store::Database job = mergeAll({a, b, c});
  EXPECT_EQ(must(job.queryText("SELECT value FROM meta WHERE key = 'sources'")),
            "annotation,io and annotation");
}

TEST_F(Merge, KeepsEveryRowAndEveryReference) {
  const std::string a = write("a.sonde", rank(0));
  const std::string b = write("b.sonde", rank(1));
  const store::Database job = mergeAll({a, b});
  const store::Database one = must(store::openTrace(a));
  for (const char* table : {"process",
                            "thread",
                            "slice",
                            "iteration",
                            "scalar",
                            "collective",
                            "communicator",
                            "communicator_member",
                            "channel",
                            "transfer",
                            "clock_sync"})
    EXPECT_EQ(number(job, fmt::format("SELECT count(*) FROM {}", table)),
              2 * number(one, fmt::format("SELECT count(*) FROM {}", table)))
        << table;
  EXPECT_EQ(number(job, "SELECT count(*) FROM pragma_foreign_key_check()"), 0);
  EXPECT_EQ(must(job.queryText("PRAGMA integrity_check")), "ok");
  // Names are interned again, once each.
  EXPECT_EQ(number(job, "SELECT count(*) - count(DISTINCT text) FROM string"), 0);
  EXPECT_EQ(
      number(job,
             "SELECT count(*) FROM slice s JOIN string n ON n.id = s.name_id JOIN thread t ON "
             "t.id = s.thread_id JOIN process p ON p.id = t.process_id WHERE p.rank = 1 AND "
             "s.kind = 'backward' AND n.text = 'backward' AND s.parent_id IN (SELECT slice_id "
             "FROM iteration i WHERE i.process_id = p.id)"),
      30);
  EXPECT_THAT(summary_.events, Contains(Pair("iteration", 60)));
  EXPECT_EQ(must(job.queryText("SELECT value FROM meta WHERE key = 'job'")), "job-1");
}

TEST_F(Merge, KeepsHandoffsBetweenTheThreadsOfEachRank) {
  std::vector<std::string> inputs;
  for (const std::int64_t rank : {0, 1}) {
    inputs.push_back(folder_ / fmt::format("{}.sonde", rank));
    test::TraceBuilder trace(inputs.back());
    model::Process process;
    process.hostId = trace.add(model::Host{.name = "h", .bootId = "boot"});
    process.rank = rank;
    process.worldSize = 2;
    const auto id = trace.add(process);
    const auto main = trace.add(model::Thread{.processId = id, .tid = 10 + rank});
    const auto other = trace.add(model::Thread{.processId = id, .tid = 20 + rank});
    trace.handoff(main, other, {1000, 2000});
    trace.finish();
  }
  const store::Database job = mergeAll(inputs);
  EXPECT_EQ(number(job,
                   "SELECT count(*) FROM v_handoff WHERE waker_tid = 10 + rank AND wakee_tid = 20 "
                   "+ rank AND waker_ns = wake_ns - 10 AND wake_ns - block_ns = 1000"),
            2);
}

TEST_F(Merge, JoinsHostsByBootIdAndRebasesTimesExactly) {
  TrainingRun second = rank(1);
  constexpr std::int64_t kStep = 123'456'789;
  second.epochNs += kStep;
  second.beginNs += kStep;  // the same monotonic instants, read with a later epoch
  const store::Database job = mergeAll({write("a.sonde", rank(0)), write("b.sonde", second)});
  EXPECT_EQ(number(job, "SELECT count(*) FROM host"), 1);
  EXPECT_EQ(
      number(job,
             "SELECT count(*) FROM iteration a JOIN iteration b ON a.number = b.number AND "
             "a.process_id < b.process_id AND a.start_ns = b.start_ns AND a.dur_ns = b.dur_ns"),
      30);
  EXPECT_EQ(
      number(
          job,
          "SELECT count(*) FROM transfer a JOIN transfer b ON a.offset = b.offset AND "
          "a.channel_id < b.channel_id AND a.direction = b.direction AND a.start_ns = b.start_ns"),
      120);
  EXPECT_EQ(number(job, "SELECT count(DISTINCT start_ns) FROM process"), 1);
  // A raw clock reading stays unchanged.
  EXPECT_EQ(number(job, "SELECT max(realtime_ns) - min(realtime_ns) FROM clock_sync"), kStep);
}

TEST_F(Merge, WhatRecordersStoredStaysWithItsHostAndItsTime) {
  const auto storedAt = [&](const std::string& path, std::int64_t ns) {
    auto trace = must(store::Database::open(path, store::Access::ReadWrite));
    must(trace.exec(fmt::format(
        "INSERT INTO storing(host_id, start_ns, dur_ns) SELECT id, {}, 5 FROM host", ns)));
    return path;
  };
  TrainingRun second = rank(1);
  second.epochNs += 1000;
  second.beginNs += 1000;
  const std::string a = storedAt(write("a.sonde", rank(0)), rank(0).beginNs + 7);
  const std::string b = storedAt(write("b.sonde", second), second.beginNs + 7);
  const store::Database job = mergeAll({a, b});
  EXPECT_EQ(number(job, "SELECT count(*) FROM storing JOIN host h ON h.id = host_id"), 2);
  EXPECT_EQ(number(job, "SELECT count(DISTINCT start_ns) FROM storing WHERE dur_ns = 5"), 1);
}

TEST_F(Merge, TakesTracesFromBeforeATableWasAdded) {
  const std::string a = write("a.sonde", rank(0));
  {
    auto trace = must(store::Database::open(a, store::Access::ReadWrite));
    must(trace.exec("DROP TABLE storing"));
  }
  const store::Database job = mergeAll({a, write("b.sonde", rank(1))});
  EXPECT_EQ(number(job, "SELECT count(*) FROM process"), 2);
  EXPECT_EQ(number(job, "SELECT count(*) FROM storing"), 0);
}

TEST_F(Merge, MergesMergedTracesOnTheSameEpoch) {
  TrainingRun second = rank(1);
  second.worldSize = 3;
  second.epochNs += 1000;
  second.beginNs += 1000;
  TrainingRun first = rank(0);
  first.worldSize = 3;
  TrainingRun third = rank(2);
  third.worldSize = 3;
  third.epochNs += 77;
  third.beginNs += 77;
  const std::string pair = folder_ / "pair.sonde";
  must(merge({{write("a.sonde", first), write("b.sonde", second)}, pair, false}));
  const store::Database job = mergeAll({pair, write("c.sonde", third)});
  EXPECT_EQ(number(job, "SELECT count(DISTINCT start_ns) FROM iteration WHERE number = 7"), 1);
  EXPECT_EQ(number(job, "SELECT count(*) FROM host"), 1);
}

TEST_F(Merge, KeepsHostsWithoutABootIdApart) {
  for (const char* name : {"a.sonde", "b.sonde"}) {
    test::TraceBuilder trace(folder_ / name);
    model::Host host;
    host.name = "imported";
    model::Process process;
    process.hostId = trace.add(host);
    trace.add(process);
    trace.finish();
  }
  const store::Database job = mergeAll({folder_ / "a.sonde", folder_ / "b.sonde"});
  EXPECT_EQ(number(job, "SELECT count(*) FROM host"), 2);
  EXPECT_EQ(number(job, "SELECT count(DISTINCT host_id) FROM process"), 2);
}

TEST_F(Merge, MatchesBothEndsOfEveryConnection) {
  TrainingRun runs[3];
  std::vector<std::string> paths;
  for (std::int64_t i = 0; i < 3; ++i) {
    runs[i].rank = i;
    runs[i].worldSize = 3;
    runs[i].bootId = fmt::format("boot-{}", i);
    runs[i].hostName = fmt::format("host-{}", i);
    paths.push_back(write(fmt::format("{}.sonde", i), runs[i]));
  }
  const store::Database job = mergeAll(paths);
  EXPECT_EQ(number(job, "SELECT count(*) FROM host"), 3);
  EXPECT_EQ(number(job, "SELECT count(*) FROM channel"), 6);
  EXPECT_EQ(number(job,
                   "SELECT count(*) FROM channel a JOIN channel b ON a.peer_channel_id = b.id AND "
                   "b.peer_channel_id = a.id AND a.local = b.remote AND a.remote = b.local"),
            6);
  // Every sent byte was received, by channel and offset.
  EXPECT_EQ(number(job,
                   "SELECT count(*) FROM transfer s JOIN channel c ON c.id = s.channel_id JOIN "
                   "transfer r ON r.channel_id = c.peer_channel_id AND r.direction = 'receive' AND "
                   "r.offset = s.offset AND r.bytes = s.bytes WHERE s.direction = 'send'"),
            number(job, "SELECT count(*) FROM transfer WHERE direction = 'send'"));
}

TEST_F(Merge, JoinsCommunicatorsAndCollectives) {
  const store::Database job = mergeAll({write("a.sonde", rank(0)), write("b.sonde", rank(1))});
  EXPECT_EQ(number(job,
                   "SELECT count(*) FROM communicator_member m JOIN process p ON p.id = "
                   "m.process_id WHERE p.rank = m.rank"),
            4);
  EXPECT_EQ(
      number(job,
             "SELECT count(*) FROM v_collective a JOIN v_collective b ON a.job_key = b.job_key "
             "AND a.seq = b.seq AND a.rank < b.rank AND a.bytes = b.bytes AND a.op = b.op"),
      60);
}

TEST_F(Merge, RefusesContradictionsAndNamesBothFiles) {
  const std::string a = write("a.sonde", rank(0));
  EXPECT_THAT(refusal({a, a}), HasSubstr("both hold rank 0"));

  TrainingRun other = rank(1);
  other.job = "job-2";
  const std::string b = write("b.sonde", other);
  const std::string message = refusal({a, b});
  EXPECT_THAT(message, HasSubstr("different jobs (job-1 and job-2)"));
  EXPECT_THAT(message, HasSubstr("a.sonde"));
  EXPECT_THAT(message, HasSubstr("b.sonde"));

  TrainingRun larger = rank(2);
  larger.worldSize = 4;
  EXPECT_THAT(refusal({a, write("c.sonde", larger)}), HasSubstr("different world sizes (2 and 4)"));

  TrainingRun later = rank(1);
  later.beginNs += 60 * 1000 * test::kMs;
  EXPECT_THAT(refusal({a, write("d.sonde", later)}),
              HasSubstr("one after the other, 56.9 s apart"));
}

TEST_F(Merge, TakesAnUnknownJobForTheKnownOne) {
  TrainingRun unknown = rank(1);
  unknown.job = "";
  const store::Database job = mergeAll({write("b.sonde", unknown), write("a.sonde", rank(0))});
  EXPECT_EQ(must(job.queryText("SELECT value FROM meta WHERE key = 'job'")), "job-1");
}

TEST_F(Merge, TakesUnfinishedRecordingsAndTheirOpenScopes) {
  TrainingRun unfinished = rank(1);
  unfinished.finalised = false;
  const std::string part = write("b.sonde.part", unfinished);
  {
    auto writer = must(store::TraceWriter::open(must(store::reopenTrace(part))));
    must(writer.begin());
    model::OpenScope open;
    open.spool = "s";
    open.token = 5;
    open.slice.id = writer.reserveSliceId();
    open.slice.threadId = model::ThreadId{1};
    open.slice.category = "annotation";
    open.slice.nameId = must(writer.intern("still open"));
    open.slice.startNs = unfinished.beginNs;
    must(writer.add(open));
    must(writer.commit());
  }
  const store::Database job = mergeAll({write("a.sonde", rank(0)), part});
  EXPECT_EQ(number(job, "SELECT count(*) FROM iteration"), 60);
  EXPECT_EQ(number(job,
                   "SELECT count(*) FROM v_slice WHERE name = 'still open' AND dur_ns IS NULL AND "
                   "rank = 1"),
            1);
}

// The file of a rank that is still recorded may be older than the begin of a later rank.
TEST_F(Merge, TakesARankThatIsRecordedStillForOneThatReachesTheOthers) {
  TrainingRun running = rank(0);
  running.finalised = false;
  const std::string part = write("a.sonde.part", running);
  {
    auto trace = must(store::Database::open(part, store::Access::ReadWrite));
    must(
        trace.exec("UPDATE process SET state = 'running', end_ns = NULL;"
                   "INSERT INTO meta VALUES('watermark_ns', '1700000000000000070')"));
  }
  TrainingRun later = rank(1);
  later.beginNs += 60 * 1000 * test::kMs;
  const store::Database job = mergeAll({part, write("b.sonde", later)});
  EXPECT_EQ(number(job, "SELECT watermark_ns FROM v_process WHERE rank = 0"), 1700000000000000070);
  EXPECT_EQ(number(job, "SELECT count(*) FROM v_process WHERE watermark_ns IS NOT NULL"), 1);
  EXPECT_EQ(number(job, "SELECT count(*) FROM meta WHERE key = 'watermark_ns'"), 0);
}

TEST_F(Merge, ReplacesAnOutputOnlyWhenAsked) {
  const std::string a = write("a.sonde", rank(0));
  const std::string output = folder_ / "out.sonde";
  test::writeText(output, "precious");
  const auto refused = merge({{a}, output, false});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
  EXPECT_EQ(test::readText(output), "precious");
  EXPECT_FALSE(merge({{a}, a, true}));
  EXPECT_TRUE(merge({{a}, output, true}));
  EXPECT_EQ(number(must(store::openTrace(output)), "SELECT count(*) FROM iteration"), 30);
}

TEST_F(Merge, SaysWhatIsWrongWithAnInput) {
  const auto missing = merge({{folder_ / "none.sonde"}, folder_ / "out.sonde", false});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
  EXPECT_FALSE(merge({{}, folder_ / "out.sonde", false}));
}

}  // namespace
}  // namespace sonde::engine::merge
