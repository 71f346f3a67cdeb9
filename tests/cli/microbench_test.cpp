// `sonde microbench`, and its file in `sonde whatif --model`.
#include "cli/shell/model_file.h"
#include "tests/cli/verbs_fixture.h"
#include "tests/jobsim/workloads.h"
#include "tests/jobsim/write_trace.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

namespace sonde::cli {
namespace {

using engine::models::KernelForm;
using engine::models::KernelKind;
using engine::models::KernelModel;
using engine::models::ModelSet;
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
  // Products of matrices on a device, each after the other: 2 µs and 10 TFLOP/s.
  std::string operatorTrace() {
    const std::string path = folder_ / "operators.sonde";
    test::TraceBuilder trace(path);
    const auto host = trace.add(model::Host{.name = "h", .bootId = "b"});
    const auto process = trace.add(model::Process{.hostId = host, .pid = 1, .rank = 0});
    const auto thread = trace.add(model::Thread{.processId = process, .tid = 1});
    const auto device = trace.add(model::Device{.hostId = host, .kind = "gpu", .ordinal = 0});
    const auto stream =
        trace.add(model::Stream{.processId = process, .deviceId = device, .number = 7});
    const auto key = [&](const char* text) { return trace.name(text); };
    std::int64_t now = 1'000'000;
    for (std::int64_t size = 128; size <= 4096; size *= 2) {
      const auto op = trace.slice(
          thread, model::SliceKind::Operator, "aten::mm", {20 * size, 20 * size + 1'000});
      const auto call = trace.slice(
          thread, model::SliceKind::Api, "launch", {20 * size + 100, 20 * size + 900}, op);
      const std::string sizes = fmt::format("[[{0},{0}],[{0},{0}]]", size);
      for (const auto& [name, text] :
           {std::pair<const char*, std::string>{"shapes", sizes}, {"dtypes", "[float,float]"}})
        trace.add(model::Arg{
            model::Owner::Slice, op.value, key(name), model::ArgValue(std::string_view(text))});
      model::Kernel kernel;
      kernel.work.streamId = stream;
      kernel.work.nameId = trace.name(fmt::format("sgemm_{}", size));
      kernel.work.startNs = now;
      kernel.work.durNs = 2'000 + size * size * size / 5'000;
      kernel.work.launchSliceId = call;
      kernel.work.scopeId = op;
      trace.add(kernel);
      now += *kernel.work.durNs + 1'000;
    }
    trace.finish();
    return path;
  }
  Finished askedWith(const std::string& model, const std::string& trace) {
    return sonde({"whatif", trace, "--network", "bandwidth=x2", "--model", model});
  }
  std::string modelWith(const std::string& key, const json& value) {
    OpModel of{"allreduce", true, {}};
    of.model.ranks = {2};
    json document = json::parse(modelFileOf({{of}, {KernelModel()}}));
    if (document.contains(key))
      document[key] = value;
    else if (document["models"][0].contains(key))
      document["models"][0][key] = value;
    else
      document["kernels"][0][key] = value;
    if (key == "models")
      document.erase("kernels");
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

// The models say that the other device takes as long for each operator as this one.
TEST_F(MicrobenchVerb, FitsModelsOfOperators) {
  const std::string trace = operatorTrace();
  const std::string file = folder_ / "model.json";
  const Finished fitted = sonde({"microbench", "--fit", trace, "-o", file});
  EXPECT_EQ(fitted.err, "");
  EXPECT_THAT(fitted.out, HasSubstr("matrix"));
  const json kernels = json::parse(test::readText(file))["kernels"];
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0]["kind"], "matrix");
  EXPECT_EQ(kernels[0]["form"], "roofline");
  EXPECT_NEAR(kernels[0]["flop_ns"].get<double>(), 1e-4, 1e-8);
  EXPECT_TRUE(kernels[0]["device"]);
  const json same = jsonOf(
      sonde({"whatif", trace, "--ask", "device,to=model", "--model", file, "--format", "json"}));
  EXPECT_EQ(same["predicted_ns"], same["baseline_ns"]);
  EXPECT_THAT(same["notes"][0].get<std::string>(), HasSubstr("the operators of 6 of 6 kernels"));
  const json faster =
      jsonOf(sonde({"whatif", trace, "--ask", "device,from=V100,to=H100", "--format", "json"}));
  EXPECT_LT(faster["predicted_ns"].get<double>(), 0.5 * same["baseline_ns"].get<double>());
  EXPECT_EQ(sonde({"whatif", trace, "--ask", "device,to=H100"}).status, 4) << "from unknown";
  const json sparse = jsonOf(sonde({"whatif",
                                    trace,
                                    "--ask",
                                    "block-sparsity,density=10%,block=32,from=V100",
                                    "--format",
                                    "json"}));
  EXPECT_LT(sparse["predicted_ns"].get<double>(), 0.2 * same["baseline_ns"].get<double>());
  EXPECT_GT(sparse["high_ns"].get<double>(), 0.95 * same["baseline_ns"].get<double>());
  EXPECT_THAT(sparse["notes"][0].get<std::string>(), StartsWith("a ceiling: 6 kernels"));
  EXPECT_EQ(askedWith(file, jobTrace()).status, 0) << "no models of collectives in the file";
}

TEST_F(MicrobenchVerb, NeedsCollectives) {
  const Finished finished = sonde({"microbench", "--fit", write(0)});
  EXPECT_EQ(finished.status, 4);
  EXPECT_THAT(finished.err, StartsWith("sonde microbench: the trace has no collectives"));
}

TEST_F(MicrobenchVerb, MeasuresThisMachine) {
  const std::string file = folder_ / "machine.json";
  const Finished measured = sonde({"microbench", "-o", file});
  EXPECT_EQ(measured.err, "");
  for (const char* what : {"matrix product", "512 x 512 x 512", "copy", "message", "allreduce"})
    EXPECT_THAT(measured.out, HasSubstr(what));
  const ModelSet models = test::must(readModelFile(file));
  ASSERT_EQ(models.kernels.size(), 2U);
  EXPECT_EQ(models.kernels[0].kind, KernelKind::Matrix);
  EXPECT_EQ(models.kernels[1].kind, KernelKind::Memory);
  EXPECT_EQ(models.collectives.size(), 4U);
  for (const KernelModel& each : models.kernels) {
    EXPECT_FALSE(each.isOnDevice);
    EXPECT_TRUE(each.isErrorMeasured);
  }
  for (const OpModel& each : models.collectives)
    EXPECT_GT(each.model.byteNs, 0);
  EXPECT_EQ(askedWith(file, jobTrace()).status, 0);
  EXPECT_EQ(sonde({"microbench", "-o", file}).status, 2) << "it exists";
}

TEST_F(MicrobenchVerb, KeepsAllOfAModel) {
  OpModel of{"alltoall", true, {1, 2, 3, 4, 0.5, 0.25, true, 7, 8, 9, {2, 4}, {{10, 0.75}}}};
  const KernelModel kernel{KernelKind::Attention,
                           "flash",
                           "float",
                           true,
                           KernelForm::Power,
                           1,
                           2,
                           3,
                           4,
                           5,
                           6,
                           0.5,
                           0.25,
                           true,
                           7,
                           8,
                           9};
  const std::string text = modelFileOf({{of}, {kernel}});
  test::writeText(folder_ / "model.json", text);
  const ModelSet read = test::must(readModelFile(folder_ / "model.json"));
  ASSERT_EQ(read.collectives.size(), 1);
  ASSERT_EQ(read.kernels.size(), 1);
  EXPECT_EQ(modelFileOf(read), text);
  EXPECT_EQ(read.collectives[0].model.callNs, 3);
  EXPECT_EQ(read.collectives[0].model.interval(9, 8), of.model.interval(9, 8));
  EXPECT_EQ(read.kernels[0].bytePower, 6);
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
                                                           {"other_ranks", 3},
                                                           {"kernels", 3},
                                                           {"kind", "gemm"},
                                                           {"form", "cubic"},
                                                           {"flop_ns", -1}};
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
