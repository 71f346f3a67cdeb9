// What `sonde report`, `breakdown` and `diff` make of traces that hold what no recorder should
// write, and of costs that are none: an answer whose parts sum to the whole, or one line that says
// why not.
#include "analysis/store/database.h"
#include "analysis/store/trace_file.h"
#include "cli/cost_file.h"
#include "tests/cli/verbs_fixture.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace sonde::cli {
namespace {

using model::SliceKind;
using nlohmann::json;
using test::Finished;
using test::must;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

// A process of rank 0 with a thread, a stream and a row of what a scope costs.
struct Rig {
  explicit Rig(const std::string& path) : trace(path) {
    process = trace.add(model::Process{.hostId = trace.add(model::Host{.name = "h", .bootId = "b"}),
                                       .pid = 7,
                                       .rank = 0,
                                       .command = "train"});
    main = trace.add(model::Thread{.processId = process, .tid = 7});
    stream = trace.add(model::Stream{.processId = process, .number = 7});
    trace.add(model::Overhead{
        .probe = "torch", .api = "scope", .meanNs = 30, .errorNs = 10, .method = "micro-loop"});
  }
  model::SliceId operation(const std::string& name,
                           std::int64_t begin,
                           model::OptionalInt length,
                           const std::string& category = "torch",
                           SliceKind kind = SliceKind::Operation) {
    return trace.add(model::Slice{.threadId = main,
                                  .kind = kind,
                                  .category = category,
                                  .nameId = trace.name(name),
                                  .startNs = begin,
                                  .durNs = length});
  }
  void iteration(std::int64_t number, std::int64_t begin, model::OptionalInt length) {
    trace.add(model::Iteration{
        .processId = process, .number = number, .startNs = begin, .durNs = length});
  }
  void kernel(std::int64_t begin, std::int64_t length) {
    model::Kernel row;
    row.work.streamId = stream;
    row.work.nameId = trace.name("gemm");
    row.work.startNs = begin;
    row.work.durNs = length;
    trace.add(row);
  }

  test::TraceBuilder trace;
  model::ProcessId process;
  model::ThreadId main;
  model::StreamId stream;
};

struct BadTrace {
  const char* name;
  std::function<void(Rig&)> fill;
};

const BadTrace kBadTraces[] = {
    {"nothing", [](Rig&) {}},
    {"one event", [](Rig& rig) { rig.operation("a", 100, 50); }},
    {"one event without a length", [](Rig& rig) { rig.operation("a", 100, 0); }},
    {"one event without an end", [](Rig& rig) { rig.operation("a", 100, {}); }},
    {"siblings that overlap",
     [](Rig& rig) {
       rig.iteration(0, 0, 1000);
       rig.operation("a", 100, 400);
       rig.operation("b", 300, 400);
       rig.operation("a", 200, 50);
     }},
    {"an end before its begin",
     [](Rig& rig) {
       rig.iteration(0, 0, 1000);
       rig.iteration(1, 1000, -500);
       rig.operation("a", 500, -400);
       rig.operation("a", 600, 100);
       rig.kernel(700, -50);
     }},
    {"iterations without an end and with one number",
     [](Rig& rig) {
       rig.iteration(0, 0, {});
       rig.iteration(0, 0, 500);
       rig.iteration(0, 200, 500);
       rig.operation("a", 100, 2000);
     }},
    {"events outside of all operations and iterations",
     [](Rig& rig) {
       rig.operation("read", 5000, 100, "io", SliceKind::Io);
       rig.iteration(0, 0, 1000);
       rig.kernel(9000, 100);
     }},
    {"a kernel without its launch", [](Rig& rig) { rig.kernel(100, 400); }},
    {"ten thousand operations and categories",
     [](Rig& rig) {
       rig.iteration(0, 0, 10'000 * 20);
       for (int i = 0; i < 10'000; ++i)
         rig.operation("operation " + std::to_string(i),
                       i * 20,
                       10 + i % 7,
                       "category " + std::to_string(i),
                       i % 2 == 0 ? SliceKind::Operation : SliceKind::Io);
     }},
    {"the end of time",
     [](Rig& rig) {
       rig.iteration(0, kMax - 1000, 900);
       rig.operation("a", kMax - 500, 400);
     }},
    {"beyond the end of time",
     [](Rig& rig) {
       rig.iteration(0, 0, kMax);
       rig.operation("a", kMax - 500, 5000);
       rig.kernel(kMax - 10, kMax - 10);
     }},
    {"before the begin of time",
     [](Rig& rig) {
       rig.iteration(0, -kMax, 1000);
       rig.operation("a", -kMax, kMax);
       rig.operation("b", 0, kMax);
     }},
    {"a time that is long past",
     [](Rig& rig) {
       rig.iteration(0, -5000, 1000);
       rig.operation("a", -4800, 300);
     }},
    {"names that are no text",
     [](Rig& rig) {
       rig.iteration(0, 0, 1000);
       rig.operation("<a href=\"x\">&\xff\x01 \xe2\x82", 0, 500);
       rig.operation("", 500, 100);
     }},
};

class BadTraces : public Verbs {
 protected:
  std::string make(const BadTrace& bad) {
    const std::string path = folder_ / "bad.sonde";
    std::filesystem::remove(path);
    Rig rig(path);
    bad.fill(rig);
    rig.trace.finish();
    return path;
  }
  // An answer, or one line that says why there is none.
  static void expectAnswerOrReason(const Finished& finished, const std::string& verb) {
    EXPECT_THAT(finished.status, AnyOf(0, 2, 3)) << finished.err;
    if (finished.status == 0) {
      EXPECT_NE(finished.out, "");
      return;
    }
    EXPECT_EQ(finished.out, "");
    EXPECT_THAT(finished.err, StartsWith("sonde " + verb + ": "));
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
  }
  static void expectPartsSumUp(const json& document) {
    std::int64_t ns = 0;
    std::int64_t raw = 0;
    for (const json& row : document["rows"]) {
      ns += row["ns"].get<std::int64_t>();
      raw += row["raw_ns"].get<std::int64_t>();
      EXPECT_LE(row["low_ns"], row["ns"]);
      EXPECT_GE(row["high_ns"], row["ns"]);
    }
    EXPECT_EQ(ns, document["total_ns"]);
    EXPECT_EQ(raw, document["raw_total_ns"]);
  }
};

TEST_F(BadTraces, AreAnsweredOrRefusedByEachVerb) {
  for (const BadTrace& bad : kBadTraces) {
    SCOPED_TRACE(bad.name);
    const std::string path = make(bad);
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"report", path},
             {"report", path, "--raw", "--full"},
             {"report", path, "--format", "csv"},
             {"breakdown", path},
             {"breakdown", path, "--by", "thread,iteration"},
             {"breakdown", path, "--plot", folder_ / "plot.svg", "-f"},
             {"diff", path, path},
             {"diff", path, path, "--raw", "--by", "operation,kernel,category,rank"}})
      expectAnswerOrReason(sonde(words), words.front());
    for (const char* const scope : {"launch", "execution"}) {
      const Finished parts =
          sonde({"breakdown", path, "--format", "json", "--scope", scope, "--by", "operation"});
      expectAnswerOrReason(parts, "breakdown");
      if (parts.status == 0)
        expectPartsSumUp(json::parse(parts.out));
    }
    const Finished report = sonde({"report", path, "--format", "json"});
    expectAnswerOrReason(report, "report");
    if (report.status == 0) {
      for (const json& iteration : json::parse(report.out)["iterations"])
        EXPECT_GE(iteration["ns"], 0);
      for (const json& operation : json::parse(report.out)["operations"])
        EXPECT_GE(operation["p50_ns"], 0);
    }
  }
}

TEST_F(BadTraces, TimesThatAreNoneAreNamed) {
  for (const BadTrace& bad : kBadTraces) {
    if (std::string(bad.name).find("of time") == std::string::npos)
      continue;
    SCOPED_TRACE(bad.name);
    const std::string path = make(bad);
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"report", path}, {"report", path, "--raw"}, {"breakdown", path, "--raw"}}) {
      const Finished refused = sonde(words);
      EXPECT_EQ(refused.status, 3) << refused.err;
      EXPECT_THAT(refused.err, HasSubstr("which are no times"));
    }
  }
}

TEST_F(BadTraces, WithoutIterationsThereIsNothingToCompareAndTheReportSaysSo) {
  const std::string path = make(kBadTraces[1]);
  const Finished diff = sonde({"diff", path, path});
  EXPECT_EQ(diff.status, 3);
  EXPECT_THAT(diff.err, HasSubstr("there is no iteration in"));
  EXPECT_THAT(sonde({"report", path}).out, HasSubstr("No iterations"));
}

class BadCosts : public BadTraces {
 protected:
  std::string costs(const std::string& text) {
    test::writeText(folder_ / "cost.json", text);
    return folder_ / "cost.json";
  }
  // A file that is for traces of write(), with this in its row.
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

// The errors of two probes that have more in common than either has.
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
    EXPECT_THAT(refused.err, HasSubstr("of net and torch, more than their variances allow"));
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
  // Of several the one that is for a trace.
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
  const std::size_t section =
      text.find("\nWhat recording took: times as recorded, and without it\n");
  ASSERT_NE(section, std::string::npos) << text;
  EXPECT_NE(text.find(" iterations ", section), std::string::npos) << text;
  EXPECT_NE(text.find(" backward ", section), std::string::npos) << text;
  EXPECT_THAT(sonde({"report", "--full", "--raw", trace}).out,
              Not(HasSubstr("What recording took:")));
}

TEST_F(BadCosts, AFileKeepsAllThatWasFound) {
  session::CalibrationOutcome outcome;
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

// What a damaged trace says of costs.
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
      EXPECT_THAT(refused.err, HasSubstr("is no number"));
    }
    EXPECT_EQ(sonde({"report", path, "--raw"}).status, 0);
  }
}

}  // namespace
}  // namespace sonde::cli
