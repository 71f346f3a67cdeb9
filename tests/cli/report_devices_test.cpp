// Devices in `sonde report`: the sections of --full, the keys of its JSON, and the definitions of
// HolisticTraceAnalysis.
#include "tests/support/device_trace.h"
#include "tests/support/run_program.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::int64_t kUs = 1000;

//   µs        0    10   20   30   40   50   60   70   80   90   100
//   stream 7       gemm------|gemm-----|                           of rank 0; rank 1's begins at 30
//   stream 9                      |nccl--------------|             rank 0 comes first, at 35
//   stream 7                                              copy     (80-85)
class DeviceReport : public test::DeviceTrace {
 protected:
  void writeJob(std::int64_t steps) {
    for (const std::int64_t number : {0, 1}) {
      const Rank one = rank(number);
      const auto main = stream(one, 7);
      const auto side = stream(one, 9);
      const auto group =
          trace_->add(model::Communicator{.processId = one.process, .jobKey = "world", .size = 2});
      for (std::int64_t at = 0; at < steps; ++at) {
        const std::int64_t from = at * 100 * kUs;
        const auto us = [&](std::int64_t begin, std::int64_t end) {
          return Span{from + begin * kUs, from + end * kUs};
        };
        step(one, at, us(0, 100));
        kernel(main, "gemm", us(10 + 20 * number, 30), call(one, "cudaLaunchKernel", us(2, 4)));
        kernel(main, "gemm", us(30, 40), call(one, "cudaLaunchKernel", us(4, 6)));
        const auto ran = kernel(side,
                                "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                                us(35 + 5 * number, 60),
                                call(one, "cudaLaunchKernelExC", us(6, 8)));
        trace_->add(model::Collective{.processId = one.process,
                                      .communicatorId = group,
                                      .seq = at,
                                      .bytes = 20'000,
                                      .kernelId = ran,
                                      .startNs = from + 6 * kUs,
                                      .durNs = 54 * kUs});
        copy(main,
             "Memcpy HtoD (Pinned -> Device)",
             us(80, 85),
             5000,
             call(one, "cudaMemcpyAsync", us(70, 72)));
      }
    }
    trace_->finish();
  }
  test::Finished report(std::vector<std::string> options) const {
    std::vector<std::string> words = {SONDE_PROGRAM, "report", path()};
    words.insert(words.end(), options.begin(), options.end());
    return test::runProgram(words);
  }
  json jsonOf(std::vector<std::string> options = {}) const {
    options.insert(options.end(), {"--format", "json"});
    const test::Finished done = report(std::move(options));
    EXPECT_EQ(done.err, "");
    return json::parse(done.out, nullptr, false);
  }
};

TEST_F(DeviceReport, JsonAccountsForEachStepAndDevice) {
  writeJob(2);
  const json all = jsonOf();
  ASSERT_EQ(all["steps"].size(), 4U);
  const json& step = all["steps"][1];
  EXPECT_EQ(step["rank"], 0);
  EXPECT_EQ(step["device"], "gpu 0");
  EXPECT_EQ(step["number"], 1);
  EXPECT_EQ(step["ns"], 100 * kUs);
  EXPECT_EQ(step["compute_ns"], 30 * kUs);
  EXPECT_EQ(step["exposed_comm_ns"], 20 * kUs);
  EXPECT_EQ(step["exposed_copy_ns"], 5 * kUs);
  EXPECT_EQ(step["idle_ns"], 45 * kUs);
  EXPECT_EQ(step["comm_ns"], 25 * kUs);
  EXPECT_DOUBLE_EQ(step["comm_overlap"], 0.2);
  const json& rank = all["ranks"][0];
  for (const char* key : {"compute_ns", "exposed_comm_ns", "exposed_copy_ns", "idle_ns"})
    EXPECT_EQ(rank[key], 2 * step[key].get<std::int64_t>()) << key;
  EXPECT_EQ(all["devices"][1]["device"], "gpu 1");
  EXPECT_EQ(all["devices"][1]["compute_ns"], 2 * 10 * kUs);
  EXPECT_FALSE(all.contains("collective_calls"));
}

TEST_F(DeviceReport, JsonHasTheTables) {
  writeJob(2);
  const json all = jsonOf({"--full"});
  const json& idle = all["stream_idle"][0];
  EXPECT_EQ(idle["stream"], 7);
  EXPECT_EQ(idle["idle_ns"], (200 - 2 * 35) * kUs);
  EXPECT_EQ(idle["host_ns"], (2 + 30 + 17 + 30) * kUs);  // to 2, 70, 102 and 170
  EXPECT_EQ(idle["launching_ns"], (2 + 2 + 2 + 2) * kUs);
  EXPECT_EQ(idle["gap_ns"], (6 + 8 + 6 + 8) * kUs);
  EXPECT_EQ(idle["no_more_ns"], 15 * kUs);
  const json& kernel = all["kernels"][0];
  EXPECT_EQ(kernel["name"], "gemm");
  EXPECT_EQ(kernel["kind"], "compute");
  EXPECT_EQ(kernel["count"], 4);
  EXPECT_EQ(kernel["ns"], 60 * kUs);
  EXPECT_DOUBLE_EQ(kernel["share"], 0.3);
  const json& copy = all["copies"][0];
  EXPECT_EQ(copy["kind"], "host_to_device");
  EXPECT_EQ(copy["memory"], "pinned");
  EXPECT_EQ(copy["bytes_per_s"], 1'000'000'000);
  const json& collective = all["collectives"][0];
  EXPECT_EQ(collective["op"], "allreduce");
  EXPECT_DOUBLE_EQ(collective["share"], 1);
  EXPECT_EQ(collective["wait_ns"], 2 * 5 * kUs);
  EXPECT_EQ(collective["transfer_ns"], 4 * 20 * kUs);
  EXPECT_EQ(collective["bus_bytes_per_s"], 1'000'000'000);
  EXPECT_EQ(collective["bandwidth_of"], "transfer");
  ASSERT_EQ(all["collective_calls"].size(), 2U);
  EXPECT_EQ(all["collective_calls"][0]["last_rank"], 1);
  EXPECT_EQ(all["collective_calls"][0]["arrivals"][0]["wait_ns"], 5 * kUs);
  EXPECT_EQ(all["launches"][0]["calls"].get<int>() + all["launches"][1]["calls"].get<int>() +
                all["launches"][2]["calls"].get<int>(),
            8);
  EXPECT_EQ(all["queues"][0]["max"], 2);
  EXPECT_EQ(all["stragglers"]["verdict"], "none");
}

TEST_F(DeviceReport, SaysWhoHoldsUpTheOthersOnlyWhereThatIsShown) {
  writeJob(7);
  EXPECT_THAT(report({}).out,
              HasSubstr("  No straggler: 8 iterations with collectives are needed"));
}

TEST_F(DeviceReport, SaysWhoHoldsUpTheOthers) {
  writeJob(8);
  EXPECT_THAT(report({}).out, HasSubstr("  Stragglers: rank 1 (2.5 µs a step, 2.5 %): later"));
  EXPECT_THAT(jsonOf()["stragglers"]["ranks"], ElementsAre(1));
}

TEST_F(DeviceReport, FullHasSectionsAndTheScreenHasNot) {
  writeJob(2);
  const std::string full = report({"--full"}).out;
  for (const char* heading : {"\nDevices (",
                              "\nDevices, step by step",
                              "\nIdle streams, by cause",
                              "\nQueue length",
                              "\nKernels",
                              "\nCopies",
                              "\nLaunches",
                              "\nCollectives (",
                              "\nWho is late"})
    EXPECT_THAT(full, HasSubstr(heading));
  EXPECT_THAT(full, Not(HasSubstr("Launches of graphs")));  // there are none
  EXPECT_THAT(report({}).out, Not(HasSubstr("\nKernels")));
}

TEST_F(DeviceReport, CompatHtaPutsItsNumbersIntoTheSameKeys) {
  writeJob(2);
  const json all = jsonOf({"--compat", "hta"});
  EXPECT_EQ(all["compat"], "hta");
  EXPECT_THAT(all["hta"]["steps"], ElementsAre(0));  // the last is left out
  const json& rank = all["ranks"][0];
  EXPECT_EQ(rank["device"], "gpu 0");
  EXPECT_EQ(rank["window_ns"], 75 * kUs);  // from the first begin to the last end
  EXPECT_EQ(rank["compute_ns"], 30 * kUs);
  EXPECT_EQ(rank["idle_ns"], 20 * kUs);
  EXPECT_EQ(rank["non_compute_ns"], 25 * kUs);
  EXPECT_DOUBLE_EQ(rank["comm_overlap"], 0.2);
  EXPECT_EQ(all["hta"]["launches"][0]["count"], 4);
  EXPECT_EQ(all["iterations"].size(), 4U);  // results that HTA does not define stay
}

TEST_F(DeviceReport, CompatHtaHasATableAndCsv) {
  writeJob(2);
  const std::string text = report({"--compat", "hta"}).out;
  EXPECT_THAT(text, StartsWith("By the definitions of HolisticTraceAnalysis"));
  EXPECT_THAT(text, HasSubstr("COMPUTATION overlapping COMMUNICATION"));
  const std::string csv = report({"--compat", "hta", "--format", "csv"}).out;
  EXPECT_THAT(csv, StartsWith("rank,kernel_time_ns,idle_ns,compute_ns,non_compute_ns,"));
  EXPECT_THAT(csv, HasSubstr("\r\n0,75000,20000,30000,25000,"));
}

TEST_F(DeviceReport, CompatHtaListsStretchesOfSteps) {
  writeJob(6);
  EXPECT_THAT(report({"--compat", "hta"}).out, HasSubstr("\nSteps: 0-4. Potential"));
}

// Unrecorded time of a host is not idle time.
TEST_F(DeviceReport, IdleIsADevices) {
  writeJob(2);
  EXPECT_THAT(report({}).out, HasSubstr("  idle  "));
  EXPECT_THAT(report({"--full"}).out, HasSubstr("  +idle  "));
}

TEST_F(DeviceReport, WithoutADeviceTimeIsOther) {
  step(rank(0), 0, {0, 100 * kUs});
  trace_->finish();
  EXPECT_THAT(report({"--full"}).out, HasSubstr("  +other  "));
}

TEST_F(DeviceReport, CompatHtaOfNoDeviceSaysSo) {
  step(rank(0), 0, {0, 100 * kUs});
  trace_->finish();
  EXPECT_THAT(report({"--compat", "hta"}).out, HasSubstr("\nNo device did anything.\n"));
  EXPECT_EQ(jsonOf({"--compat", "hta"})["ranks"], json::array());
}

// An event with a wrong launch, end and length, and a copy of zero bytes.
TEST_F(DeviceReport, DamagedWorkIsAccountedFor) {
  const Rank one = rank(0);
  step(one, 0, {0, 100 * kUs});
  const auto main = stream(one, 7);
  kernel(main, "backwards", {50 * kUs, 20 * kUs});
  kernel(main, "far", {90 * kUs, 500 * kUs}, call(one, "cudaLaunchKernel", {95 * kUs, 99 * kUs}));
  copy(main, "Memcpy HtoD (Pinned -> Device)", {10 * kUs, 10 * kUs}, 0);
  trace_->finish();
  const json all = jsonOf({"--full"});
  const json& device = all["devices"][0];
  EXPECT_EQ(device["compute_ns"], 10 * kUs);
  EXPECT_EQ(device["idle_ns"], 90 * kUs);
  EXPECT_EQ(all["stream_idle"][0]["idle_ns"], 90 * kUs);
  EXPECT_TRUE(all["copies"][0]["bytes_per_s"].is_null());
  EXPECT_EQ(report({"--full"}).status, 0);
  EXPECT_EQ(report({"--compat", "hta"}).status, 0);
}

TEST_F(DeviceReport, OfAProcessThatDidNothingThereIsAReport) {
  rank(0);
  trace_->finish();
  EXPECT_EQ(report({"--full"}).status, 0);
  const json all = jsonOf({"--full", "--compat", "hta"});
  EXPECT_EQ(all["steps"], json::array());
  EXPECT_EQ(all["hta"]["kernels"], json::array());
  EXPECT_EQ(all["stragglers"]["verdict"], "none");
}

TEST_F(DeviceReport, OtherDefinitionsAreRefused) {
  writeJob(1);
  const test::Finished done = report({"--compat", "nsys"});
  EXPECT_EQ(done.status, 2);
  EXPECT_THAT(done.err, HasSubstr("there is no set of definitions 'nsys': use sonde or hta"));
}

}  // namespace
}  // namespace sonde::cli
