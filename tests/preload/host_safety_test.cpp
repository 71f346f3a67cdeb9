// Every target program under the real `sonde run`: the same status, the same output, and a trace
// with complete streams.
#include "analysis/store/database.h"
#include "analysis/store/statement.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace sonde::test {
namespace {

std::string target(const std::string& name) {
  return SONDE_TARGETS "/" + name;
}

// The expected contents of the trace, as words. `channels` and `transfers` count over all
// processes; they are unset if the program's own libc calls determine them.
struct Expected {
  int status = 0;
  int processes = 1;
  std::string marks{};
  std::optional<std::string> channels = "";
  std::optional<std::string> transfers = "";
  std::string losses{};
};

struct Case {
  std::string name;
  std::vector<std::string> words;
  Expected expected;
};
void PrintTo(const Case& test, std::ostream* out) {
  *out << test.name;
}

constexpr const char* kMarks =
    "SELECT group_concat(word, ', ') FROM (SELECT n.text || ' ' || count(*) AS word FROM slice s"
    " JOIN string n ON n.id = s.name_id WHERE s.kind = 'mark' AND s.category = 'process'"
    " GROUP BY n.text ORDER BY n.text)";
constexpr const char* kChannels =
    "SELECT group_concat(word, ', ') FROM (SELECT kind || ' ' || count(*) AS word FROM channel"
    " GROUP BY kind ORDER BY kind)";
constexpr const char* kTransfers =
    "SELECT group_concat(word, ', ') FROM (SELECT c.kind || ' ' || t.direction || ' ' ||"
    " sum(t.bytes) AS word FROM transfer t JOIN channel c ON c.id = t.channel_id"
    " GROUP BY c.kind, t.direction ORDER BY c.kind, t.direction)";
constexpr const char* kLosses =
    "SELECT group_concat(probe || ' ' || kind || ' ' || reason || ' ' || count, ', ') FROM loss";
// The program's last image: the result of the pid that was started first.
constexpr const char* kExitStatus =
    "SELECT exit_status FROM process WHERE pid = (SELECT pid FROM process ORDER BY start_ns LIMIT "
    "1)"
    " ORDER BY start_ns DESC LIMIT 1";

class RunTrace : public ::testing::Test {
 protected:
  Finished record(const std::vector<std::string>& words) {
    std::vector<std::string> command = {
        SONDE_PROGRAM, "run", "-f", "-o", folder_ / "trace.sonde", "--"};
    command.insert(command.end(), words.begin(), words.end());
    return runProgram(command);
  }

  // The first column of the first row; empty if it is NULL.
  std::string text(const std::string& sql) {
    auto trace = store::openTrace(folder_ / "trace.sonde");
    if (!trace) {
      ADD_FAILURE() << trace.error().message;
      return "no trace";
    }
    auto rows = trace->prepare(sql);
    if (!rows || !*rows->step()) {
      ADD_FAILURE() << sql;
      return "no row";
    }
    return std::string(rows->text(0));
  }

  std::int64_t count(const std::string& sql) {
    const std::string number = text(sql);
    return number.empty() ? 0 : std::atoll(number.c_str());
  }

  TemporaryFolder folder_;
};

class UnderRun : public RunTrace, public ::testing::WithParamInterface<Case> {};

TEST_P(UnderRun, LeavesTheProgramAsItIs) {
  const Finished plain = runProgram(GetParam().words);
  const Finished recorded = record(GetParam().words);
  EXPECT_EQ(plain.status, GetParam().expected.status) << plain.out << plain.err;
  EXPECT_EQ(recorded.status, plain.status);
  EXPECT_EQ(recorded.out, plain.out);
}

TEST_P(UnderRun, RecordsWhatTheProgramDid) {
  const Expected& expected = GetParam().expected;
  record(GetParam().words);
  EXPECT_EQ(count("SELECT count(*) FROM process"), expected.processes);
  EXPECT_EQ(count("SELECT count(*) FROM process WHERE end_ns IS NULL OR end_ns < start_ns"), 0);
  EXPECT_EQ(text(kMarks), expected.marks);
  if (expected.channels) {
    EXPECT_EQ(text(kChannels), *expected.channels);
  }
  if (expected.transfers) {
    EXPECT_EQ(text(kTransfers), *expected.transfers);
  }
  EXPECT_EQ(text(kLosses), expected.losses);
  if (expected.processes > 0) {
    EXPECT_EQ(text(kExitStatus), std::to_string(expected.status));
    EXPECT_THAT(text("SELECT command FROM process ORDER BY start_ns LIMIT 1"),
                ::testing::StartsWith(GetParam().words[0]));
  }
}

// Programs of this repository.
std::vector<Case> targets() {
  const Expected alone;
  const Expected leftAlone{.processes = 0, .losses = "process exec not followed 1"};
  return {
      {"fork_then_exec", {target("fork_then_exec")}, {.processes = 9, .marks = "fork 8"}},
      {"vfork_exec",
       {target("vfork_exec")},
       {.processes = 2,
        .marks = "exec 1",
        .channels = "pipe 3",
        .transfers = "pipe receive 20, pipe send 10"}},
      {"posix_spawn_empty_env",
       {target("posix_spawn_empty_env")},
       {.processes = 5, .marks = "fork 4"}},
      {"popen_system",
       {target("popen_system")},
       {.processes = 5, .channels = "pipe 2", .transfers = "pipe send 12"}},
      {"raw_clone_write",
       {target("raw_clone_write")},
       {.processes = 3,
        .marks = "fork 1",
        .channels = "pipe 8",
        .transfers = "pipe receive 31, pipe send 31"}},
      {"daemonise",
       {target("daemonise"), "/dev/null"},
       {.processes = 2,
        .marks = "fork 1",
        .channels = "pipe 2",
        .transfers = "pipe receive 2, pipe send 2"}},
      {"tcp_bypass",
       {target("tcp_bypass")},
       {.channels = "tcp 4", .transfers = "tcp receive 145, tcp send 15"}},
      {"inherited_stream",
       {target("inherited_stream")},
       {.processes = 2,
        .marks = "fork 1",
        .channels = "tcp 3",
        .transfers = "tcp receive 150, tcp send 150"}},
      {"dlopen_runpath", {target("dlopen_runpath")}, alone},
      // Its read throws: a channel without a transfer.
      {"exception_through_wrapper", {target("exception_through_wrapper")}, {.channels = "pipe 1"}},
      {"no_channels", {target("no_channels")}, alone},
      {"seccomp_filter",
       {target("seccomp_filter")},
       {.processes = 2,
        .marks = "fork 1, seccomp filter 1",
        .channels = std::nullopt,
        .transfers = std::nullopt}},
      {"close_no_descriptor", {target("close_no_descriptor")}, alone},
      {"hello_static", {target("hello_static")}, leftAlone},
      {"hello_asan", {target("hello_asan")}, leftAlone},
      {"hello_tsan", {target("hello_tsan")}, leftAlone},
#ifdef SONDE_HELLO_32BIT
      {"hello_32bit", {target("hello_32bit")}, leftAlone},
#endif
  };
}

// Foreign programs. libc's internal stdio calls are not seen, so pipes are left out.
std::vector<Case> programs() {
  return {
      {"bash",
       {"bash", "-c", "printf '3\n1\n2\n' | sort | head -2; (exit 5)"},
       {.status = 5,
        .processes = 3,
        .marks = "fork 4",
        .channels = std::nullopt,
        .transfers = std::nullopt}},
      // dash closes descriptor -1 at the end of a pipeline.
      {"dash_pipeline",
       {"/bin/dash", "-c", "printf '2\n1\n' | sort | head -1; echo a | cat"},
       {.processes = 6, .marks = "fork 5", .channels = std::nullopt, .transfers = std::nullopt}},
      {"python3",
       {"/usr/bin/python3", "-c", "import os\nprint(os.popen('echo deep').read())\nos._exit(7)"},
       {.status = 7,
        .processes = 2,
        .marks = "exec 1",
        .channels = std::nullopt,
        .transfers = "pipe receive 5, pipe send 5"}},
      {"git", {"git", "--no-pager", "-C", SONDE_SOURCE, "log", "-1", "--format=%H"}, {}},
      {"env_i",
       {"env", "-i", "/bin/sh", "-c", "echo bare; kill -TERM $$"},
       {.status = 128 + SIGTERM, .processes = 2, .marks = "exec 1"}},
  };
}

const auto kNameOfCase = [](const auto& test) { return test.param.name; };
INSTANTIATE_TEST_SUITE_P(Targets, UnderRun, ::testing::ValuesIn(targets()), kNameOfCase);
INSTANTIATE_TEST_SUITE_P(Programs, UnderRun, ::testing::ValuesIn(programs()), kNameOfCase);

TEST_F(RunTrace, AnExecAfterVforkIsTheCallingThreads) {
  const Finished recorded = record({target("vfork_in_thread")});
  EXPECT_EQ(recorded.status, 0);
  EXPECT_EQ(text("SELECT t.tid FROM slice s JOIN string n ON n.id = s.name_id"
                 " JOIN thread t ON t.id = s.thread_id WHERE n.text = 'exec'"),
            recorded.out);
}

// Only the handler's writes that interrupt a record are missing, one byte each.
TEST_F(RunTrace, LosesNoByteUncountedInSignalHandlers) {
  const Finished plain = runProgram({target("signals_in_emit")});
  const Finished recorded = record({target("signals_in_emit")});
  EXPECT_EQ(recorded.status, 0);
  EXPECT_EQ(recorded.out, plain.out);
  EXPECT_EQ(text(kChannels), "pipe 600, unix 2");
  const std::string bytes =
      "SELECT sum(bytes) FROM transfer t JOIN channel c ON c.id = t.channel_id WHERE c.kind = ";
  EXPECT_EQ(count(bytes + "'pipe' AND direction = 'send'"), 300);
  EXPECT_EQ(count(bytes + "'pipe' AND direction = 'receive'"), 300);
  const std::int64_t received = count(bytes + "'unix' AND direction = 'receive'");
  EXPECT_GT(received, 30'000);
  EXPECT_EQ(count(bytes + "'unix' AND direction = 'send'") +
                count("SELECT sum(count) FROM loss WHERE probe = 'net' AND kind = 'transfer'"
                      " AND reason = 'signal'"),
            received);
  EXPECT_EQ(count("SELECT count(*) FROM loss WHERE reason <> 'signal'"), 0);
}

// The three children record only readings of the clock. These and the row go through two
// conversions of ticks, so they agree except for rounding.
TEST_F(RunTrace, AProcessThatRecordsNothingElseLastsUntilItsLastClockSync) {
  EXPECT_EQ(record({"sh", "-c", "sleep 0.05; sleep 0.05 & wait; exec sleep 0.05"}).status, 0);
  EXPECT_EQ(count("SELECT count(*) FROM process"), 4);
  EXPECT_EQ(
      count("SELECT count(*) FROM process p JOIN (SELECT process_id, max(monotonic_ns) -"
            " min(monotonic_ns) AS ns FROM clock_sync GROUP BY process_id) c ON c.process_id ="
            " p.id WHERE c.ns > 0 AND p.end_ns - p.start_ns >= c.ns - c.ns / 10"),
      3);
}

// Over all processes: at each end of each stream, the sent and the received ranges cover the same
// bytes.
TEST_F(RunTrace, HasEveryByteAtBothEnds) {
  const Finished plain = runProgram({target("socket_random"), "5"});
  const Finished recorded = record({target("socket_random"), "5"});
  EXPECT_EQ(recorded.status, 0);
  EXPECT_EQ(recorded.out, plain.out);
  EXPECT_EQ(text(kExitStatus), "0");
  EXPECT_EQ(text(kLosses), "");
  EXPECT_EQ(text(kTransfers),
            "pipe receive 300000, pipe send 300000, tcp receive 300000, tcp send 300000,"
            " unix receive 600000, unix send 600000");
  EXPECT_EQ(count("SELECT count(*) FROM process") - 1,
            count("SELECT count(*) FROM slice WHERE kind = 'mark' AND category = 'process'"));
  EXPECT_EQ(count("SELECT count(*) FROM transfer WHERE exact = 0"), 0);
  EXPECT_EQ(count("SELECT sum(bytes) FROM transfer WHERE direction = 'send'"), 1'200'000);
  EXPECT_EQ(
      count("WITH ends AS (SELECT min(c.local, c.remote) AS low, max(c.local, c.remote) AS high,"
            " CASE WHEN t.direction = 'send' THEN c.local ELSE c.remote END AS sender, t.direction,"
            " max(t.offset + t.bytes) AS reach, sum(t.bytes) AS bytes FROM transfer t"
            " JOIN v_channel c ON c.id = t.channel_id GROUP BY 1, 2, 3, 4)"
            " SELECT count(*) FROM ends WHERE reach = 300000 AND bytes = 300000"),
      8);
}

}  // namespace
}  // namespace sonde::test
