// `sonde report`, `breakdown` and `diff` with invalid recording costs in a file or in a trace: one
// line with the reason. Also the effect of a valid file.
#include "analysis/store/database.h"
#include "analysis/store/trace_file.h"
#include "cli/shell/cost_file.h"
#include "tests/cli/verbs_fixture.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

namespace sonde::cli {
namespace {

using nlohmann::json;
using test::Finished;
using test::must;
using ::testing::HasSubstr;
using ::testing::Not;

class BadCosts : public Verbs {
 protected:
  std::string costs(const std::string& text) {
    test::writeText(folder_ / "cost.json", text);
    return folder_ / "cost.json";
  }
  // A file for traces of write(), with `cost` in its row.
  static std::string file(const std::string& cost,
                          const std::string& covariance = "[[0.01]]",
                          const std::string& schema = "1") {
    return R"({"schema": )" + schema +
           R"(, "sources": "torch", "build": "1", "cpu_model": "", "overhead": [{"probe": )"
           R"("torch", "api": "scope", "method": "separate runs", )" +
           cost + R"(}], "probes": ["torch"], "covariance": )" + covariance + "}";
  }
  static constexpr const char* kCost =
      R"("mean_ns": 10, "error_ns": 1, "before_ns": 1, "inside_ns": 1)";
  std::string traceForFile() {
    test::TrainingRun run;
    run.sources = "torch";
    const std::string path = write(0, run);
    auto trace = must(store::Database::open(path, store::Access::ReadWrite));
    must(trace.exec("INSERT INTO meta VALUES('build', '1')"));
    return path;
  }
};

TEST_F(BadCosts, AreRefusedByEachVerbThatTakesThem) {
  const std::string trace = traceForFile();
  const std::vector<std::pair<std::string, int>> files = {
      {"", 3},
      {"no JSON", 3},
      {"[]", 3},
      {"{}", 3},
      {"null", 3},
      {R"({"sources": 7})", 3},
      {R"({"sources": "torch", "build": "2", "cpu_model": ""})", 2},
      {R"({"sources": "torch,net", "build": "1", "cpu_model": ""})", 2},
      {R"({"sources": "torch", "build": "1", "cpu_model": "another"})", 2},
      {file(R"("mean_ns": null, "error_ns": 1, "before_ns": 1, "inside_ns": 1)"), 3},
      {file(R"("mean_ns": NaN, "error_ns": 1, "before_ns": 1, "inside_ns": 1)"), 3},
      {file(R"("mean_ns": 1e999, "error_ns": 1, "before_ns": 1, "inside_ns": 1)"), 3},
      {file(R"("mean_ns": 10, "error_ns": -1e400, "before_ns": 1, "inside_ns": 1)"), 3},
      {file(R"("mean_ns": "much", "error_ns": 1, "before_ns": 1, "inside_ns": 1)"), 3},
      {file(R"("mean_ns": -10, "error_ns": 1, "before_ns": 1, "inside_ns": 1)"), 3},
      {file(R"("mean_ns": 10, "error_ns": 1, "before_ns": 11, "inside_ns": 1)"), 3},
      {file(R"("mean_ns": 10, "error_ns": 1, "before_ns": 1)"), 3},
      {file(R"("mean_ns": 1e300, "error_ns": 1, "before_ns": 1, "inside_ns": 1)"), 3},
      {file(kCost, "[[-1]]"), 3},
      {file(kCost, "[[1e300]]"), 3},
      {file(R"("method": "guess", "mean_ns": 10, "error_ns": 1, "before_ns": 1, "inside_ns": 1)"),
       3},
      {R"({"schema": 1, "sources": "torch", "build": "1", "cpu_model": "", "overhead": "x"})", 3},
      {R"({"schema": 1, "sources": "torch", "build": "1", "cpu_model": "", "overhead": [null]})",
       3},
      {R"({"schema": 1, "sources": "torch", "build": "1", "cpu_model": "", "overhead": {"a": {}}})",
       3},
      {file(kCost, "[[0.01], [0.01]]"), 3},
      {file(kCost, "[[1e999]]"), 3},
      {file(kCost, "[[0.01]]", "99"), 3},
      {R"({"schema": 1, "sources": "torch", "build": "1", "cpu_model": "", "overhead": [], )"
       R"("probes": [], "covariance": []})",
       2}};
  for (const auto& [text, status] : files) {
    SCOPED_TRACE(text);
    const std::string cost = costs(text);
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"breakdown", trace, "--overhead", cost},
                                               {"report", trace, "--overhead", cost},
                                               {"diff", trace, trace, "--overhead", cost}}) {
      const Finished refused = sonde(words);
      expectAnswerOrReason(refused, words.front());
      EXPECT_EQ(refused.status, status) << refused.err;
      EXPECT_THAT(refused.err, HasSubstr("cost.json"));
      EXPECT_THAT(refused.err, Not(HasSubstr("exception")));
      EXPECT_THAT(refused.err, Not(HasSubstr("cannot use")));
    }
  }
  EXPECT_EQ(sonde({"report", trace, "--overhead", "/nowhere.json"}).status, 3);
  EXPECT_EQ(sonde({"report", trace, "--overhead", folder_.path()}).status, 3);
  EXPECT_EQ(sonde({"report", trace, "--raw", "--overhead", costs("{}")}).status, 2);
}

// A covariance that exceeds the variances of both probes.
TEST_F(BadCosts, ACovarianceThatNoErrorsHaveIsRefused) {
  const std::string trace = traceForFile();
  const auto withOf = [&](const std::string& both) {
    return costs(R"({"schema": 1, "sources": "torch", "build": "1", "cpu_model": "", )"
                 R"("overhead": [{"probe": "torch", "api": "scope", "method": "separate runs", )" +
                 std::string(kCost) + R"(}], "probes": ["torch", "net"], "covariance": [[0.01, )" +
                 both + "], [" + both + ", 0.04]]}");
  };
  for (const char* both : {"0.0201", "-0.0201", "1", "1e308", "-1e200"}) {
    const Finished refused = sonde({"breakdown", trace, "--overhead", withOf(both)});
    EXPECT_EQ(refused.status, 3) << both;
    EXPECT_THAT(refused.err, HasSubstr("for net and torch, more than their variances allow"));
  }
  for (const char* both : {"0.02", "-0.02", "0"})
    EXPECT_EQ(sonde({"breakdown", trace, "--overhead", withOf(both)}).status, 0) << both;
}

TEST_F(BadCosts, AGoodFileIsTaken) {
  const std::string trace = traceForFile();
  const std::string cost = costs(
      file(R"("mean_ns": 1000000, "error_ns": 100000, "before_ns": 0, "inside_ns": 1000000)"));
  const json report = jsonOf(sonde({"report", trace, "--format", "json", "--overhead", cost}));
  EXPECT_EQ(report["iterations"][0]["ns"], 96 * test::kMs);
  // If several files are given, the one for the trace counts.
  const std::string other = folder_ / "other.json";
  test::writeText(other, R"({"sources": "net", "build": "1", "cpu_model": ""})");
  const json diff = jsonOf(
      sonde({"diff", trace, trace, "--format", "json", "--overhead", other, "--overhead", cost}));
  EXPECT_EQ(diff["rows"][0]["a_ns"], 96 * test::kMs);
}

TEST_F(BadCosts, AFullReportHasTimesAsRecordedAndWithoutWhatThatTook) {
  const std::string cost = costs(
      file(R"("mean_ns": 1000000, "error_ns": 100000, "before_ns": 0, "inside_ns": 1000000)"));
  const std::string trace = traceForFile();
  const std::string text = sonde({"report", "--full", trace, "--overhead", cost}).out;
  const std::size_t section = text.find("\nCost of recording: times as recorded, and without it\n");
  ASSERT_NE(section, std::string::npos) << text;
  EXPECT_NE(text.find(" iterations ", section), std::string::npos) << text;
  EXPECT_NE(text.find(" backward ", section), std::string::npos) << text;
  EXPECT_THAT(sonde({"report", "--full", "--raw", trace}).out,
              Not(HasSubstr("Cost of recording:")));
}

TEST_F(BadCosts, AFileKeepsAllThatWasFound) {
  recorder::CalibrationOutcome outcome;
  outcome.machine = {"torch", "1", ""};
  outcome.costs.costs = {
      {{"torch", "scope", std::nullopt, {30, 20, 950}, 12, "separate runs", 300}},
      {"torch"},
      {{0.25}}};
  const std::string path = costs(costFileOf(outcome));
  const auto trace = must(store::openTrace(traceForFile()));
  const auto read = must(readCostFile(path, trace));
  ASSERT_EQ(read.rows.size(), 1U);
  EXPECT_EQ(read.rows[0].cost.beforeNs, 30);
  EXPECT_EQ(read.rows[0].cost.insideNs, 20);
  EXPECT_EQ(read.rows[0].cost.afterNs, 950);
  EXPECT_EQ(read.rows[0].errorNs, 12);
  EXPECT_EQ(read.rows[0].unrecordedNs, 300);
  EXPECT_EQ(read.rows[0].method, "separate runs");
  EXPECT_EQ(read.probes, outcome.costs.costs.probes);
  EXPECT_EQ(read.covariance, outcome.costs.costs.covariance);
}

// Invalid costs in a damaged trace.
TEST_F(BadCosts, InATraceAreDamage) {
  for (const char* const change :
       {"mean_ns = 9e999", "error_ns = 9e999", "before_ns = 9e999", "inside_ns = -9e999"}) {
    SCOPED_TRACE(change);
    test::TrainingRun run;
    run.scopeCostNs = 1000;
    const std::string path = write(0, run);
    auto trace = must(store::Database::open(path, store::Access::ReadWrite));
    must(trace.exec(std::string("UPDATE overhead SET ") + change));
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"report", path}, {"breakdown", path}, {"diff", path, path}}) {
      const Finished refused = sonde(words);
      EXPECT_EQ(refused.status, 3) << refused.err;
      EXPECT_THAT(refused.err, HasSubstr("is not a number"));
    }
    EXPECT_EQ(sonde({"report", path, "--raw"}).status, 0);
  }
}
}  // namespace
}  // namespace sonde::cli
