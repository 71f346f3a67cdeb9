// `sonde graph` with small traces of known numbers.
#include "analysis/store/database.h"
#include "cli/graph/graph_output.h"
#include "tests/cli/verbs_fixture.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

namespace sonde::cli {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class GraphVerb : public Verbs {
 protected:
  // A process without a rank, which ran an operator and nothing else.
  std::string bare() {
    const std::string path = folder_ / "bare.sonde";
    test::TraceBuilder trace(path);
    const auto host = trace.add(model::Host{.name = "h", .bootId = "b"});
    const auto process = trace.add(model::Process{.hostId = host, .pid = 31304});
    const auto thread = trace.add(model::Thread{.processId = process, .tid = 31304});
    trace.slice(thread, model::SliceKind::Operator, "aten::mm", {0, 100});
    trace.finish();
    return path;
  }
};

TEST_F(GraphVerb, ListsThePeakOfMemory) {
  const std::string path = write(3);
  {
    auto trace = test::must(store::Database::open(path, store::Access::ReadWrite));
    // Two blocks overlap in the backward pass of the first iteration.
    test::must(trace.exec(
        "INSERT INTO allocation(process_id, thread_id, address, bytes, alloc_ns, free_ns, "
        "scope_id, allocator) SELECT t.process_id, t.id, 4096 * column1, column2, s.start_ns + "
        "column3, s.start_ns + column4, s.id, 'torch' FROM (VALUES (1, 100, -5, 20), (2, 7, 10, "
        "30)) JOIN slice s JOIN thread t ON t.id = s.thread_id WHERE s.id = (SELECT min(id) FROM "
        "slice WHERE kind = 'backward')"));
  }
  const json found = jsonOf(sonde({"graph", path, "--memory", "--format", "json"}));
  ASSERT_EQ(found["memory"].size(), 1U);
  json row = found["memory"][0];
  EXPECT_TRUE(row["node"].is_number_unsigned()) << row["node"];
  row.erase("node");
  EXPECT_EQ(row,
            (json{{"rank", 3},
                  {"process", "rank 3"},
                  {"place", "host"},
                  {"allocator", "torch"},
                  {"peak_bytes", 107},
                  {"base_bytes", 0},
                  {"iteration", 0},
                  {"operation", "backward"}}));
  const std::string table = sonde({"graph", path, "--memory"}).out;
  EXPECT_THAT(table, HasSubstr("peaks of memory\n"));
  EXPECT_THAT(table, HasSubstr("107 B"));
}

TEST_F(GraphVerb, SaysThatThereWereNoAllocations) {
  const std::string path = write(0);
  EXPECT_THAT(sonde({"graph", path, "--memory"}).out, HasSubstr("no allocations were recorded"));
  EXPECT_THAT(sonde({"graph", path}).out, Not(HasSubstr("allocations")));
  EXPECT_EQ(jsonOf(sonde({"graph", path, "--memory", "--format", "json"}))["memory"],
            json::array());
}

TEST_F(GraphVerb, HasTheSecondPathOfEachIteration) {
  const std::string one = write(0);
  const std::string two = write(1);
  const json graph = jsonOf(sonde({"graph", one, two, "--critical-path", "--format", "json"}));
  ASSERT_EQ(graph["iterations"].size(), 30U);
  std::int64_t seconds = 0;
  for (const json& each : graph["iterations"]) {
    const json& second = each["second_path"];
    if (second.is_null())
      continue;
    ++seconds;
    EXPECT_GE(second["behind_ns"].get<std::int64_t>(), 0);
    EXPECT_LT(second["behind_ns"], each["ns"]);
    EXPECT_THAT(second["entity"].get<std::string>(), HasSubstr("rank "));
    for (const char* key : {"node", "cause", "what"})
      EXPECT_TRUE(second.contains(key)) << key;
  }
  EXPECT_EQ(seconds, 30);
  EXPECT_THAT(sonde({"graph", one, two, "--critical-path"}).out,
              HasSubstr("the next longest path is on average "));
  EXPECT_THAT(sonde({"graph", one, two, "--critical-path", "--iteration", "3"}).out,
              HasSubstr(" shorter, through rank "));
  EXPECT_THAT(sonde({"graph", one, two}).out, Not(HasSubstr("next longest")));
}

TEST_F(GraphVerb, SaysWhyItNamesNoStraggler) {
  test::TrainingRun run;
  run.iterations = 3;
  const std::string one = write(0, run);
  const std::string two = write(1, run);
  const std::string why = "stragglers need 8 iterations of one structure; the trace has 3";
  const json few = jsonOf(sonde({"graph", one, two, "--critical-path", "--format", "json"}));
  EXPECT_EQ(few["stragglers"], json::array());
  EXPECT_EQ(few["stragglers_reason"], why);
  EXPECT_THAT(sonde({"graph", one, two, "--critical-path"}).out, HasSubstr("\n" + why + "\n"));
  EXPECT_THAT(sonde({"graph", one, two}).out, Not(HasSubstr("stragglers need")));
  EXPECT_EQ(
      jsonOf(sonde({"report", one, two, "--format", "json"}))["critical_path"]["straggler_reason"],
      why);
  for (const std::vector<std::string>& traces : {std::vector{one}, {write(0), write(1)}}) {
    std::vector<std::string> words = {"graph", "--critical-path", "--format", "json"};
    words.insert(words.end(), traces.begin(), traces.end());
    EXPECT_TRUE(jsonOf(sonde(words))["stragglers_reason"].is_null()) << traces.size();
  }
}

TEST_F(GraphVerb, NamesTheIterationsThatThereAre) {
  const auto refused = sonde({"graph", write(0), "--iteration", "30"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.err,
            "sonde graph: there is no iteration 30: the trace has iterations 0 to 29\n");
  test::TrainingRun run;
  run.iterations = 1;
  const auto other = sonde({"graph", write(0, run), "--iteration", "7"});
  EXPECT_EQ(other.err, "sonde graph: there is no iteration 7: the trace has only iteration 0\n");
  const auto none = sonde({"graph", bare(), "--iteration", "0"});
  EXPECT_EQ(none.status, 2);
  EXPECT_EQ(none.err, "sonde graph: there is no iteration 0: the trace has no iterations\n");
}

TEST_F(GraphVerb, AProcessWithoutARankHasItsPid) {
  const json graph = jsonOf(sonde({"graph", bare(), "--critical-path", "--format", "json"}));
  EXPECT_EQ(graph["critical_path"][0]["entity"], "process 31304, thread 31304");
}

TEST_F(GraphVerb, ARankThatIsMissingIsNull) {
  const std::string path = write(0);
  {
    auto trace = test::must(store::Database::open(path, store::Access::ReadWrite));
    test::must(trace.exec("UPDATE process SET rank = NULL"));
  }
  const json graph = jsonOf(sonde({"graph", path, "--critical-path", "--format", "json"}));
  ASSERT_EQ(graph["iterations"].size(), 30U);
  EXPECT_TRUE(graph["iterations"][0]["rank"].is_null()) << graph["iterations"][0];
  EXPECT_THAT(sonde({"replay", path, "--format", "csv"}).out,
              HasSubstr("replayed_ns\r\n,100000000,100000000\r\n"));
}

TEST_F(GraphVerb, ANodeHasNeitherPictureNorOtherFormats) {
  const std::string path = write(0);
  const std::string picture = folder_ / "path.svg";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--plot", picture}, {"--format", "json"}, {"--format", "csv"}}) {
    std::vector<std::string> all = {"graph", path, "--dot", "1"};
    all.insert(all.end(), words.begin(), words.end());
    const auto refused = sonde(all);
    EXPECT_EQ(refused.status, 2);
    EXPECT_EQ(refused.out, "");
    EXPECT_THAT(refused.err, HasSubstr("leave out " + words.front()));
  }
  EXPECT_FALSE(std::filesystem::exists(picture));
  EXPECT_THAT(sonde({"graph", path, "--dot", "1"}).out, HasSubstr("digraph sonde {"));
}

TEST_F(GraphVerb, SaysWhosePathsTheseAre) {
  const std::string path = write(0);
  const auto note = [&](const std::vector<std::string>& words) {
    std::vector<std::string> all = {"graph", path, "-f", "--plot", folder_ / "path.svg"};
    all.insert(all.end(), words.begin(), words.end());
    EXPECT_EQ(sonde(all).status, 0);
    return test::readText(folder_ / "path.svg");
  };
  const auto text = [&](const std::vector<std::string>& words) {
    std::vector<std::string> all = {"graph", path, "--critical-path"};
    all.insert(all.end(), words.begin(), words.end());
    return sonde(all).out;
  };
  EXPECT_THAT(text({}), HasSubstr("critical path of 30 iterations, "));
  EXPECT_THAT(text({"--operation", "backward"}),
              HasSubstr("critical path of 30 times 'backward', "));
  EXPECT_THAT(note({"--operation", "backward"}),
              HasSubstr("The critical path of 30 times 'backward': how long"));
  EXPECT_THAT(note({"--operation", "backward", "--iteration", "3"}),
              HasSubstr("The critical path of 1 time 'backward': how long"));
  EXPECT_THAT(note({}), HasSubstr("The critical path of 30 iterations: how long"));
}

TEST_F(GraphVerb, EachCauseHasItsColour) {
  GraphView view;
  view.paths.emplace_back();
  view.trace.graph.lanes = {{.rank = 3}};
  using engine::critical::PathCause;
  view.shares = {{0, PathCause::Gap, "", 2, 1, 0.4}, {0, PathCause::Device, "gemm", 3, 1, 0.6}};
  const exports::BarChart chart = chartOf(view, "title");
  EXPECT_THAT(chart.series, ElementsAre("device", "gap"));
  EXPECT_THAT(chart.colours, ElementsAre("#009e73", "#999999"));
  EXPECT_THAT(exports::svgOf(chart), HasSubstr("#009e73"));
  EXPECT_THAT(exports::svgOf(chart), Not(HasSubstr("#0072b2")));
}

}  // namespace
}  // namespace sonde::cli
