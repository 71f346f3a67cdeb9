// Every target program under the real `sonde run`: the same status, the same output, and a trace
// whose streams are whole.
#include "analysis/store/database.h"
#include "analysis/store/statement.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sonde::test {
namespace {

std::string target(const std::string& name) {
  return SONDE_TARGETS "/" + name;
}

struct Case {
  std::string name;
  std::vector<std::string> words;
};
void PrintTo(const Case& test, std::ostream* out) {
  *out << test.name;
}

class UnderRun : public ::testing::TestWithParam<Case> {
 protected:
  Finished record(const std::vector<std::string>& words) {
    std::vector<std::string> command = {
        SONDE_PROGRAM, "run", "-f", "-o", folder_ / "trace.sonde", "--"};
    command.insert(command.end(), words.begin(), words.end());
    return runProgram(command);
  }

  std::int64_t count(const std::string& sql) {
    auto trace = store::openTrace(folder_ / "trace.sonde");
    if (!trace)
      ADD_FAILURE() << trace.error().message;
    auto rows = trace->prepare(sql);
    if (!rows || !*rows->step())
      ADD_FAILURE() << sql;
    return rows->integer(0);
  }

  TemporaryFolder folder_;
};

TEST_P(UnderRun, LeavesTheProgramAsItIs) {
  const Finished plain = runProgram(GetParam().words);
  const Finished recorded = record(GetParam().words);
  EXPECT_EQ(recorded.status, plain.status);
  EXPECT_EQ(recorded.out, plain.out);
  EXPECT_GE(count("SELECT count(*) FROM process"),
            0);  // a trace that can be read, whatever was followed
}

std::vector<Case> cases() {
  std::vector<Case> cases;
  for (const char* name : {"fork_then_exec",
                           "vfork_exec",
                           "posix_spawn_empty_env",
                           "popen_system",
                           "raw_clone_write",
                           "dlopen_runpath",
                           "exception_through_wrapper",
                           "signals_in_emit",
                           "tcp_bypass",
                           "inherited_stream",
                           "no_channels",
                           "hello_static",
                           "hello_asan",
                           "hello_tsan",
                           "socket_random"})
    cases.push_back({name, {target(name)}});
  cases.push_back({"daemonise", {target("daemonise"), "/dev/null"}});
  cases.push_back({"bash", {"bash", "-c", "ls / | sort | head -3; (exit 5)"}});
  cases.push_back(
      {"python3",
       {"python3", "-c", "import os\nprint(os.popen('echo deep').read())\nos._exit(7)"}});
  cases.push_back({"git", {"git", "--no-pager", "-C", SONDE_SOURCE, "log", "-1", "--format=%H"}});
  cases.push_back({"env_i", {"env", "-i", "/bin/sh", "-c", "echo bare; kill -TERM $$"}});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Programs, UnderRun, ::testing::ValuesIn(cases()), [](const auto& test) {
  return test.param.name;
});

using RunTrace = UnderRun;

// Over all processes together: at each end of each stream, what was sent and what was received tile
// the same bytes.
TEST_P(RunTrace, HasEveryByteAtBothEnds) {
  EXPECT_EQ(record(GetParam().words).status, 0);
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

INSTANTIATE_TEST_SUITE_P(Traffic,
                         RunTrace,
                         ::testing::Values(Case{"seed_5", {target("socket_random"), "5"}}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace sonde::test
