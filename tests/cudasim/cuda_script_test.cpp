// A program of CUDA's runtime API with a CUPTI client that the driver injects: every record that
// the client gets matches the device's work, in both variants.
#include "tests/cudasim/client/decode.h"
#include "tests/support/run_program.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace {

using cudasim_client::owed;
using cudasim_client::readLines;
using cudasim_client::sorted;
using nlohmann::json;
using sonde::test::runProgram;
using sonde::test::TemporaryFolder;

struct Outcome {
  int status = -1;
  std::string err;
  std::vector<json> truth;
  std::vector<json> records;
  json end;
};

size_t countOf(const std::vector<json>& lines, const std::string& kind) {
  return static_cast<size_t>(std::count_if(
      lines.begin(), lines.end(), [&](const json& line) { return line["kind"] == kind; }));
}

class CudaScript : public testing::TestWithParam<int> {
 protected:
  // Runs the script with the injected client and `environment`, as words for env(1).
  Outcome run(const std::string& script, const std::vector<std::string>& environment = {}) const {
    const TemporaryFolder folder;
    std::vector<std::string> words{
        "env",
        fmt::format("LD_LIBRARY_PATH={}/cuda{}", CUDASIM_FOLDER, GetParam()),
        "CUDA_INJECTION64_PATH=" CUDASIM_INJECTED,
        "CUDASIM_TRUTH=" + folder / "truth",
        "CUDASIM_CLIENT_OUT=" + folder / "records"};
    words.insert(words.end(), environment.begin(), environment.end());
    words.push_back(fmt::format("{}/cuda_script{}", CUDASIM_TARGETS, GetParam()));
    words.push_back(script);
    const sonde::test::Finished finished = runProgram(words);
    Outcome run{finished.status,
                finished.err,
                readLines(folder / "truth"),
                readLines(folder / "records"),
                {}};
    if (!run.records.empty()) {
      run.end = run.records.back();
      run.records.pop_back();
    }
    return run;
  }
};

INSTANTIATE_TEST_SUITE_P(Cuda, CudaScript, testing::Values(12, 13));

TEST_P(CudaScript, RecordsAreWhatTheDeviceDid) {
  const Outcome got = run("mixed");
  ASSERT_EQ(got.status, 0) << got.err;
  EXPECT_EQ(got.end["version"], GetParam() == 12 ? 24 : 130001);
  EXPECT_EQ(sorted(got.records), sorted(owed(got.truth)));
  EXPECT_EQ(countOf(got.records, "kernel"), 11U);  // five launched, two graphs of three
  EXPECT_EQ(countOf(got.records, "memcpy"), 4U);
  for (const char* kind : {"memcpy2", "memset", "cuda_event", "jit"}) {
    EXPECT_EQ(countOf(got.records, kind), 1U) << kind;
  }
  EXPECT_EQ(countOf(got.records, "driver"), 0U);  // the runtime's own calls are not the program's
}

TEST_P(CudaScript, AGraphIsOneRecordWhenGraphsAreTraced) {
  const Outcome got = run("mixed", {"CUDASIM_CLIENT_GRAPHS=1"});
  ASSERT_EQ(got.status, 0) << got.err;
  EXPECT_EQ(sorted(got.records), sorted(owed(got.truth)));
  EXPECT_EQ(countOf(got.records, "graph_trace"), 2U);
  EXPECT_EQ(countOf(got.records, "kernel"), 5U);
}

TEST_P(CudaScript, ThreadsRunAtOnce) {
  const Outcome got = run("threads");
  ASSERT_EQ(got.status, 0) << got.err;
  EXPECT_EQ(sorted(got.records), sorted(owed(got.truth)));
  std::set<uint64_t> threads;
  for (const json& record : got.records) {
    if (record["kind"] == "runtime") {
      threads.insert(record["thread"].get<uint64_t>());
    }
  }
  EXPECT_EQ(threads.size(), 2U);
}

TEST_P(CudaScript, DropsEveryThirdRecordAndCountsIt) {
  const Outcome got = run("mixed", {"CUDASIM_DROP_EVERY=3"});
  ASSERT_EQ(got.status, 0) << got.err;
  EXPECT_GT(countOf(got.truth, "dropped"), 10U);
  EXPECT_EQ(got.end["dropped"], countOf(got.truth, "dropped"));
  EXPECT_EQ(sorted(got.records), sorted(owed(got.truth)));
}

TEST_P(CudaScript, WhatIsNotFlushedAtTheEndIsLost) {
  const Outcome got = run("mixed", {"CUDASIM_CLIENT_FLUSH=0"});
  ASSERT_EQ(got.status, 0) << got.err;
  EXPECT_THAT(got.records, testing::IsEmpty());
  EXPECT_GT(countOf(got.truth, "lost-at-exit"), 90U);
  EXPECT_THAT(owed(got.truth), testing::IsEmpty());
}

TEST_P(CudaScript, AResetLosesTheDevicesRecords) {
  const Outcome got = run("reset");
  ASSERT_EQ(got.status, 0) << got.err;
  EXPECT_EQ(countOf(got.truth, "lost-at-reset"), 10U);
  EXPECT_EQ(countOf(got.records, "kernel"), 1U);
  EXPECT_EQ(sorted(got.records), sorted(owed(got.truth)));
}

TEST_P(CudaScript, WithoutADriverNothingCanBeEnabled) {
  const Outcome got = run("mixed", {"CUDASIM_NO_DRIVER=1"});
  EXPECT_EQ(got.status, 3);
  EXPECT_THAT(got.err, testing::HasSubstr("cudaErrorNoDevice"));
  EXPECT_EQ(got.end["enabled"], 999);
  EXPECT_THAT(got.records, testing::IsEmpty());
}

TEST_P(CudaScript, SaysTheVersionItIsTold) {
  const Outcome got = run("unsynchronised", {"CUDASIM_CUPTI_VERSION=990000"});
  EXPECT_EQ(got.end["version"], 990000);
}

TEST_P(CudaScript, HasAsManyDevicesAsItIsTold) {
  EXPECT_EQ(countOf(run("unsynchronised", {"CUDASIM_DEVICES=5"}).records, "device"), 5U);
}

TEST_P(CudaScript, AScriptOfAFile) {
  const TemporaryFolder folder;
  const std::string script = folder / "script";
  sonde::test::writeText(script,
                         "# two streams\nlaunch name=left ns=3000 stream=1 count=2\n"
                         "copy kind=dtod bytes=100 ns=7000 stream=2\nsync\nquit code=5\n");
  const Outcome got = run(script);
  EXPECT_EQ(got.status, 5);
  EXPECT_EQ(countOf(got.truth, "kernel"), 2U);  // written although nothing ran at exit
  EXPECT_EQ(countOf(got.truth, "memcpy"), 1U);
  for (const json& line : got.truth) {
    if (line["kind"] == "memcpy") {
      EXPECT_EQ(line["end"].get<uint64_t>() - line["start"].get<uint64_t>(), 7000U);
    }
  }
}

}  // namespace
