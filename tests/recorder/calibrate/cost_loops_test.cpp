#include "recorder/calibrate/cost_loops.h"

#include "analysis/model/words.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

namespace sonde::recorder {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// For a job that has used CUDA. A script stands in for the programs. Its arguments show whether it
// should make calls of CUDA, and its environment whether a session records them.
class CostLoopsTest : public testing::Test {
 protected:
  CostLoopsTest() {
    loops_.environment = {"PATH=/usr/bin:/bin"};
    loops_.probeMask =
        static_cast<std::uint32_t>(model::probeBit("cuda") | model::probeBit("annotation"));
    loops_.session = folder_ / "session";
    std::filesystem::create_directory(loops_.session);
    loops_.part = folder_ / "job.sonde.part";
    loops_.cuda = true;
    loops_.program = folder_ / "program";
    loops_.say = [this](const std::string& line) { lines_.push_back(line); };
  }

  void use(const char* uuid) {
    test::TraceBuilder trace(loops_.part);
    model::Host host;
    host.name = "host";
    model::Process process;
    process.hostId = trace.add(host);
    model::Arg fact;
    fact.owner = model::Owner::Process;
    const auto id = trace.add(process);
    fact.ownerId = id.value;
    fact.keyId = trace.name("sonde.cupti");
    fact.value = "/a/libcupti.so.13";
    trace.add(fact);
    model::Device device;
    device.hostId = process.hostId;
    device.kind = "gpu";
    device.uuid = uuid;
    model::Stream stream;
    stream.processId = id;
    stream.deviceId = trace.add(device);
    trace.add(stream);
    trace.finish(false);
  }

  // `cuda`: the script's commands when it should make calls of CUDA.
  CostsFound measured(const std::string& cuda, const std::stop_token& asked = {}) {
    if (!std::filesystem::exists(loops_.part))
      use(kGpu);
    test::writeText(
        loops_.program,
        "#!/bin/sh\nif [ $# = 0 ]; then echo \"annotation|mark|${SONDE_SESSION:+1}50\"; "
        "exit; fi\n" +
            cuda + "\n");
    chmod(loops_.program.c_str(), 0700);
    CostsFound found = measureCosts(loops_, asked);
    EXPECT_TRUE(std::filesystem::is_empty(loops_.session));
    return found;
  }

  // Measures host loops only. The script runs `recorded` first if it is recorded, and then
  // `always`; `runs` is the number of its runs so far.
  CostsFound measuredOfHost(const std::string& recorded,
                            const std::string& always,
                            const std::stop_token& asked = {}) {
    loops_.cuda = false;
    test::writeText(loops_.program,
                    "#!/bin/sh\necho >> " + count_ + "\nruns=$(wc -l < " + count_ +
                        ")\nif [ -n \"$SONDE_SESSION\" ]; then " + recorded + "; fi\n" + always +
                        "\n");
    chmod(loops_.program.c_str(), 0700);
    return measureCosts(loops_, asked);
  }
  int runs() const { return static_cast<int>(test::readText(count_).size()); }

  static std::vector<std::string> namesOf(const CostsFound& found) {
    std::vector<std::string> names;
    for (const auto& cost : found.costs)
      names.push_back(cost.probe + "." + cost.api);
    return names;
  }

  static constexpr char kGpu[] = "GPU-00000000-0000-0000-0000-000000000001";
  static constexpr char kNoRoom[] = "the spool has no room to record a program that makes them";
  static constexpr char kNoLonger[] =
      "CUPTI's records do not make the calls of a program significantly slower";
  static constexpr char kWorks[] = "echo \"cuda|launch|${SONDE_SESSION:+1}2000\"";

  test::TemporaryFolder folder_;
  CostLoops loops_;
  std::string count_ = folder_ / "count";
  std::vector<std::string> lines_;
};

TEST_F(CostLoopsTest, MeasureCallsOfTheHostAndOfCuda) {
  const CostsFound found = measured(kWorks);
  EXPECT_THAT(namesOf(found), ElementsAre("annotation.mark", "cuda.launch"));
  EXPECT_NEAR(found.costs[0].cost.sumNs(), 100, 1e-9);
  EXPECT_NEAR(found.costs[1].cost.sumNs(), 10'000, 1e-9);
  EXPECT_EQ(found.whyNoCuda, "");
  EXPECT_EQ(lines_.size(), 1U);
}

TEST_F(CostLoopsTest, ProgramsAreToldTheJobsLibraryAndGpu) {
  const CostsFound found =
      measured(std::string("[ $1,$2 = /a/libcupti.so.13,") + kGpu + " ] && " + kWorks);
  EXPECT_EQ(found.whyNoCuda, "");
}

TEST_F(CostLoopsTest, LeaveTheGpuAloneWhereThereIsAHindrance) {
  loops_.cudaHindrance = "the job has failed";
  const CostsFound found = measured(kWorks);
  EXPECT_THAT(namesOf(found), ElementsAre("annotation.mark"));
  EXPECT_EQ(found.whyNoCuda, "the job has failed");
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(CostLoopsTest, LeaveTheGpuAloneOnceTheyAreAskedToEnd) {
  std::stop_source source;
  source.request_stop();
  const CostsFound found = measured(kWorks, source.get_token());
  EXPECT_THAT(namesOf(found), ElementsAre("annotation.mark"));
  EXPECT_EQ(found.whyNoCuda, "it was interrupted");
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(CostLoopsTest, SayWhyTheyToldNothing) {
  EXPECT_EQ(measured("exit 1").whyNoCuda, "a program that makes them did not run on the job's GPU");
  EXPECT_EQ(measured("[ -n \"$SONDE_SESSION\" ] || echo 'cuda|launch|2000'").whyNoCuda,
            "Sonde could not record a program that makes them");
  EXPECT_EQ(measured("echo 'cuda|launch|2000'").whyNoCuda, kNoLonger);
  loops_.mostCudaTime = std::chrono::milliseconds(300);
  EXPECT_EQ(measured("exec sleep 1000").whyNoCuda, "the GPU took more than 0.3 s");
}

TEST_F(CostLoopsTest, SayThatTheGpuIsNotKnown) {
  use("");
  test::writeText(loops_.program, "#!/bin/sh\n");
  EXPECT_EQ(measureCosts(loops_, {}).whyNoCuda, "the job's GPU is unknown");
}

TEST_F(CostLoopsTest, AreNoneOfCudaUnlessTheRunCalibratesItself) {
  loops_.cuda = false;
  const CostsFound found = measured(kWorks);
  EXPECT_THAT(namesOf(found), ElementsAre("annotation.mark"));
  EXPECT_EQ(found.whyNoCuda, "");
}

// Each round has its own session: a full one would record nothing.
TEST_F(CostLoopsTest, AreOfTwoRounds) {
  const CostsFound found =
      measuredOfHost("mkdir \"$SONDE_SESSION/used\" || exit 1",
                     "echo \"annotation|mark|${SONDE_SESSION:+1}50\"\necho 'io|call|7'");
  EXPECT_THAT(namesOf(found), ElementsAre("annotation.mark"));
  EXPECT_EQ(runs(), 6) << "what is not recorded is not tried again";
}

// If the machine's speed changes between two programs, recorded calls may be the faster ones.
TEST_F(CostLoopsTest, TryAgainWhatDidNotShow) {
  const CostsFound found =
      measuredOfHost(":",
                     "case $runs in 1) bare=200;; 4) bare=50;; *) bare=60;; esac\n"
                     "[ -n \"$SONDE_SESSION\" ] && ns=150 || ns=$bare\n"
                     "echo \"annotation|mark|$ns\"\n"
                     "echo \"annotation|scope|${SONDE_SESSION:+1}50\"");
  ASSERT_THAT(namesOf(found), ElementsAre("annotation.mark", "annotation.scope"));
  EXPECT_NEAR(found.costs[0].cost.sumNs(), 100, 1e-9);
  EXPECT_NEAR(found.costs[0].errorNs, std::hypot(50, 10), 1e-9) << "all rounds count";
  EXPECT_EQ(runs(), 9);
}

TEST_F(CostLoopsTest, TryThreeTimesAtMost) {
  EXPECT_THAT(namesOf(measuredOfHost(":", "echo 'annotation|mark|50'")), IsEmpty());
  EXPECT_EQ(runs(), 9);
}

TEST_F(CostLoopsTest, TryNothingAgainOnceTheyAreAskedToEnd) {
  std::stop_source source;
  source.request_stop();
  measuredOfHost(":", "echo 'annotation|mark|50'", source.get_token());
  EXPECT_EQ(runs(), 6);
}

TEST_F(CostLoopsTest, TryNothingAgainThatCannotBeRecorded) {
  EXPECT_THAT(namesOf(measuredOfHost("exit 1", "echo 'annotation|mark|50'")), IsEmpty());
  EXPECT_EQ(runs(), 3);
}

TEST_F(CostLoopsTest, SayThatThereIsNoRoom) {
  use(kGpu);
  std::filesystem::create_directory(loops_.session / kCostFolders[0]);
  EXPECT_EQ(measureCosts(loops_, {}).whyNoCuda, kNoRoom);
}

TEST_F(CostLoopsTest, SayThatThereIsNoRoomAnyMore) {
  const std::string taken = (loops_.session / kCostFolders[0]).string();
  loops_.say = [&](const std::string&) { std::filesystem::create_directory(taken); };
  use(kGpu);
  test::writeText(loops_.program, "#!/bin/sh\n");
  EXPECT_EQ(measureCosts(loops_, {}).whyNoCuda, kNoRoom);
}

}  // namespace
}  // namespace sonde::recorder
