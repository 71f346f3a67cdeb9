#include "collector/wire/iteration_keys.h"
#include "tests/support/spool_recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace sonde::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using wire::Probe;
using wire::SliceKind;

std::string target(const std::string& name) {
  return SONDE_TARGETS "/" + name;
}

RecordedProcess record(const std::vector<std::string>& words,
                       Finished* finished = nullptr,
                       const std::vector<std::string>& settings = {}) {
  SpoolRecording recording;
  const Finished result = recording.run(words, settings);
  EXPECT_EQ(result.status, 0) << result.err;
  if (finished != nullptr)
    *finished = result;
  std::vector<RecordedProcess> processes = recording.read();
  const auto program = std::find_if(processes.begin(),
                                    processes.end(),
                                    [](const RecordedProcess& p) { return !p.slices.empty(); });
  EXPECT_NE(program, processes.end());
  return program == processes.end() ? RecordedProcess{} : *program;
}

const RecordedSlice& markOf(const RecordedProcess& process, const std::string& name) {
  static const RecordedSlice none;
  const auto found = std::find_if(process.marks.begin(),
                                  process.marks.end(),
                                  [&](const RecordedSlice& mark) { return mark.name == name; });
  return found == process.marks.end() ? none : *found;
}

class NvtxEvents : public ::testing::Test {
 protected:
  // Once; not in SetUpTestSuite(), as it may fail: ctest would say that the tests were skipped.
  void SetUp() override {
    if (process_.slices.empty())
      process_ = record({target("nvtx_events")}, &finished_);
  }
  static RecordedProcess process_;
  static Finished finished_;
};
RecordedProcess NvtxEvents::process_;
Finished NvtxEvents::finished_;

TEST_F(NvtxEvents, PushAndPopReturnTheLevelOfTheirDomain) {
  EXPECT_EQ(
      finished_.out,
      "push 0\npush 1\npush 2\npop 2\npop 1\npop 0\npop -2\n"
      "net push 0\ndisk push 0\nnet push 1\ndisk pop 0\nnet pop 1\nnet pop 0\nsame domain 1\n");
}

TEST_F(NvtxEvents, PushedRangesNestAsOperations) {
  const RecordedSlice& outer = process_.slice("outer");
  const RecordedSlice& wide = process_.slice("gr\u00fc\u00dfe \U0001F600");
  const RecordedSlice& inner = process_.slice("inner");
  EXPECT_EQ(outer.kind, SliceKind::Operation);
  EXPECT_EQ(outer.depth, 0u);
  EXPECT_EQ(wide.depth, 1u);
  EXPECT_EQ(inner.depth, 2u);
  EXPECT_LT(outer.begin, wide.begin);
  EXPECT_LT(wide.begin, inner.begin);
  EXPECT_LT(inner.end, wide.end);
  EXPECT_LT(wide.end, outer.end);
}

TEST_F(NvtxEvents, CategoriesAndPayloadsAreArguments) {
  EXPECT_THAT(process_.slice("inner").args,
              ElementsAre(Pair("category", "seven"), Pair("payload", "-42")));
  EXPECT_THAT(markOf(process_, "mark ex").args, ElementsAre(Pair("payload", "0.500000")));
  EXPECT_THAT(markOf(process_, "uint64").args, ElementsAre(Pair("payload", "1234567890123")));
  EXPECT_THAT(markOf(process_, "uint32").args, ElementsAre(Pair("payload", "4000000000")));
  EXPECT_THAT(markOf(process_, "int32").args, ElementsAre(Pair("payload", "-5")));
  EXPECT_THAT(markOf(process_, "float").args, ElementsAre(Pair("payload", "1.250000")));
  EXPECT_TRUE(markOf(process_, "mark a").args.empty());
  EXPECT_EQ(markOf(process_, "mark w").name, "mark w");
}

TEST_F(NvtxEvents, ConventionalNamesGiveTheKind) {
  EXPECT_EQ(process_.slice("ProfilerStep#3").kind, SliceKind::Iteration);
  EXPECT_THAT(process_.slice("ProfilerStep#3").args,
              ElementsAre(Pair(SONDE_ITERATION_NUMBER, "3")));
  EXPECT_EQ(process_.slice("unnamed").kind, SliceKind::Operation);
}

TEST_F(NvtxEvents, DomainsHaveStacksAndCategoriesOfTheirOwn) {
  const RecordedSlice& call = process_.slice("call");
  const RecordedSlice& load = process_.slice("load");
  const RecordedSlice& other = process_.slice("unnamed category");
  EXPECT_THAT(call.args, ElementsAre(Pair("category", "rpc"), Pair("domain", "net")));
  EXPECT_THAT(load.args, ElementsAre(Pair("category", "read"), Pair("domain", "disk")));
  EXPECT_THAT(other.args, ElementsAre(Pair("category", "9"), Pair("domain", "net")));
  EXPECT_LT(load.end, other.end);  // popped first, though pushed before
  EXPECT_LT(other.end, call.end);
}

TEST_F(NvtxEvents, RegisteredStringsAreTheirText) {
  EXPECT_THAT(markOf(process_, "registered").args, ElementsAre(Pair("domain", "net")));
  EXPECT_THAT(markOf(process_, "registered w").args, ElementsAre(Pair("domain", "net")));
}

TEST_F(NvtxEvents, RangesMayOverlapAndEndOnAnotherThread) {
  const RecordedSlice& crossing = process_.slice("crossing");
  const RecordedSlice& overlap = process_.slice("overlap");
  EXPECT_EQ(crossing.kind, SliceKind::Range);
  EXPECT_NE(crossing.endThread, crossing.thread);
  EXPECT_LT(crossing.begin, overlap.begin);
  EXPECT_LT(crossing.end, overlap.end);
  EXPECT_THAT(process_.slice("range ex").args, ElementsAre(Pair("payload", "8")));
  EXPECT_THAT(process_.slice("range in domain").args, ElementsAre(Pair("domain", "range domain")));
  EXPECT_GT(process_.slice("range in domain").end, 0u);
}

TEST_F(NvtxEvents, NamesReachThreadsAndResources) {
  EXPECT_EQ(process_.threadNames[process_.slice("crossing").endThread], "closer");
  EXPECT_EQ(process_.threadNames[process_.slice("outer").thread], "driver");
  EXPECT_EQ(process_.texts["nvtx handle 0xabc"], "the queue");
}

TEST_F(NvtxEvents, WaitsForUserLocksAreWaits) {
  EXPECT_EQ(process_.slice("spinlock").kind, SliceKind::Wait);
  EXPECT_GT(process_.slice("spinlock").end, 0u);
}

TEST_F(NvtxEvents, OnlyThePopTooManyIsLost) {
  EXPECT_EQ(process_.lost(Probe::Nvtx), 1u);
  EXPECT_TRUE(std::all_of(process_.slices.begin(),
                          process_.slices.end(),
                          [](const RecordedSlice& slice) { return slice.end != 0; }));
}

TEST(NvtxScopes, CloseWhenAnExceptionLeavesThem) {
  const RecordedProcess process = record({target("nvtx_scopes")});
  EXPECT_THAT(
      process.slice("assembled").args,
      ElementsAre(Pair("category", "hot"), Pair("domain", "solver"), Pair("payload", "17")));
  EXPECT_EQ(std::count_if(process.slices.begin(),
                          process.slices.end(),
                          [](const RecordedSlice& slice) {
                            return slice.args.count("domain") == 1 && slice.end != 0;
                          }),
            4);
  EXPECT_EQ(process.slice("whole").kind, SliceKind::Range);
  EXPECT_EQ(markOf(process, "done").name, "done");
  EXPECT_EQ(process.lost(Probe::Nvtx), 0u);
}

TEST(NvtxCopies, OfOneProcessShareTheStacks) {
  Finished finished;
  const RecordedProcess process =
      record({target("nvtx_two_copies"), target("libnvtx_plugin.so")}, &finished);
  EXPECT_EQ(finished.out, "push 0\npop 0\n");
  EXPECT_EQ(process.slices.size(), 3u);
  EXPECT_EQ(process.slice("in the library").depth, 1u);
}

TEST(NvtxChain, OtherToolSeesItsEventsAndSondeAll) {
  Finished finished;
  const RecordedProcess process = record(
      {target("nvtx_chained")}, &finished, {"SONDE_CHAIN_NVTX=" + target("libnvtx_tool.so")});
  EXPECT_EQ(finished.out, "push 10\npop 10\npush 20\npop 0\nenabled 7\n");
  EXPECT_EQ(finished.err,
            "tool: here\ntool: push outer\ntool: pop\ntool: start known\ntool: end 101\n"
            "tool: push text in shared\ntool: push in wide in none\n");
  EXPECT_GT(process.slice("outer").end, 0u);
  EXPECT_GT(process.slice("known").end, 0u);
  EXPECT_GT(process.slice("unknown").end, 0u);
  EXPECT_THAT(process.slice("text").args, ElementsAre(Pair("domain", "shared")));
  EXPECT_THAT(process.slice("in wide").args, ElementsAre(Pair("domain", "wide")));
  EXPECT_EQ(markOf(process, "not for the tool").name, "not for the tool");
}

TEST(NvtxChain, OtherToolThatRefusesIsLeftOut) {
  Finished finished;
  const RecordedProcess process =
      record({target("nvtx_chained")},
             &finished,
             {"SONDE_CHAIN_NVTX=" + target("libnvtx_tool.so"), "NVTX_TOOL_REFUSES=1"});
  EXPECT_THAT(finished.out, HasSubstr("push 0\npop 0\npush 0\npop 0\n"));
  EXPECT_EQ(finished.err, "");
  EXPECT_GT(process.slice("outer").end, 0u);
}

TEST(NvtxChain, OtherToolWorksWhereNothingIsRecorded) {
  const Finished finished = runProgram({"env",
                                        "LD_PRELOAD=" + preloadLibrary(),
                                        "NVTX_INJECTION64_PATH=" + preloadLibrary(),
                                        "SONDE_CHAIN_NVTX=" + target("libnvtx_tool.so"),
                                        target("nvtx_chained")});
  EXPECT_EQ(finished.status, 0);
  EXPECT_THAT(finished.err, HasSubstr("tool: push outer\n"));
}

TEST(NvtxProbe, RecordsNothingWhenItIsNotASource) {
  SpoolRecording recording;
  recording.setProbes(1u << static_cast<unsigned>(Probe::Annotation));
  const Finished finished = recording.run({target("nvtx_chained")});
  EXPECT_THAT(finished.out, HasSubstr("push -2\n"));
  for (const RecordedProcess& process : recording.read())
    EXPECT_TRUE(process.slices.empty());
}

TEST(NvtxProbe, LeavesDomainsEnabledForTheExtensions) {
  Finished finished;
  record({target("nvtx_chained")}, &finished);
  EXPECT_THAT(finished.out, HasSubstr("enabled 1\n"));
}

TEST(NvtxProbe, KeepsItsStackAndItsRangesWhileRecordingIsOff) {
  const RecordedProcess process = record({target("nvtx_paused")});
  EXPECT_EQ(process.slices.size(), 3u);
  EXPECT_EQ(process.slice("inner").depth, 1u);
  EXPECT_GT(process.slice("inner").end, process.slice("inner").begin);
  EXPECT_GT(process.slice("outer").end, markOf(process, "before the end").begin);
  EXPECT_GT(process.slice("crossing").end, process.slice("crossing").begin);
  EXPECT_EQ(process.strayRangeEnds, 0u);
  EXPECT_EQ(process.lost(Probe::Nvtx), 0u);
}

}  // namespace
}  // namespace sonde::test
