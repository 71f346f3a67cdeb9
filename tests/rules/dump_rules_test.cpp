// The rules hang and collective-mismatch on dumps of PyTorch's NCCL flight recorder.
#include "analysis/finalise/finaliser.h"
#include "analysis/ingest/import_job.h"
#include "analysis/store/trace_file.h"
#include "rules/engine/check.h"
#include "tests/support/flight_dump.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sonde::rules {
namespace {

using sonde::test::FlightCall;
using sonde::test::FlightDump;
using sonde::test::kFlightNs;
using sonde::test::must;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DumpRules : public ::testing::Test {
 protected:
  // The dumps are those of ranks 0, 1, ….
  std::vector<CheckResult> judge(const std::string& name, const std::vector<FlightDump>& dumps) {
    const std::filesystem::path path = folder_ / "t.sonde";
    std::filesystem::remove(path);
    std::vector<std::filesystem::path> files;
    for (const FlightDump& dump : dumps) {
      files.push_back(folder_ / ("_dump_" + std::to_string(files.size())));
      sonde::test::writeText(files.back(), dump.text());
    }
    auto job = must(ingest::ImportJob::create(path, {}));
    must(job.add(files));
    must(store::finalise(must(job.release())));
    const RuleInfo& info = *findRule(name);
    const ConfiguredRule rule{&info, Severity::Error, Parameters(info.parameters)};
    const store::Database trace = must(store::openTrace(path));
    return must(check(trace, {{rule}, {}})).results;
  }
  // "fired rank 2", for each result.
  std::vector<std::string> verdicts(const std::string& name, const std::vector<FlightDump>& dumps) {
    std::vector<std::string> texts;
    results_ = judge(name, dumps);
    for (const CheckResult& result : results_)
      texts.push_back(std::string(wordOf(result.outcome.verdict)) + " " + result.entity);
    return texts;
  }
  std::string message() const { return results_.empty() ? "" : results_[0].outcome.message; }

  sonde::test::TemporaryFolder folder_;
  std::vector<CheckResult> results_;
};

FlightDump of(const char* ranks) {
  FlightDump dump;
  dump.group("0", ranks, "default_pg");
  return dump;
}

TEST_F(DumpRules, HangNamesAMemberWithoutAnyEntry) {
  const FlightDump waits = of("[0, 1, 2]").status("0", 7, 6).call({.seq = 7});
  EXPECT_THAT(verdicts("hang", {waits, waits, of("[0, 1, 2]")}), ElementsAre("fired rank 2"));
  EXPECT_EQ(message(),
            "has not entered allreduce 7; rank 0, rank 1 wait for it; the job stood still when the "
            "dumps were written; its dump has no unfinished call");
  EXPECT_FALSE(results_[0].outcome.value);
}

// Rank 1 has finished 5, so rank 0 has done its part of it, and waits for nobody in it.
TEST_F(DumpRules, HangNamesARankBehindInFinishedCollectives) {
  const auto late = [](std::int64_t finishedByOthers) {
    return std::vector{
        of("[0, 1]").status("0", 6, 4).call({.seq = 5}).call({.seq = 6}),
        of("[0, 1]").status("0", 6, finishedByOthers).call({.seq = finishedByOthers + 1})};
  };
  EXPECT_THAT(verdicts("hang", late(5)), ElementsAre("fired rank 0"));
  EXPECT_EQ(
      message(),
      "has not finished allreduce 5, which rank 1 finished; rank 1 waits for it; the job stood "
      "still when the dumps were written; its oldest unfinished call is collective allreduce "
      "5");
  EXPECT_THAT(verdicts("hang", late(4)), ElementsAre("fired rank 1"));  // has not entered 6
}

TEST_F(DumpRules, HangNamesNobodyIfAllHaveEntered) {
  const FlightDump waits = of("[0, 1]").status("0", 5, 4).call({.seq = 5});
  EXPECT_THAT(verdicts("hang", {waits, waits}), ElementsAre("fired job"));
  EXPECT_THAT(message(), HasSubstr("all members are in allreduce 5"));
}

// The root of a broadcast may finish it before the others.
TEST_F(DumpRules, HangComparesOnlyCollectivesThatNeedAllMembers) {
  const FlightDump late = of("[0, 1]").status("0", 5, 4).call({.seq = 5, .name = "nccl:broadcast"});
  const FlightDump ahead = of("[0, 1]").status("0", 5, 5).call(
      {.seq = 5, .name = "nccl:broadcast", .state = "completed"});
  EXPECT_THAT(verdicts("hang", {late, ahead}), ElementsAre("fired job"));
}

// In a group with sends and receives the numbers of its status count those, too.
TEST_F(DumpRules, HangIgnoresNumbersThatCountMessages) {
  const FlightDump late = of("[0, 1]").status("0", 5, 4).call({.seq = 5, .messages = 70});
  const FlightDump other = of("[0, 1]").status("0", 75, 74).call({.seq = 5, .messages = 70});
  EXPECT_THAT(verdicts("hang", {late, other}), ElementsAre("fired job"));
}

// Positions 0 and 1 of the group are ranks 1 and 3.
TEST_F(DumpRules, HangFindsThePeerOfAMessageInItsGroup) {
  const FlightDump idle = of("[0, 1, 2, 3]");
  FlightDump waits = idle;
  waits.group("1", "[1, 3]", "PP").call({.name = "nccl:recv 0<-1", .group = "1", .messages = 1});
  FlightDump peer = idle;
  peer.group("1", "[1, 3]", "PP");
  EXPECT_THAT(verdicts("hang", {idle, waits, idle, peer}), ElementsAre("fired rank 3"));
  EXPECT_THAT(message(), HasSubstr("rank 1 waits for it"));
}

TEST_F(DumpRules, HangPassesIfNothingIsUnfinished) {
  const FlightDump done = of("[0, 1]").call({.state = "completed"});
  const FlightDump timed =
      of("[0, 1]").call({.state = "completed", .completedNs = kFlightNs + 1000});
  EXPECT_THAT(verdicts("hang", {done, timed}), ElementsAre("pass job"));
}

TEST_F(DumpRules, HangNamesTheOneRankWithoutADump) {
  const FlightDump waits = of("[0, 1, 2]").call({.seq = 7});
  EXPECT_THAT(verdicts("hang", {waits, waits}), ElementsAre("fired rank 2"));
  const FlightDump two = of("[0, 1, 2, 3]").call({.seq = 7});
  EXPECT_THAT(verdicts("hang", {two, two}), ElementsAre("fired job"));
}

struct Pair {
  const char* what;
  std::vector<FlightCall> first;
  std::vector<FlightCall> second;
  const char* aspect;  // empty: no mismatch
};

FlightCall call(const char* name, const char* input, const char* output) {
  return {.name = name, .input = input, .output = output};
}

std::vector<Pair> pairs() {
  const FlightCall sum;
  FlightCall half = sum;
  half.inputType = half.outputType = "Half";
  FlightCall halfOut = sum;
  halfOut.outputType = "Half";
  FlightCall done = sum;
  done.state = "completed";
  FlightCall started = sum;
  started.state = "started";
  FlightCall noOutput = call("nccl:gather", "[[4,4]]", "[[]]");
  noOutput.outputType = "";
  const FlightCall part = call("nccl:_broadcast_oop", "[[4,4]]", "[[4,4]]");
  const FlightCall larger = call("nccl:_broadcast_oop", "[[5,5]]", "[[5,5]]");
  const FlightCall uneven = call("nccl:ALLGATHER_coalesced", "[[]]", "[[]]");
  FlightCall broadcastDone = call("nccl:broadcast", "[[4,4]]", "[[4,4]]");
  broadcastDone.state = "completed";
  return {
      {"equal", {sum}, {sum}, ""},
      {"operation", {sum}, {call("nccl:all_gather", "[[4,4]]", "[[4,4]]")}, "operation"},
      {"input", {sum}, {call("nccl:all_reduce", "[[5,4]]", "[[4,4]]")}, "size"},
      {"output", {sum}, {call("nccl:all_reduce", "[[4,4]]", "[[5,4]]")}, "size"},
      {"shape of equal bytes", {sum}, {call("nccl:all_reduce", "[[2,8]]", "[[2,8]]")}, "size"},
      {"type", {sum}, {half}, "type"},
      {"output type", {sum}, {halfOut}, "type"},
      {"state", {sum}, {done}, "state"},
      {"scheduled and started", {sum}, {started}, ""},
      {"a root is done first", {call("nccl:broadcast", "[[4,4]]", "[[4,4]]")}, {broadcastDone}, ""},
      {"all-to-all with splits",
       {call("nccl:all_to_all", "[[4,4]]", "[[7,4]]")},
       {call("nccl:all_to_all", "[[6,4]]", "[[3,4]]")},
       ""},
      {"gather to the root", {call("nccl:gather", "[[4,4]]", "[[4,4],[4,4]]")}, {noOutput}, ""},
      {"gather of other inputs",
       {call("nccl:gather", "[[4,4]]", "[[4,4],[4,4]]")},
       {call("nccl:gather", "[[5,4]]", "[[]]")},
       "size"},
      {"scatter from the root",
       {call("nccl:scatter", "[[4,4],[4,4]]", "[[4,4]]")},
       {call("nccl:scatter", "[[]]", "[[4,4]]")},
       ""},
      {"scatter into other outputs",
       {call("nccl:scatter", "[[4,4],[4,4]]", "[[4,4]]")},
       {call("nccl:scatter", "[[]]", "[[5,4]]")},
       "size"},
      {"uneven all-gather", {part, larger, uneven}, {part, larger, uneven}, ""},
      {"parts differ", {part, larger, uneven}, {part, part, uneven}, "size"},
  };
}

TEST_F(DumpRules, MismatchesOfPairs) {
  for (const Pair& pair : pairs()) {
    SCOPED_TRACE(pair.what);
    FlightDump first = of("[0, 1]");
    for (const FlightCall& each : pair.first)
      first.call(each);
    FlightDump second = of("[0, 1]");
    for (const FlightCall& each : pair.second)
      second.call(each);
    const auto found = verdicts("collective-mismatch", {first, second});
    if (*pair.aspect == '\0') {
      EXPECT_THAT(found, ElementsAre("pass job"));
    } else {
      EXPECT_THAT(found, ElementsAre("fired rank 0", "fired rank 1"));
      EXPECT_THAT(message(), HasSubstr(std::string("the ") + pair.aspect + " of collective 1"));
    }
  }
}

TEST_F(DumpRules, MismatchNamesTheMinority) {
  const FlightDump most = of("[0, 1, 2]").call({});
  const FlightDump odd = of("[0, 1, 2]").call(call("nccl:all_reduce", "[[5,4]]", "[[5,4]]"));
  EXPECT_THAT(verdicts("collective-mismatch", {most, odd, most}), ElementsAre("fired rank 1"));
  EXPECT_EQ(
      message(),
      "the size of collective 1 of group default_pg 0 differs: [[4,4]] in [[4,4]] out on rank "
      "0, rank 2, [[5,4]] in [[5,4]] out on rank 1");
}

TEST_F(DumpRules, MismatchNeedsTwoDumps) {
  EXPECT_THAT(verdicts("collective-mismatch", {of("[0, 1]").call({})}),
              ElementsAre("insufficient job"));
}

TEST_F(DumpRules, DroppedDataIgnoresWhatTheRingDropped) {
  const FlightDump dump = of("[0, 1]").call({.seq = 900});
  EXPECT_THAT(verdicts("dropped-data", {dump, dump}), ElementsAre("pass job"));
}

}  // namespace
}  // namespace sonde::rules
