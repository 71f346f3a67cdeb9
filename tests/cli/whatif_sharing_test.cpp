// `sonde whatif --ask` about work that shares a device: runs the program on a simulated job.
#include "tests/cli/verbs_fixture.h"
#include "tests/jobsim/programs.h"
#include "tests/jobsim/simulation.h"
#include "tests/jobsim/workloads.h"
#include "tests/jobsim/write_trace.h"

#include <gmock/gmock.h>

#include <utility>
#include <variant>
#include <vector>

namespace sonde::cli {
namespace {

using nlohmann::json;
using test::Finished;
using ::testing::HasSubstr;

class WhatifSharing : public Verbs {
 protected:
  // Asks about a job of one rank on a device.
  Finished ask(const std::string& question) {
    return sonde({"whatif", trace_, "--ask", question, "--format", "json"});
  }
  // The same about a job without a device.
  Finished askHost(const std::string& question) {
    return sonde({"whatif", write(0), "--ask", question});
  }

 private:
  std::string simulated() {
    jobsim::DataParallel of;
    of.ranks = 1;
    of.ranksPerMachine = 1;
    jobsim::Job job = jobsim::dataParallelJob(of);
    std::vector<jobsim::Op> program;
    for (const jobsim::Op& op : job.threads.front().program) {
      const auto* launch = std::get_if<jobsim::Launch>(&op);
      if (launch == nullptr || launch->name != "adam") {
        program.push_back(op);
        continue;
      }
      jobsim::append(
          program,
          {jobsim::Begin{jobsim::Scope::Operator,
                         "aten::convolution",
                         "[[8, 16, 32, 32], [16, 16, 3, 3]]",
                         "[float, float]"},
           jobsim::Launch{"indexFuncLargeIndex<float>", launch->callNs, 0, launch->ns, 640},
           jobsim::End{}});
    }
    job.threads.front().program = std::move(program);
    job.deviceName = "Tesla V100-SXM2-16GB";
    std::string path = folder_ / "job.sonde";
    jobsim::writeTrace(job, jobsim::simulate(job), path, 0);
    return path;
  }

  std::string trace_ = simulated();
};

// The optimizer takes 0.3 ms of an iteration.
TEST_F(WhatifSharing, AnswersWithDeterministicAlgorithms) {
  const json answer = jsonOf(ask("determinism,factor=3"));
  EXPECT_NEAR(answer["predicted_ns"].get<double>() - answer["baseline_ns"].get<double>(), 6e5, 1e3);
  EXPECT_THAT(answer["notes"].dump(), HasSubstr("6 kernels that add or write by index"));
  EXPECT_EQ(askHost("determinism").status, 4);
  EXPECT_THAT(askHost("determinism").err, HasSubstr("no kernels of a device"));
  for (const char* wrong : {"determinism,factor=0.5",
                            "determinism,factor=slow",
                            "determinism,convolutions=0",
                            "determinism,speed=2"})
    EXPECT_EQ(ask(wrong).status, 2) << wrong;
}

// Other kernels have no recorded shape. Adam's fill a V100.
TEST_F(WhatifSharing, AnswersWithSeveralJobsInOne) {
  const json answer = jsonOf(ask("fused-jobs,jobs=2"));
  const double base = answer["baseline_ns"].get<double>();
  EXPECT_NEAR(answer["predicted_ns"].get<double>() / base, 2, 0.05);
  EXPECT_THAT(answer["notes"].dump(), HasSubstr("6 of 102 kernels have recorded shapes"));
  EXPECT_THAT(answer["notes"].dump(), HasSubstr("times the throughput"));
  EXPECT_EQ(askHost("fused-jobs,jobs=2").status, 4);
  EXPECT_THAT(askHost("fused-jobs,jobs=2").err, HasSubstr("no kernels of a device"));
  for (const char* wrong : {"fused-jobs",
                            "fused-jobs,jobs=1",
                            "fused-jobs,jobs=0",
                            "fused-jobs,jobs=1.5",
                            "fused-jobs,jobs=2,device=TPU",
                            "fused-jobs,jobs=2,x=1"})
    EXPECT_EQ(ask(wrong).status, 2) << wrong;
}

TEST_F(WhatifSharing, AnswersWithASecondJob) {
  const json answer = jsonOf(ask("second-job,slowdown=30%"));
  EXPECT_GE(answer["predicted_ns"], answer["baseline_ns"]);
  EXPECT_THAT(answer["notes"].dump(), HasSubstr("a second job gets"));
  EXPECT_THAT(answer["notes"].dump(), HasSubstr("times together"));
  const json twice = jsonOf(ask("second-job,wave=yes"));
  const double base = twice["baseline_ns"].get<double>();
  EXPECT_NEAR(twice["predicted_ns"].get<double>() / base, 2, 0.15) << "it is never idle";
  EXPECT_THAT(twice["notes"].dump(), HasSubstr("both jobs together have 1.0"));
  EXPECT_EQ(ask("second-job").status, 4);
  EXPECT_THAT(ask("second-job").err, HasSubstr("give slowdown="));
  EXPECT_EQ(askHost("second-job,slowdown=30%").status, 4);
  EXPECT_THAT(askHost("second-job,wave=yes").err, HasSubstr("no kernels of a device"));
  for (const char* wrong : {"second-job,slowdown=-1",
                            "second-job,slowdown=much",
                            "second-job,slowdown=30%,wave=yes",
                            "second-job,wave=2",
                            "second-job,jobs=2"})
    EXPECT_EQ(ask(wrong).status, 2) << wrong;
}

// The optimizer stands for a convolution of 0.3 ms on images of 32 rows.
TEST_F(WhatifSharing, AnswersWithSharedImages) {
  const json answer = jsonOf(ask("spatial,parts=2,inside=8Gbit/s,latency=10us"));
  // A row has 8 * 16 * 32 numbers of four bytes: 16.384 us.
  EXPECT_NEAR(answer["predicted_ns"].get<double>() - answer["baseline_ns"].get<double>(),
              -150'000 + 10'000 + 16'384,
              1'000);
  EXPECT_THAT(answer["notes"].dump(), HasSubstr("6 exchanges of rows"));
  EXPECT_EQ(ask("spatial,parts=2").status, 4);
  EXPECT_THAT(ask("spatial,parts=2").err, HasSubstr("give inside="));
  EXPECT_EQ(askHost("spatial,parts=2,inside=8Gbit/s").status, 4);
  EXPECT_THAT(askHost("spatial,parts=2,inside=8Gbit/s").err,
              HasSubstr("no sizes of its operators"));
  for (const char* wrong : {"spatial",
                            "spatial,parts=1",
                            "spatial,parts=0",
                            "spatial,parts=2,inside=fast",
                            "spatial,parts=2,kernel=0",
                            "spatial,parts=2,rows=3"})
    EXPECT_EQ(ask(wrong).status, 2) << wrong;
}

}  // namespace
}  // namespace sonde::cli
