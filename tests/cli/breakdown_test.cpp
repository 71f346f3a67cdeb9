// `sonde breakdown` with small traces of known numbers.
#include "analysis/store/database.h"
#include "cli/breakdown/breakdown_output.h"
#include "tests/cli/verbs_fixture.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace sonde::cli {
namespace {

using nlohmann::json;
using test::Finished;
using test::kMs;
using ::testing::HasSubstr;
using ::testing::Not;

class BreakdownVerb : public Verbs {
 protected:
  // Nanoseconds by operation; "": outside of all.
  static std::map<std::string, std::int64_t> byOperation(const json& document) {
    std::map<std::string, std::int64_t> ns;
    for (const json& row : document["rows"])
      ns[row["operation"].is_null() ? "" : row["operation"].get<std::string>()] +=
          row["ns"].get<std::int64_t>();
    return ns;
  }
};

TEST_F(BreakdownVerb, TableIsStable) {
  const Finished table = sonde({"breakdown", write(0), write(1)});
  EXPECT_EQ(table.status, 0);
  EXPECT_EQ(table.err, "");
  expectGolden("breakdown.txt", table.out);
}

TEST_F(BreakdownVerb, SaysWhereARowIsOfSeveralIterationsOfItsNumber) {
  const std::string path = write(0);
  const std::vector<std::string> words = {"breakdown", path, "--by", "iteration"};
  EXPECT_EQ(sonde(words).out.find("numbers repeat"), std::string::npos);
  {
    auto trace = test::must(store::Database::open(path, store::Access::ReadWrite));
    test::must(trace.exec("UPDATE iteration SET number = number % 10 + 1"));
  }
  EXPECT_THAT(sonde(words).out, HasSubstr("Iteration numbers repeat (1 to 10, up to 3 times"));
  const json found = jsonOf(sonde({"breakdown", path, "--by", "iteration", "--format", "json"}));
  EXPECT_EQ(found["repeated_iterations"], (json{{"times", 3}, {"first", 1}, {"last", 10}}));
  const json other = jsonOf(sonde({"breakdown", path, "--format", "json"}));
  EXPECT_TRUE(other.at("repeated_iterations").is_null());
}

TEST_F(BreakdownVerb, ThreadsHaveTheirNames) {
  const std::string path = write(0);
  {
    auto trace = test::must(store::Database::open(path, store::Access::ReadWrite));
    test::must(trace.exec("UPDATE thread SET name = 'loader-' || tid"));
  }
  const std::vector<std::string> words = {"breakdown", path, "--by", "thread"};
  const json document = jsonOf(sonde({"breakdown", path, "--by", "thread", "--format", "json"}));
  EXPECT_FALSE(document["rows"].empty());
  for (const json& row : document["rows"])
    EXPECT_EQ(row["thread_name"], "loader-" + std::to_string(row["thread"].get<int>()));
  EXPECT_THAT(sonde(words).out, HasSubstr(" loader-"));
}

TEST_F(BreakdownVerb, OfNothingThereIsNoShare) {
  engine::breakdown::Breakdown result;
  result.rows.resize(1);
  result.rows[0].rawNs = result.rawTotalNs = 1000;
  EXPECT_EQ(renderCsv(rowTable(result, {})), "ns,share\r\n0,\r\n");
  EXPECT_THAT(renderText(rowTable(result, {})), HasSubstr("0 ns      -"));
}

TEST_F(BreakdownVerb, JsonHasTheContractsKeysAndTheRunsNumbers) {
  const json document = jsonOf(sonde({"breakdown", write(0), "--format", "json"}));
  EXPECT_EQ(document["corrected"], false);
  std::int64_t total = 0;
  for (const json& row : document["rows"]) {
    std::set<std::string> keys;
    for (const auto& [key, value] : row.items())
      keys.insert(key);
    EXPECT_EQ(keys,
              (std::set<std::string>{"process_id",
                                     "process",
                                     "rank",
                                     "thread",
                                     "thread_name",
                                     "phase",
                                     "operation",
                                     "module",
                                     "iteration",
                                     "categories",
                                     "resource",
                                     "ns",
                                     "raw_ns",
                                     "low_ns",
                                     "high_ns"}));
    EXPECT_TRUE(row["process"].is_number_integer()) << "there is one process";
    EXPECT_EQ(row["rank"], 0);
    EXPECT_TRUE(row["iteration"].is_null());
    EXPECT_TRUE(row["resource"] == "cpu");
    total += row["ns"].get<std::int64_t>();
  }
  EXPECT_EQ(total, document["total_ns"]);
  EXPECT_EQ(total, document["processes"][0]["ns"]);
  const auto ns = byOperation(document);
  EXPECT_EQ(ns.at("data_load"), 30 * 10 * kMs);
  EXPECT_EQ(ns.at("forward"), 30 * 30 * kMs);
  EXPECT_EQ(ns.at("backward"), 30 * 50 * kMs);
  EXPECT_EQ(ns.at("SGD.step"), 30 * 6 * kMs);
}

TEST_F(BreakdownVerb, IterationsSumToTheirDurations) {
  const json document =
      jsonOf(sonde({"breakdown", write(0), "--by", "iteration,category", "--format", "json"}));
  std::map<std::int64_t, std::int64_t> ns;
  for (const json& row : document["rows"])
    if (!row["iteration"].is_null())
      ns[row["iteration"].get<std::int64_t>()] += row["ns"].get<std::int64_t>();
  EXPECT_EQ(ns.size(), 30U);
  for (const auto& [number, sum] : ns)
    EXPECT_EQ(sum, 100 * kMs) << number;
}

TEST_F(BreakdownVerb, RanksAreToldApart) {
  const json document =
      jsonOf(sonde({"breakdown", "--by", "rank,resource", write(0), write(1), "--format", "json"}));
  std::set<std::int64_t> ranks;
  for (const json& row : document["rows"]) {
    ranks.insert(row["rank"].get<std::int64_t>());
    EXPECT_TRUE(row["categories"].is_null());
    EXPECT_TRUE(row["operation"].is_null());
  }
  EXPECT_EQ(ranks, (std::set<std::int64_t>{0, 1}));
}

TEST_F(BreakdownVerb, WorkWithoutAKnownEndIsCounted) {
  const std::string path = folder_ / "cut.sonde";
  {
    test::TraceBuilder trace(path);
    const auto process = trace.add(model::Process{
        .hostId = trace.add(model::Host{.name = "h"}), .pid = 7, .startNs = 0, .endNs = 100});
    const auto thread = trace.add(model::Thread{.processId = process, .tid = 7});
    trace.slice(thread, model::SliceKind::Operation, "train", {0, 100});
    model::Kernel kernel;
    kernel.work.streamId = trace.add(model::Stream{.processId = process, .number = 7});
    kernel.work.nameId = trace.name("gemm");
    kernel.work.startNs = 50;
    trace.add(kernel);
    trace.finish();
  }
  EXPECT_EQ(jsonOf(sonde({"breakdown", path, "--format", "json"})).at("ends_unknown"), 1);
  EXPECT_THAT(
      sonde({"breakdown", path}).out,
      HasSubstr("\n1 kernels, copies or transfers have no recorded end. They count as 0.\n"));
  const std::string whole = write(0);
  EXPECT_EQ(jsonOf(sonde({"breakdown", whole, "--format", "json"})).at("ends_unknown"), 0);
  EXPECT_THAT(sonde({"breakdown", whole}).out, Not(HasSubstr("no recorded end")));
}

// As after an exec, or with two hosts.
TEST_F(BreakdownVerb, ProcessesOfOnePidAreToldApart) {
  const std::string path = folder_ / "same.sonde";
  {
    test::TraceBuilder trace(path);
    const auto a = trace.add(model::Host{.name = "a", .bootId = "a"});
    const auto b = trace.add(model::Host{.name = "b", .bootId = "b"});
    for (const auto& [host, command] :
         {std::pair(a, "sh"), std::pair(a, "train"), std::pair(a, "train"), std::pair(b, "sh")}) {
      const auto process = trace.add(model::Process{.hostId = host, .pid = 7, .command = command});
      const auto thread = trace.add(model::Thread{.processId = process, .tid = 7});
      trace.slice(thread, model::SliceKind::Operation, "work", {10 * kMs, 20 * kMs});
    }
    trace.finish();
  }
  const Finished table = sonde({"breakdown", path, "--by", "rank", "--format", "csv"});
  for (const char* const name : {"process 7 on a (sh),",
                                 "process 7 on a (train) #2,",
                                 "process 7 on a (train) #3,",
                                 "process 7 on b,"})
    EXPECT_THAT(table.out, HasSubstr(name));
  const json document = jsonOf(sonde({"breakdown", path, "--by", "rank", "--format", "json"}));
  for (const char* const list : {"rows", "processes"}) {
    std::set<std::int64_t> ids;
    for (const json& each : document[list])
      ids.insert(each["process_id"].get<std::int64_t>());
    EXPECT_EQ(ids, (std::set<std::int64_t>{1, 2, 3, 4})) << list;
  }
  EXPECT_EQ(document["processes"][3]["host"], "b");
}

TEST_F(BreakdownVerb, SaysThatThereIsNoTransition) {
  const std::string path = folder_ / "still.sonde";
  {
    test::TraceBuilder trace(path);
    const auto host = trace.add(model::Host{.name = "h", .bootId = "b"});
    const auto process = trace.add(model::Process{.hostId = host, .pid = 7});
    const auto thread = trace.add(model::Thread{.processId = process, .tid = 7});
    trace.slice(thread, model::SliceKind::Operation, "work", {0, kMs});
    trace.finish();
  }
  const Finished still = sonde({"breakdown", path, "--transitions"});
  EXPECT_EQ(still.status, 0);
  EXPECT_THAT(still.out, HasSubstr("\n\nNo category became active while"));
}

TEST_F(BreakdownVerb, DrawsItsRows) {
  const std::string picture = folder_ / "plot.svg";
  const Finished drawn = sonde({"breakdown", write(0), write(1), "--plot", picture});
  EXPECT_EQ(drawn.status, 0) << drawn.err;
  EXPECT_THAT(drawn.out, HasSubstr("rank 1")) << "the rows are those of the picture";
  const std::string svg = test::readText(picture);
  EXPECT_THAT(svg, HasSubstr("<title>backward, rank 0: framework, "));
  EXPECT_THAT(svg, HasSubstr("rank0.sonde, "));
  EXPECT_THAT(svg, HasSubstr("Times are as recorded."));
  const Finished again = sonde({"breakdown", write(0), "--plot", picture});
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr("exists"));
  EXPECT_EQ(test::readText(picture), svg);
  EXPECT_EQ(sonde({"breakdown", write(0), "--plot", picture, "-f"}).status, 0);
  EXPECT_NE(test::readText(picture), svg);
}

TEST_F(BreakdownVerb, DrawsWithoutAndWithWhatRecordingTook) {
  test::TrainingRun run;
  run.scopeCostNs = kMs;
  run.scopeErrorNs = kMs / 4.0;
  const std::string picture = folder_ / "plot.svg";
  ASSERT_EQ(sonde({"breakdown", write(0, run), "--plot", picture}).status, 0);
  EXPECT_THAT(test::readText(picture), HasSubstr("forward: framework, 870 ms<"));
  EXPECT_THAT(test::readText(picture), HasSubstr("forward: framework, 900 ms as recorded<"));
  EXPECT_THAT(test::readText(picture), HasSubstr("stroke=\"#000000\""));
  ASSERT_EQ(sonde({"breakdown", write(0, run), "--raw", "--plot", picture, "-f"}).status, 0);
  EXPECT_THAT(test::readText(picture), HasSubstr("forward: framework, 900 ms<"));
}

TEST_F(BreakdownVerb, RefusesPicturesThatItCannotMake) {
  const std::string trace = write(0);
  for (const std::string& name : {folder_ / "plot.pdf", folder_ / "plot", std::string("-")}) {
    const Finished refused = sonde({"breakdown", trace, "--plot", name});
    EXPECT_EQ(refused.status, 2);
    EXPECT_EQ(refused.out, "");
    EXPECT_THAT(refused.err, HasSubstr("does not end in .svg or .png"));
  }
  EXPECT_EQ(sonde({"breakdown", trace, "--plot", folder_ / "a.svg", "--transitions"}).status, 2);
  const Finished nowhere = sonde({"breakdown", trace, "--plot", "/nowhere/a.svg"});
  EXPECT_EQ(nowhere.status, 3);
  EXPECT_THAT(nowhere.err, HasSubstr("give another place with --plot"));
  const std::string picture = folder_ / "trace.svg";
  std::filesystem::rename(trace, picture);
  const Finished over = sonde({"breakdown", picture, "--plot", picture, "-f"});
  EXPECT_EQ(over.status, 2);
  EXPECT_THAT(over.err, HasSubstr("would overwrite the input"));
  EXPECT_EQ(sonde({"report", picture}).status, 0) << "it is still a trace";
}

// sonde-gui draws PNG, and is beside sonde.
TEST_F(BreakdownVerb, RefusesPngWithoutSondeGui) {
  namespace fs = std::filesystem;
  const std::string trace = write(0);
  const std::string picture = folder_ / "plot.png";
  const fs::path alone = folder_ / "sonde";
  fs::copy_file(SONDE_PROGRAM, alone);
  const Finished refused = test::runProgram({alone, "breakdown", trace, "--plot", picture});
  EXPECT_EQ(refused.status, 3);
  EXPECT_THAT(refused.err, HasSubstr("sonde-gui draws PNG"));
  EXPECT_THAT(refused.err, HasSubstr("ends in .svg"));
  EXPECT_FALSE(fs::exists(picture) || fs::exists(picture + ".part"));
}

#ifdef SONDE_WITH_GUI
TEST_F(BreakdownVerb, DrawsPngWhereThereIsSondeGui) {
  const std::string trace = write(0);
  const std::string picture = folder_ / "plot.png";
  const Finished drawn = sonde({"breakdown", trace, "--plot", picture});
  ASSERT_EQ(drawn.status, 0) << drawn.err;
  EXPECT_THAT(test::readText(picture), ::testing::StartsWith("\x89PNG"));
}
#endif

TEST_F(BreakdownVerb, RefusesWhatItDoesNotKnow) {
  const std::string trace = write(0);
  const Finished word = sonde({"breakdown", trace, "--by", "operation,colour"});
  EXPECT_EQ(word.status, 2);
  EXPECT_THAT(word.err, HasSubstr("'colour'"));
  EXPECT_THAT(word.err, HasSubstr("operation, module"));
  EXPECT_EQ(sonde({"breakdown", trace, "--scope", "never"}).status, 2);
  EXPECT_EQ(sonde({"breakdown", "/nowhere.sonde"}).status, 3);
}

// Costs hold for one kind of processor: all machines of a job must have it.
TEST_F(BreakdownVerb, CostsOfAnotherMachineAreRefusedWhicheverOfTheJobsItIs) {
  const std::string first = write(0);
  test::TrainingRun other;
  other.bootId = "boot-b";
  other.hostName = "host-b";
  const std::string second = write(1, other);
  const auto set = [](const std::string& path, const std::string& processor) {
    auto trace = test::must(store::Database::open(path, store::Access::ReadWrite));
    test::must(
        trace.exec("INSERT OR REPLACE INTO meta VALUES('sources', 'annotation'), "
                   "('build', 'x'); UPDATE host SET cpu_model = '" +
                   processor + "'"));
  };
  const std::string costs = folder_ / "cost.json";
  test::writeText(
      costs,
      R"({"schema": 1, "sources": "annotation", "build": "x", "cpu_model": "one", "overhead": [
                      {"probe": "annotation", "api": "scope", "method": "separate runs", "mean_ns": 10,
                       "error_ns": 1, "before_ns": 1, "inside_ns": 1}],
                      "probes": ["annotation"], "covariance": [[0.01]]})");
  for (const auto& [a, b] : {std::pair("one", "another"), std::pair("another", "one")}) {
    set(first, a);
    set(second, b);
    const Finished refused = sonde({"breakdown", first, second, "--overhead", costs});
    EXPECT_EQ(refused.status, 2) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("the trace was recorded with another"));
  }
  set(first, "one");
  set(second, "one");
  EXPECT_EQ(sonde({"breakdown", first, second, "--overhead", costs}).status, 0);
}

// 2^63 ns is not a valid time: differences to another time overflow.
TEST_F(BreakdownVerb, AllVerbsRefuseTimesThatAreNone) {
  const std::string path = folder_ / "far.sonde";
  {
    test::TraceBuilder trace(path);
    const auto host = trace.add(model::Host{.name = "h", .bootId = "b"});
    const auto process = trace.add(model::Process{.hostId = host, .pid = 7, .command = "train"});
    const auto thread = trace.add(model::Thread{.processId = process, .tid = 7});
    constexpr std::int64_t kFar = INT64_MAX - 100;
    trace.slice(thread, model::SliceKind::Operation, "a", {10, 20});
    trace.slice(thread, model::SliceKind::Operation, "b", {kFar, kFar + 10});
    trace.finish();
  }
  for (const char* verb : {"breakdown", "report", "stats"}) {
    const Finished refused = sonde({verb, path});
    EXPECT_EQ(refused.status, 3) << verb << ": " << refused.out;
    EXPECT_THAT(refused.err, HasSubstr("not valid times")) << verb;
  }
}

}  // namespace
}  // namespace sonde::cli
