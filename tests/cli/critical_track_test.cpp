// The critical path as a track.
#include "cli/verbs/critical_track.h"

#include "analysis/store/trace_file.h"
#include "tests/cli/verbs_fixture.h"

#include <gmock/gmock.h>

namespace sonde::cli {
namespace {

using exports::PathSpan;
using nlohmann::json;
using test::must;

class CriticalTrack : public Verbs {};

TEST_F(CriticalTrack, HasThePartsOfAllIterationsWithoutHoles) {
  test::TrainingRun run;
  const auto spans = must(criticalTrack(must(store::openTrace(write(0, run)))));
  ASSERT_FALSE(spans.empty());
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const PathSpan& each = spans[i];
    sum += each.durNs;
    EXPECT_EQ(each.lane, 0);
    EXPECT_NE(each.name, "");
    const json args = json::parse(each.args);
    EXPECT_EQ(args["rank"], 0);
    EXPECT_TRUE(args.contains("thread") != args.contains("stream"));
    EXPECT_TRUE(args.contains("node"));
    if (i > 0 && json::parse(spans[i - 1].args)["iteration"] == args["iteration"]) {
      EXPECT_EQ(each.startNs, spans[i - 1].startNs + spans[i - 1].durNs);
    }
  }
  EXPECT_EQ(sum, 30 * 100 * test::kMs);
  EXPECT_EQ(spans.front().startNs, run.beginNs);
  EXPECT_EQ(json::parse(spans.back().args)["iteration"], 29);
}

TEST_F(CriticalTrack, IterationsThatOverlapHaveLanesOfTheirOwn) {
  const std::string path = folder_ / "t.sonde";
  {
    test::TraceBuilder trace(path);
    const auto host = trace.add(model::Host{.name = "h", .bootId = "b"});
    for (const std::int64_t rank : {0, 1}) {
      const auto process =
          trace.add(model::Process{.hostId = host, .pid = 10 + rank, .rank = rank});
      const auto thread = trace.add(model::Thread{.processId = process, .tid = 10 + rank});
      const std::pair<std::int64_t, std::int64_t> time{100 + 50 * rank, 200 + 50 * rank};
      const auto step = trace.slice(thread, model::SliceKind::Iteration, "step", time);
      trace.add(model::Iteration{.processId = process,
                                 .number = rank,
                                 .startNs = time.first,
                                 .durNs = 100,
                                 .sliceId = step});
    }
    trace.finish();
  }
  const auto spans = must(criticalTrack(must(store::openTrace(path))));
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0].lane, 0);
  EXPECT_EQ(spans[1].lane, 1);
}

TEST_F(CriticalTrack, IsMissingWithANoteWithoutAGraph) {
  EXPECT_FALSE(criticalTrack(must(store::Database::inMemory())));
  const std::string path = folder_ / "t.sonde";
  {
    test::TraceBuilder trace(path);
    trace.finish();
  }
  EXPECT_FALSE(criticalTrack(must(store::openTrace(path))));
  const auto exported = sonde({"export", path, "--to", "perfetto", "-o", folder_ / "t.pftrace"});
  EXPECT_EQ(exported.status, 0);
  EXPECT_THAT(exported.err,
              ::testing::StartsWith("sonde export: no track of the critical path: the trace has "));
}

TEST_F(CriticalTrack, IsExportedToPerfettoAlone) {
  const std::string trace = write(0);
  const std::string out = folder_ / "out";
  ASSERT_EQ(sonde({"export", trace, "--to", "perfetto", "-o", out}).status, 0);
  EXPECT_THAT(test::readText(out), ::testing::HasSubstr("critical path"));
  EXPECT_THAT(sonde({"export", trace, "--to", "chrome"}).out,
              ::testing::Not(::testing::HasSubstr("critical path")));
}

}  // namespace
}  // namespace sonde::cli
