// The critical path in `sonde report`.
#include "cli/report/report_path.h"

#include "analysis/store/trace_file.h"
#include "tests/cli/verbs_fixture.h"

#include <gmock/gmock.h>

namespace sonde::cli {
namespace {

using engine::critical::PathCause;
using engine::report::PathReport;
using nlohmann::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ReportPath : public Verbs {};

TEST_F(ReportPath, SumsTheCausesOfAllIterations) {
  const json path = jsonOf(sonde({"report", write(0), "--format", "json"}))["critical_path"];
  EXPECT_EQ(path["iterations"], 30);
  EXPECT_TRUE(path["reason"].is_null());
  EXPECT_TRUE(path["straggler"].is_null());
  std::int64_t ns = 0;
  double share = 0;
  for (const json& each : path["causes"]) {
    ns += each["ns"].get<std::int64_t>();
    share += each["share"].get<double>();
  }
  EXPECT_EQ(ns, path["ns"]);
  EXPECT_EQ(ns, 30 * 100 * test::kMs);
  EXPECT_NEAR(share, 1, 1e-9);
  // By hand: the loader takes 10 of each 100 ms.
  const json graph =
      jsonOf(sonde({"graph", write(0), "--critical-path", "--format", "json"}))["critical_path"];
  for (const json& each : path["causes"]) {
    std::int64_t sum = 0;
    for (const json& row : graph)
      sum += row["cause"] == each["cause"] ? row["ns"].get<std::int64_t>() : 0;
    EXPECT_EQ(each["ns"], sum) << each["cause"];
    if (each["cause"] == "loader") {
      EXPECT_EQ(sum, 30 * 10 * test::kMs);
    }
  }
}

TEST_F(ReportPath, ATraceWithoutIterationsHasAReason) {
  const std::string path = folder_ / "bare.sonde";
  {
    test::TraceBuilder trace(path);
    const auto host = trace.add(model::Host{.name = "h", .bootId = "b"});
    const auto process = trace.add(model::Process{.hostId = host, .pid = 1});
    const auto thread = trace.add(model::Thread{.processId = process, .tid = 1});
    trace.slice(thread, model::SliceKind::Operator, "aten::mm", {0, 100});
    trace.finish();
  }
  const json found = jsonOf(sonde({"report", path, "--format", "json"}))["critical_path"];
  EXPECT_EQ(found["iterations"], 0);
  EXPECT_EQ(found["reason"], "the trace has no iterations");
  EXPECT_THAT(sonde({"report", path}).out, Not(HasSubstr("critical path")));
}

TEST_F(ReportPath, IsNotLookedForInLargeTraces) {
  const store::Database trace = test::must(store::openTrace(write(0)));
  const PathReport least = engine::report::readPaths(trace, engine::report::kMostPathEvents);
  EXPECT_EQ(least.iterations, 30);
  const PathReport none = engine::report::readPaths(trace, engine::report::kMostPathEvents + 1);
  EXPECT_EQ(none.iterations, 0);
  EXPECT_THAT(none.reason, HasSubstr("more than 1000000 events"));
  EXPECT_THAT(pathLines(none),
              ElementsAre("Path       not looked for above 1,000,000 events: sonde graph "
                          "--critical-path"));
}

TEST_F(ReportPath, AGraphThatCannotBeBuiltIsAReason) {
  const PathReport none = engine::report::readPaths(test::must(store::Database::inMemory()), 1);
  EXPECT_EQ(none.iterations, 0);
  EXPECT_NE(none.reason, "");
  EXPECT_THAT(pathLines(none), IsEmpty());
}

TEST(ReportPathLines, NameTheLargestCausesAndTheSlowRank) {
  PathReport path;
  path.iterations = 12;
  path.ns = 1000;
  path.causes = {{PathCause::Host, "aten::mm", 610, 0.61},
                 {PathCause::WakeUp, "", 220, 0.22},
                 {PathCause::Transfer, "nccl:all_reduce", 160, 0.16},
                 {PathCause::Gap, "gemm", 10, 0.01}};
  EXPECT_THAT(pathLines(path),
              ElementsAre("Path       critical path: host 61 % (aten::mm), wake-up 22 %, transfer "
                          "16 % (nccl:all_reduce)"));
  path.straggler = {3, "", PathCause::Loader, 120, 0.12, 0.9};
  EXPECT_THAT(pathLines(path), Contains(HasSubstr("3 is slow (loader): 12 % of an iteration")));
  EXPECT_EQ(pathJson(path)["straggler"]["cause"], "loader");
  EXPECT_EQ(pathJson(path)["straggler"]["rank"], 3);
}

TEST_F(ReportPath, SaysThatCollectivesLackMembers) {
  const std::string one = write(0);
  const json found = jsonOf(sonde({"report", one, "--format", "json"}))["critical_path"];
  ASSERT_EQ(found["checks"].size(), 1U) << found["checks"];
  EXPECT_EQ(found["checks"][0]["check"], "partners");
  EXPECT_EQ(found["checks"][0]["violations"], 60);
  EXPECT_THAT(sonde({"report", one}).out,
              HasSubstr("\n           60: collectives without all their members: give the traces"));
  const auto both = sonde({"report", one, write(1), "--format", "json"});
  EXPECT_EQ(jsonOf(both)["critical_path"]["checks"], json::array());
}

}  // namespace
}  // namespace sonde::cli
