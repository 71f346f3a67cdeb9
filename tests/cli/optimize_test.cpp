// `sonde optimize`: runs the program on small jobs.
#include "tests/cli/verbs_fixture.h"
#include "tests/jobsim/workloads.h"
#include "tests/jobsim/write_trace.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace sonde::cli {
namespace {

using nlohmann::json;
using test::Finished;
using ::testing::HasSubstr;

class OptimizeVerb : public Verbs {
 protected:
  // Sixteen small buckets on a link of high latency.
  std::string jobTrace() {
    jobsim::DataParallel of;
    of.ranksPerMachine = of.ranks;
    of.layers = of.buckets = 16;
    of.bucketBytes = 200'000;
    of.lossBytes = 1000;
    of.link.latencyNs = 100'000;
    const jobsim::Job job = jobsim::dataParallelJob(of);
    std::string path = folder_ / "job.sonde";
    jobsim::writeTrace(job, jobsim::simulate(job), path);
    return path;
  }
};

TEST_F(OptimizeVerb, PrintsAPlanWithSettings) {
  const std::string trace = jobTrace();
  const json plan = jsonOf(sonde({"optimize", trace, "--format", "json"}));
  EXPECT_EQ(plan["schema"], 1);
  ASSERT_FALSE(plan["plan"].empty());
  for (const char* key : {"what", "setting", "question", "predicted_ns", "low_ns", "high_ns"})
    EXPECT_TRUE(plan["plan"][0].contains(key)) << key;
  EXPECT_GT(plan["plan"][0]["gain"], 0);
  EXPECT_LT(plan["together_ns"], plan["baseline_ns"]);
  EXPECT_EQ(plan["complete"], true);
  for (const char* key : {"replays", "seconds", "others", "left_out", "memory", "notes"})
    EXPECT_TRUE(plan.contains(key)) << key;

  const std::string text = sonde({"optimize", trace}).out;
  EXPECT_THAT(text, HasSubstr("DistributedDataParallel(bucket_cap_mb="));
  EXPECT_THAT(text, HasSubstr("times as fast"));
  EXPECT_THAT(text, HasSubstr("workers"));  // not asked, with the reason
}

TEST_F(OptimizeVerb, IsTheSameQuestionForWhatif) {
  const std::string trace = jobTrace();
  const json plan =
      jsonOf(sonde({"optimize", trace, "--questions", "bucket-size", "--format", "json"}));
  const std::string question = plan["plan"][0]["question"];
  const std::size_t space = question.find(' ');
  const json answer = jsonOf(sonde({"whatif",
                                    trace,
                                    question.substr(0, space),
                                    question.substr(space + 1),
                                    "--format",
                                    "json"}));
  EXPECT_EQ(answer["predicted_ns"], plan["together_ns"]);
  EXPECT_EQ(answer["low_ns"], plan["plan"][0]["low_ns"]);
}

TEST_F(OptimizeVerb, StopsWhenItsTimeIsOver) {
  const std::string trace = jobTrace();
  const json plan = jsonOf(sonde({"optimize", trace, "--budget", "1ns", "--format", "json"}));
  EXPECT_EQ(plan["complete"], false);
  EXPECT_EQ(plan["plan"].size(), 0U);
  EXPECT_THAT(sonde({"optimize", trace, "--budget", "1ns"}).out, HasSubstr("stopped"));
}

TEST_F(OptimizeVerb, RefusesOptionsOfAnotherForm) {
  const std::string trace = jobTrace();
  const auto refused = [&](const std::string& option, const std::string& value) {
    const Finished ran = sonde({"optimize", trace, option, value});
    EXPECT_EQ(ran.status, 2) << option;
    EXPECT_EQ(ran.out, "");
    return ran.err;
  };
  EXPECT_THAT(refused("--questions", "buckets-size"), HasSubstr("'bucket-size'"));
  EXPECT_THAT(refused("--budget", "soon"), HasSubstr("--budget"));
  EXPECT_THAT(refused("--memory", "much"), HasSubstr("--memory"));
  EXPECT_EQ(sonde({"optimize", folder_ / "none.sonde"}).status, 3);
}

TEST_F(OptimizeVerb, NamesWhatTheTraceLacks) {
  const std::string trace = jobTrace();
  const Finished ran = sonde({"optimize", trace, "--questions", "workers,pipeline"});
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.err, HasSubstr("workers: "));
  EXPECT_THAT(ran.err, HasSubstr("pipeline: "));
  const Finished memory = sonde({"optimize", trace, "--memory", "1GiB"});
  EXPECT_EQ(memory.status, 4);
  EXPECT_THAT(memory.err, HasSubstr("+memory"));
}

}  // namespace
}  // namespace sonde::cli
