// The verbs for users of other tools: `stats` and `export`.
#include "tests/cli/verbs_fixture.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace sonde::cli {
namespace {

using nlohmann::json;
using test::Finished;
using test::readText;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(Verbs, StatsPrintsTheTablesThatHaveRows) {
  const Finished all = sonde({"stats", write(0), write(1)});
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_THAT(all.out, StartsWith("NVTX Range Summary (nvtx_sum)\nTime (%)  Total Time (ns)"));
  EXPECT_THAT(all.out, Not(HasSubstr("cuda_gpu_kern_sum")));
  const Finished none = sonde({"stats", write(0), "cuda_gpu_kern_sum"});
  EXPECT_EQ(none.out,
            "CUDA GPU Kernel Summary (cuda_gpu_kern_sum): the trace has no rows for it\n");
}

TEST_F(Verbs, StatsPrintsOneTableForPrograms) {
  const std::string trace = write(0);
  const json tables = jsonOf(sonde({"stats", trace, "nvtx_sum", "--format", "json"}))["tables"];
  ASSERT_EQ(tables.size(), 1U);
  json backward;
  for (const json& row : tables["nvtx_sum"])
    if (row["Range"] == "backward")
      backward = row;
  EXPECT_EQ(backward["Instances"], 30);
  EXPECT_EQ(backward["Style"], "PushPop");
  EXPECT_EQ(sonde({"stats", trace, "nvtx_sum", "--format", "csv"}).out.substr(0, 34),
            "Time (%),Total Time (ns),Instances");
}

TEST_F(Verbs, StatsSaysWhichNameIsNone) {
  const std::string trace = write(0);
  const Finished misspelt = sonde({"stats", trace, "cuda_apisum"});
  EXPECT_EQ(misspelt.status, 2);
  EXPECT_EQ(misspelt.err,
            "sonde stats: there is no table 'cuda_apisum': did you mean 'cuda_api_sum'?\n");
  EXPECT_EQ(sonde({"stats", "nvtx_sum"}).status, 2);
  const Finished first = sonde({"stats", "cuda_api_sum", trace});
  EXPECT_EQ(first.status, 2);
  EXPECT_THAT(first.err, HasSubstr("goes last: sonde stats TRACE… cuda_api_sum"));
  EXPECT_THAT(sonde({"stats", trace, "--format", "csv"}).err, HasSubstr("CSV holds one table"));
}

TEST_F(Verbs, ExportGoesToAFileOrToStandardOutput) {
  const std::string trace = write(0);
  const std::string out = folder_ / "job.json";
  const Finished toFile = sonde({"export", trace, "--to", "chrome", "-o", out});
  EXPECT_EQ(toFile.status, 0) << toFile.err;
  EXPECT_EQ(readText(out), sonde({"export", trace, "--to", "chrome"}).out);
  EXPECT_EQ(readText(out), sonde({"export", trace, "--to", "chrome", "-o", "-"}).out);
  const json chrome = json::parse(readText(out));
  EXPECT_EQ(chrome["distributedInfo"]["rank"], 0);
  const Finished again = sonde({"export", trace, "--to", "perfetto", "-o", out});
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, EndsWith("exists: give -f to replace it, or another name\n"));
  EXPECT_EQ(sonde({"export", trace, "--to", "perfetto", "-f", "-o", out}).status, 0);
  EXPECT_EQ(readText(out).front(), '\n');  // the tag of a packet
}

TEST_F(Verbs, ExportRefusesWhatItCannotDo) {
  const std::string trace = write(0);
  const Finished unknown = sonde({"export", trace, "--to", "pdf"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("pdf"));
  EXPECT_EQ(sonde({"export", trace}).status, 2);
  EXPECT_EQ(sonde({"export", trace, "--to", "chrome", "-o", "/nonexistent/x.json"}).status, 3);
}

TEST_F(Verbs, ExportDoesNotWriteOverItsTraces) {
  const std::string trace = write(0);
  const std::string link = folder_ / "link.sonde";
  const std::string part = folder_ / "cut.sonde.part";
  std::filesystem::create_symlink("rank0.sonde", link);
  std::filesystem::copy_file(trace, part);
  const std::string before = readText(trace);
  const std::vector<std::pair<std::string, std::string>> calls = {
      {trace, trace},
      {trace, folder_ / "./rank0.sonde"},
      {trace, link},
      {link, trace},
      {part, folder_ / "cut.sonde"}};
  for (const char* const format : {"perfetto", "chrome", "csv", "folded"}) {
    for (const auto& [input, output] : calls) {
      const Finished refused = sonde({"export", input, "--to", format, "-f", "-o", output});
      EXPECT_EQ(refused.status, 2) << format << " to " << output;
      EXPECT_THAT(
          refused.err,
          AllOf(HasSubstr("would overwrite the input"), HasSubstr("': give -o another name")));
      EXPECT_TRUE(readText(trace) == before && readText(part) == before);
    }
  }
}

}  // namespace
}  // namespace sonde::cli
