// `sonde microbench`, and its file in `sonde whatif --model`.
#include "cli/shell/model_file.h"
#include "tests/cli/verbs_fixture.h"
#include "tests/jobsim/workloads.h"
#include "tests/jobsim/write_trace.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

namespace sonde::cli {
namespace {

using engine::models::OpModel;
using nlohmann::json;
using test::Finished;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class MicrobenchVerb : public Verbs {
 protected:
  std::string jobTrace() {
    jobsim::DataParallel of;
    of.ranksPerMachine = of.ranks;
    of.lossBytes = 1000;
    const jobsim::Job job = jobsim::dataParallelJob(of);
    std::string path = folder_ / "job.sonde";
    jobsim::writeTrace(job, jobsim::simulate(job), path);
    return path;
  }
  Finished askedWith(const std::string& model, const std::string& trace) {
    return sonde({"whatif", trace, "--network", "bandwidth=x2", "--model", model});
  }
  std::string modelWith(const std::string& key, const json& value) {
    OpModel of{"allreduce", true, {}};
    of.model.ranks = {2};
    json document = json::parse(modelFileOf({of}));
    if (document.contains(key))
      document[key] = value;
    else
      document["models"][0][key] = value;
    test::writeText(folder_ / "bad.json", document.dump());
    return folder_ / "bad.json";
  }
};

TEST_F(MicrobenchVerb, FitsModelsThatWhatifUses) {
  const std::string trace = jobTrace();
  const std::string file = folder_ / "model.json";
  const Finished fitted = sonde({"microbench", "--fit", trace, "-o", file});
  EXPECT_EQ(fitted.err, "");
  EXPECT_THAT(fitted.out, HasSubstr("allreduce"));
  const json document = json::parse(test::readText(file));
  EXPECT_EQ(document["schema"], 1);
  EXPECT_EQ(document["models"][0]["ranks"], json({4}));
  EXPECT_EQ(document, jsonOf(sonde({"microbench", "--fit", trace, "--format", "json"})));
  EXPECT_THAT(askedWith(file, trace).out, HasSubstr("from the given model"));
  EXPECT_EQ(sonde({"microbench", "--fit", trace, "-o", file}).status, 2);
  EXPECT_EQ(sonde({"microbench", "--fit", trace, "-o", trace, "-f"}).status, 2);
}

TEST_F(MicrobenchVerb, NeedsCollectives) {
  const Finished finished = sonde({"microbench", "--fit", write(0)});
  EXPECT_EQ(finished.status, 4);
  EXPECT_THAT(finished.err, StartsWith("sonde microbench: the trace has no collectives"));
  EXPECT_EQ(sonde({"microbench"}).status, 2);
}

TEST_F(MicrobenchVerb, KeepsAllOfAModel) {
  OpModel of{"alltoall", true, {1, 2, 3, 4, 0.5, 0.25, true, 7, 8, 9, {2, 4}, {{10, 0.75}}}};
  const std::string text = modelFileOf({of});
  test::writeText(folder_ / "model.json", text);
  const std::vector<OpModel> read = test::must(readModelFile(folder_ / "model.json"));
  ASSERT_EQ(read.size(), 1);
  EXPECT_EQ(modelFileOf(read), text);
  EXPECT_EQ(read[0].model.callNs, 3);
  EXPECT_EQ(read[0].model.interval(9, 8), of.model.interval(9, 8));
}

TEST_F(MicrobenchVerb, NamesWhatIsWrongWithAModelFile) {
  const std::string trace = write(0);
  const std::vector<std::pair<std::string, json>> wrong = {{"schema", 2},
                                                           {"models", json::array()},
                                                           {"op", 7},
                                                           {"device", "yes"},
                                                           {"ranks", {1}},
                                                           {"sizes", 0.5},
                                                           {"step_ns", -1},
                                                           {"byte_ns", "fast"},
                                                           {"error", nullptr},
                                                           {"other_ranks", 3}};
  for (const auto& [key, value] : wrong) {
    const std::string file = modelWith(key, value);
    const Finished finished = askedWith(file, trace);
    EXPECT_EQ(finished.status, 3) << key;
    expectAnswerOrReason(finished, "whatif");
    EXPECT_THAT(finished.err, HasSubstr(file + ": not a model file"));
    EXPECT_THAT(finished.err, HasSubstr("`" + key + "`"));
  }
  test::writeText(folder_ / "bad.json", R"({"schema": 1, "models": [{"op": "allreduce"}]})");
  EXPECT_THAT(askedWith(folder_ / "bad.json", trace).err, HasSubstr("key 'device' not found"));
  EXPECT_THAT(askedWith(folder_ / "none.json", trace).err, HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace sonde::cli
