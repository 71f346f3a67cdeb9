// `sonde whatif --ask pipeline,…`: runs the program on a simulated pipeline.
#include "tests/cli/verbs_fixture.h"
#include "tests/jobsim/simulation.h"
#include "tests/jobsim/workloads.h"
#include "tests/jobsim/write_trace.h"

#include <gmock/gmock.h>

namespace sonde::cli {
namespace {

using nlohmann::json;
using test::Finished;
using ::testing::HasSubstr;

class WhatifPipeline : public Verbs {
 protected:
  Finished ask(const std::string& question, const std::vector<std::string>& options = {}) {
    if (merged_.empty())
      merged_ = pipeline();
    std::vector<std::string> words = {"whatif", merged_, "--ask", question};
    words.insert(words.end(), options.begin(), options.end());
    return sonde(words);
  }

 private:
  // Four stages and six microbatches.
  std::string pipeline() {
    jobsim::Pipeline of;
    of.microbatches = 6;
    const jobsim::Job job = jobsim::pipelineJob(of);
    const jobsim::History history = jobsim::simulate(job);
    const std::string merged = folder_ / "job.sonde";
    std::vector<std::string> words = {"merge", "-o", merged};
    for (int rank = 0; rank < of.stages; ++rank) {
      words.push_back(folder_ / ("stage" + std::to_string(rank) + ".sonde"));
      jobsim::writeTrace(job, history, words.back(), rank);
    }
    EXPECT_EQ(sonde(words).status, 0);
    return merged;
  }

  std::string merged_;
};

TEST_F(WhatifPipeline, AnswersWithAnotherSchedule) {
  const json answer = jsonOf(ask(
      "pipeline,schedule=interleaved,chunks=2,microbatches=8,batch=micro", {"--format", "json"}));
  EXPECT_GT(answer["predicted_ns"], answer["baseline_ns"]);  // of two microbatches more
  EXPECT_GT(answer["provenance"]["scaled"], 0.5);
  EXPECT_THAT(answer["notes"].dump(), HasSubstr("'interleaved'"));
  EXPECT_THAT(answer["notes"].dump(), HasSubstr("instead of '1f1b' (4 stages, 6 microbatches)"));
}

TEST_F(WhatifPipeline, AnswersWithMoreStages) {
  const json answer = jsonOf(ask("degrees,pipeline=8", {"--format", "json"}));
  EXPECT_LT(answer["predicted_ns"], answer["baseline_ns"]);
  EXPECT_THAT(answer["notes"].dump(), HasSubstr("evenly among 8 stages in place of 4"));
}

TEST_F(WhatifPipeline, SaysThatGradientsAreStaleWithoutAFlush) {
  EXPECT_THAT(ask("pipeline,schedule=async").out, HasSubstr("weights that lack its gradients"));
}

TEST_F(WhatifPipeline, NamesWhatIsWrong) {
  for (const auto& [question, reason] : std::vector<std::pair<std::string, std::string>>{
           {"pipeline", "give schedule="},
           {"pipeline,schedule=2f2b", "schedule=2f2b is not gpipe"},
           {"pipeline,microbatches=0", "not a whole number"},
           {"pipeline,microbatches=1000000", "million nodes and edges to the job"},
           {"degrees,pipeline=1000000", "give smaller numbers"},
           {"pipeline,batch=all", "batch=all is not global or micro"},
           {"pipeline,stage=3", "no setting 'stage'"},
           {"pipeline,schedule=interleaved", "give the number of chunks"},
           {"pipeline,schedule=interleaved,chunks=2", "6 microbatches are not a multiple of 4"},
           {"pipeline,schedule=gpipe,chunks=2", "only 'interleaved' has several chunks"},
           {"degrees", "give data="},
           {"degrees,pipeline=0", "not a whole number"},
           {"degrees,expert=2", "no setting 'expert'"},
           {"degrees,data=2,schedule=gpipe", "go with pipeline="},
           {"degrees,pipeline=4,schedule=interleaved,chunks=2", "not a multiple of 4"}}) {
    const Finished finished = ask(question);
    EXPECT_EQ(finished.status, 2) << question;
    EXPECT_THAT(finished.err, HasSubstr(reason)) << question;
  }
}

TEST_F(WhatifPipeline, HasNoAnswerWithoutAPipeline) {
  const Finished finished = sonde({"whatif", write(0), "--ask", "pipeline,schedule=gpipe"});
  EXPECT_EQ(finished.status, 4);
  EXPECT_THAT(finished.err, HasSubstr("forwards and backwards"));
  for (const char* degree : {"degrees,data=2", "degrees,tensor=2"}) {
    EXPECT_EQ(ask(degree).status, 4) << degree;
    EXPECT_THAT(ask(degree).err, HasSubstr("no collectives between")) << degree;
  }
}

}  // namespace
}  // namespace sonde::cli
