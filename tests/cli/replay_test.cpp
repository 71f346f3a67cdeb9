// `sonde replay -o`: runs the program on a small job of two ranks.
#include "analysis/store/database.h"
#include "tests/cli/verbs_fixture.h"

#include <gmock/gmock.h>

namespace sonde::cli {
namespace {

using nlohmann::json;
using test::Finished;
using test::TrainingRun;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ReplayVerb : public Verbs {
 protected:
  static json rowsOf(const std::string& trace, const std::string& select) {
    return jsonOf(sonde({"sql", trace, select, "--format", "json"}))["rows"];
  }
};

TEST_F(ReplayVerb, WritesTheMeasuredTimelineIfNothingIsPredicted) {
  const std::string out = folder_ / "out.sonde";
  const std::string one = write(0);
  ASSERT_EQ(sonde({"replay", one, "-o", out}).status, 0);
  for (const char* select : {"SELECT * FROM v_iteration ORDER BY id",
                             "SELECT * FROM v_slice ORDER BY id",
                             "SELECT * FROM v_process ORDER BY id"})
    EXPECT_EQ(rowsOf(out, select), rowsOf(one, select)) << select;
  EXPECT_EQ(rowsOf(out, "SELECT value FROM meta WHERE key = 'replayed'").dump(),
            R"([["identity"]])");
  for (const char* verb : {"report", "graph", "breakdown"})
    EXPECT_EQ(sonde({verb, out}).status, 0) << verb;
}

TEST_F(ReplayVerb, ReportsSayThatTimesAreThoseOfAReplay) {
  TrainingRun run;
  run.scopeCostNs = 1000;
  const std::string recorded = write(0, run);
  const std::string out = folder_ / "out.sonde";
  ASSERT_EQ(sonde({"replay", recorded, "-o", out}).status, 0);
  const json before = jsonOf(sonde({"report", recorded, "--format", "json"}));
  EXPECT_TRUE(before["replayed"].is_null());
  EXPECT_LT(before["iterations"][0]["ns"], before["iterations"][0]["raw_ns"]);
  const json after = jsonOf(sonde({"report", out, "--format", "json"}));
  EXPECT_EQ(after["replayed"], "identity");
  EXPECT_EQ(after["iterations"][0]["ns"], after["iterations"][0]["raw_ns"]);
  const char* const head = "times are those of a replay (identity)\n";
  EXPECT_THAT(sonde({"report", out}).out, HasSubstr(head));
  EXPECT_THAT(sonde({"report", recorded}).out, ::testing::Not(HasSubstr(head)));
}

TEST_F(ReplayVerb, WritesTheIterationsThatItReports) {
  const std::string out = folder_ / "out.sonde";
  TrainingRun run;
  run.slow = {4, 6};
  run.extraNs = 5 * test::kMs;
  const std::vector<std::string> job = {write(0, run), write(1, run)};
  const json report =
      jsonOf(sonde({"replay", job[0], job[1], "--judge", "odd", "-o", out, "--format", "json"}));
  const json means = rowsOf(out,
                            "SELECT CAST(round(avg(dur_ns)) AS INTEGER) FROM iteration WHERE "
                            "number % 2 = 0 AND probe_mask = (SELECT min(probe_mask) FROM "
                            "iteration)");
  EXPECT_NEAR(means[0][0].get<double>(), report["replayed_ns"].get<double>(), 1);
  EXPECT_EQ(rowsOf(out, "SELECT value FROM meta WHERE key = 'replayed'").dump(), R"([["odd"]])");
}

TEST_F(ReplayVerb, DoesNotSayHowMuchOneIterationVaries) {
  TrainingRun run;
  run.iterations = 2;
  const std::string trace = write(0, run);
  const json report = jsonOf(sonde({"replay", trace, "--judge", "odd", "--format", "json"}));
  EXPECT_TRUE(report["noise"].is_null());
  EXPECT_TRUE(report["standard_error"].is_null());
  const std::string text = sonde({"replay", trace, "--judge", "odd"}).out;
  EXPECT_THAT(text, HasSubstr(" % (even iterations against odd ones)\n"));
  EXPECT_THAT(text, Not(HasSubstr("vary")));
  EXPECT_THAT(sonde({"replay", trace}).out, HasSubstr("iterations vary by "));
}

TEST_F(ReplayVerb, ReplacesAnOutputOnlyIfAsked) {
  const std::string trace = write(0);
  const std::string out = folder_ / "out.sonde";
  test::writeText(out, "mine");
  const Finished refused = sonde({"replay", trace, "-o", out});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, StartsWith("sonde replay: '" + out + "' exists"));
  EXPECT_EQ(test::readText(out), "mine");
  EXPECT_EQ(sonde({"replay", trace, "-o", out, "-f"}).status, 0);
  EXPECT_EQ(sonde({"report", out}).status, 0);
  EXPECT_EQ(sonde({"replay", trace, "-o", trace, "-f"}).status, 2);
  EXPECT_EQ(sonde({"replay", trace, "-o", folder_ / "none/out.sonde"}).status, 3);
}

TEST_F(ReplayVerb, SaysWhichRanksAndIterationsAreMissing) {
  TrainingRun run;
  run.worldSize = 3;
  const std::string one = write(0, run);
  run.iterations = 27;
  const std::string two = write(1, run);
  const json found = jsonOf(sonde({"replay", one, two, "--format", "json"}));
  EXPECT_EQ(found["iterations"], 27);
  EXPECT_EQ(found["left_out"], 3);
  EXPECT_THAT(sonde({"replay", one, two}).out,
              AllOf(HasSubstr("\nwithout 3 iterations that not all ranks have\n"),
                    HasSubstr("\n1: ranks that the trace does not have, of 3 in the job: rank 2\n"),
                    HasSubstr("\n1: ranks without all 30 iterations of the job: rank 1 has 27\n")));
}

TEST_F(ReplayVerb, SaysThatRanksCalledDifferentOperations) {
  const std::string one = write(0);
  const std::string two = write(1);
  {
    auto trace = test::must(store::Database::open(two, store::Access::ReadWrite));
    test::must(trace.exec("UPDATE collective SET op = 'broadcast' WHERE seq = 3"));
  }
  EXPECT_THAT(sonde({"replay", one, two}).out,
              HasSubstr("1: collectives in which the ranks called different operations; the first "
                        "is number 3"));
}

TEST_F(ReplayVerb, JudgesNothingIfTheRanksShareNoIteration) {
  const std::string one = write(0);
  const std::string two = write(1);
  {
    auto trace = test::must(store::Database::open(two, store::Access::ReadWrite));
    test::must(trace.exec("UPDATE iteration SET number = number + 30"));
  }
  for (const std::vector<std::string>& options : {std::vector<std::string>(), {"--judge", "odd"}}) {
    std::vector<std::string> words = {"replay", one, two};
    words.insert(words.end(), options.begin(), options.end());
    const Finished refused = sonde(words);
    EXPECT_EQ(refused.status, 4);
    EXPECT_EQ(refused.out, "");
    EXPECT_THAT(refused.err, HasSubstr("ranks"));
  }
}

}  // namespace
}  // namespace sonde::cli
