// `sonde report` and `sonde diff` with runs from which recording costs are subtracted.
#include "analysis/store/database.h"
#include "cli/report/report_times.h"
#include "tests/cli/verbs_fixture.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace sonde::cli {
namespace {

using nlohmann::json;
using test::Finished;
using test::kMs;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Each of the four parts of an iteration took 1 ms to record, ± 0.25 ms.
test::TrainingRun costlyRun() {
  test::TrainingRun run;
  run.scopeCostNs = kMs;
  run.scopeErrorNs = kMs / 4.0;
  return run;
}

class CorrectedReport : public Verbs {
 protected:
  static json operation(const json& report, const std::string& name) {
    for (const json& row : report["operations"])
      if (row["name"] == name)
        return row;
    return nullptr;
  }
  json report(const test::TrainingRun& run, std::vector<std::string> words = {}) {
    words.insert(words.begin(), {"report", write(0, run), "--format", "json"});
    return jsonOf(sonde(words));
  }
};

TEST_F(CorrectedReport, TimesAreWithoutWhatRecordingTook) {
  const json found = report(costlyRun());
  ASSERT_EQ(found["iterations"].size(), 30U);
  for (const json& iteration : found["iterations"]) {
    EXPECT_EQ(iteration["raw_ns"], 100 * kMs);
    EXPECT_EQ(iteration["ns"], 96 * kMs);
    EXPECT_NEAR(iteration["low_ns"].get<double>(), (96 - 1.96) * kMs, 2);
    EXPECT_NEAR(iteration["high_ns"].get<double>(), (96 + 1.96) * kMs, 2);
  }
  const json& parts = found["ranks"][0]["median_iteration"];
  EXPECT_EQ(parts["ns"], 96 * kMs);
  EXPECT_EQ(parts["data_load_ns"], 9 * kMs);
  EXPECT_EQ(parts["forward_ns"], 29 * kMs);
  EXPECT_EQ(parts["backward_ns"], 39 * kMs);
  EXPECT_EQ(parts["optimizer_ns"], 5 * kMs);
  EXPECT_EQ(parts["other_ns"], 14 * kMs);
  const json forward = operation(found, "forward");
  EXPECT_EQ(forward["ns"], 30 * 29 * kMs);
  EXPECT_EQ(forward["raw_ns"], 30 * 30 * kMs);
  EXPECT_NEAR(forward["low_ns"].get<double>(), 30 * (29 - 0.49) * kMs, 30);
  EXPECT_EQ(forward["p50_ns"], 29 * kMs);
  EXPECT_DOUBLE_EQ(forward["share"].get<double>(), 29.0 / 96);
  EXPECT_EQ(found["stalls"][0]["cause"], "data loader");
  EXPECT_DOUBLE_EQ(found["stalls"][0]["share"].get<double>(), 9.0 / 96);
  EXPECT_EQ(found["ranks"][0]["window_ns"], 30 * 96 * kMs);
  EXPECT_EQ(found["ranks"][0]["raw"]["window_ns"], 30 * 100 * kMs);
  EXPECT_LT(found["ranks"][0]["compute_ns"], found["ranks"][0]["raw"]["compute_ns"]);
  EXPECT_LT(found["ranks"][0]["low"]["compute_ns"], found["ranks"][0]["compute_ns"]);
  EXPECT_NEAR(found["recording_cost"]["share"].get<double>(), 0.04, 1e-6);
  EXPECT_NEAR(found["recording_cost"]["low"].get<double>(), 0.0204, 1e-6);
  EXPECT_NEAR(found["recording_cost"]["high"].get<double>(), 0.0596, 1e-6);
}

TEST_F(CorrectedReport, AgreesWithTheBreakdown) {
  const std::string trace = write(0, costlyRun());
  const json report = jsonOf(sonde({"report", trace, "--format", "json"}));
  const json parts = jsonOf(sonde({"breakdown", trace, "--by", "iteration", "--format", "json"}));
  std::int64_t ns = 0;
  for (const json& row : parts["rows"])
    if (!row["iteration"].is_null())
      ns += row["ns"].get<std::int64_t>();
  EXPECT_EQ(ns, report["recording_cost"]["ns"]);
}

TEST_F(CorrectedReport, RawTimesAreAsRecorded) {
  const json raw = report(costlyRun(), {"--raw"});
  test::TrainingRun unknown;
  const json without = report(unknown);
  for (const json& found : {raw, without}) {
    EXPECT_EQ(found["recording_cost"]["corrected"], false);
    for (const json& iteration : found["iterations"])
      for (const char* const key : {"ns", "raw_ns", "low_ns", "high_ns"})
        EXPECT_EQ(iteration[key], 100 * kMs);
    EXPECT_EQ(operation(found, "forward")["ns"], 30 * 30 * kMs);
    EXPECT_EQ(found["ranks"][0]["window_ns"], 30 * 100 * kMs);
    EXPECT_EQ(found["ranks"][0]["raw"], found["ranks"][0]["high"]);
  }
}

TEST_F(CorrectedReport, TheScreenSaysHowMuchRecordingTookAndHowSureThatIs) {
  const std::string trace = write(0, costlyRun());
  const Finished screen = sonde({"report", trace});
  EXPECT_THAT(screen.out,
              HasSubstr("Overhead   recording took 4.0 % of an iteration (2.0 to 6.0 %), "
                        "subtracted from these times"));
  EXPECT_THAT(screen.out, HasSubstr("cost: 30 annotation scalar, 120 net transfer"));
  EXPECT_THAT(screen.out, HasSubstr("as recorded"));
  EXPECT_LE(std::count(screen.out.begin(), screen.out.end(), '\n'), 40);
  EXPECT_THAT(sonde({"report", trace, "--raw"}).out, Not(HasSubstr("Overhead")));
  EXPECT_THAT(sonde({"report", write(1)}).out, Not(HasSubstr("Overhead")));
}

TEST(CostText, OfAnEstimateBelowNothingIsWhatItIsAtMost) {
  RecordingCost cost;
  cost.known = cost.ofIterations = true;
  cost.sum = {.ns = 1001, .rawNs = 1000, .lowNs = 998, .highNs = 1002};
  EXPECT_THAT(costText(cost),
              StartsWith("recording took at most 0.2 % of an iteration, subtracted"));
  cost.sum.lowNs = 1000;
  EXPECT_THAT(costText(cost),
              StartsWith("recording took at most 0.0 % of an iteration, subtracted"));
}

TEST(CostText, SaysWhatTheRecorderHadWhereThatMakesTheUpperFigureHigh) {
  RecordingCost cost;
  cost.known = cost.ofIterations = true;
  cost.sum = {.ns = 960, .rawNs = 1000, .lowNs = 940, .highNs = 980};
  cost.unexplained.recorder = 0.012;
  EXPECT_THAT(
      costText(cost),
      HasSubstr("(2.0 to 6.0 %), subtracted from these times; the upper figure allows for the "
                "recorder, which used 1.2 % of a processor"));
  cost.sum.ns = 1000;
  EXPECT_THAT(costText(cost),
              HasSubstr("at most 6.0 % of an iteration, subtracted from these times; "
                        "this allows for the recorder, which used 1.2 %"));
  cost.unexplained.recorder = 0.004;
  EXPECT_THAT(costText(cost), Not(HasSubstr("recorder")));
}

TEST_F(CorrectedReport, TheBreakdownSaysThatTheLowerEndAllowsForTheRecorder) {
  const std::string trace = write(0, costlyRun());
  EXPECT_THAT(sonde({"breakdown", trace}).out, Not(HasSubstr("the recorder, which used")));
  {
    auto file = test::must(store::Database::open(trace, store::Access::ReadWrite));
    test::must(file.exec("INSERT INTO meta VALUES('recorder_beside_ppm', '12000')"));
  }
  EXPECT_THAT(sonde({"breakdown", trace}).out,
              HasSubstr("`from` also allows for the recorder, which used 1.2 % of a processor"));
}

TEST_F(CorrectedReport, IterationsInWhichProbesWereOffDoNotCount) {
  test::TrainingRun run;
  run.masked = {3, 4, 29};
  const json found = report(run);
  EXPECT_EQ(found["iterations"].size(), 26U);
  for (const json& iteration : found["iterations"])
    EXPECT_THAT(iteration["number"].get<int>(), Not(AnyOf(3, 4, 5, 29)));
  EXPECT_EQ(found["ranks"][0]["masked_iterations"], 4);
  EXPECT_EQ(found["ranks"][0]["iteration"]["count"], 26);
  EXPECT_EQ(found["ranks"][0]["window_ns"], 26 * 100 * kMs);
  EXPECT_EQ(operation(found, "forward")["count"], 26);
  EXPECT_EQ(operation(found, "forward")["ns"], 26 * 30 * kMs);
  EXPECT_DOUBLE_EQ(operation(found, "forward")["share"].get<double>(), 0.3);
  const json all = report({});
  for (const char* const key : {"compute_ns", "comm_ns", "exposed_comm_ns", "idle_ns"})
    EXPECT_EQ(found["ranks"][0][key].get<std::int64_t>() * 30,
              all["ranks"][0][key].get<std::int64_t>() * 26)
        << key;
  EXPECT_EQ(found["ranks"][0]["collectives"], 52);
  EXPECT_THAT(
      sonde({"report", write(0, run)}).out,
      HasSubstr(
          "Left out: 4 iterations in outline, with probes off, or while the recorder stored."));
}

// As in a trace that was trimmed to a block without a probe.
TEST_F(CorrectedReport, OfIterationsOfWhichNoneCountsNothingIsSaid) {
  test::TrainingRun run = costlyRun();
  run.sources = "annotation,torch,io";
  for (int number = 0; number < run.iterations; ++number)
    run.masked.push_back(number);
  const std::string masked = write(0, run);
  {
    auto trace = test::must(store::Database::open(masked, store::Access::ReadWrite));
    test::must(trace.exec("UPDATE iteration SET dur_ns = dur_ns - 1000"));  // leaves gaps
  }
  const json found = jsonOf(sonde({"report", masked, "--format", "json"}));
  EXPECT_EQ(found["iterations"].size(), 0U);
  EXPECT_EQ(found["ranks"][0]["masked_iterations"], 30);
  EXPECT_EQ(found["recording_cost"]["raw_ns"], 0);
  for (const char* const share : {"share", "low", "high"})
    EXPECT_TRUE(found["recording_cost"][share].is_null()) << share;
  EXPECT_THAT(sonde({"report", masked}).out,
              HasSubstr("Left out: 30 iterations in outline, with probes off"));
  EXPECT_THAT(sonde({"report", masked}).out, Not(HasSubstr("No iterations")));
  EXPECT_THAT(sonde({"report", masked}).out, Not(HasSubstr("recording took")));
  test::TrainingRun none;
  none.iterations = 0;
  EXPECT_THAT(sonde({"report", write(1, none)}).out, HasSubstr("No iterations: mark them"));
  const Finished refused = sonde({"diff", masked, masked});
  EXPECT_EQ(refused.status, 3);
  EXPECT_THAT(
      refused.err,
      HasSubstr(
          "A has no iteration left to compare: none of them was recorded by all requested probes"));
}

class CorrectedDiff : public Verbs {
 protected:
  // Three runs of one rank per side, a minute apart.
  std::string side(const std::string& name, test::TrainingRun run, std::int64_t extraNs) {
    run.worldSize = 1;
    run.job = "";
    run.extraNs = extraNs;
    for (int number = 0; extraNs > 0 && number < run.iterations; ++number)
      run.slow.push_back(number);
    const std::string folder = folder_ / name;
    std::filesystem::create_directories(folder);
    for (int i = 0; i < 3; ++i) {
      run.beginNs += 60'000 * kMs;
      test::writeTrainingRun(folder + "/run" + std::to_string(i) + ".sonde", run);
    }
    return folder;
  }
  json diff(std::vector<std::string> words) {
    words.insert(words.begin(), {"diff", "--format", "json"});
    return jsonOf(sonde(words));
  }
};

// Side b recorded more: only that made its iterations 4 ms longer.
TEST_F(CorrectedDiff, SidesThatRecordedDifferentThingsAreComparedWithoutThat) {
  const std::string a = side("a", {}, 0);
  test::TrainingRun costly = costlyRun();
  costly.scopeErrorNs = kMs / 100.0;
  const std::string b = side("b", costly, 4 * kMs);
  const json found = diff({a, b});
  EXPECT_EQ(found["rows"][0]["b_ns"], 100 * kMs);
  EXPECT_EQ(found["rows"][0]["b_raw_ns"], 104 * kMs);
  EXPECT_EQ(found["rows"][0]["a_raw_ns"], 100 * kMs);
  EXPECT_EQ(found["rows"][0]["verdict"], "no difference can be shown");
  EXPECT_EQ(found["b"]["corrected_runs"], 3);
  EXPECT_NEAR(found["b"]["recording_share"].get<double>(), 4.0 / 104, 1e-6);
  EXPECT_THAT(found["notes"].dump(), HasSubstr("from 0 of 3 runs of A and 3 of 3 of B"));
  const json raw = diff({a, b, "--raw"});
  EXPECT_EQ(raw["rows"][0]["b_ns"], 104 * kMs);
  EXPECT_EQ(raw["rows"][0]["verdict"], "slower");
  EXPECT_THAT(sonde({"diff", a, b}).out,
              HasSubstr("the subtracted cost of recording is 3.8 % of one (± 0.1 %)"));
}

// The interval of the difference reflects the error of the subtracted costs, unless both sides
// share the error.
TEST_F(CorrectedDiff, HowSureTheCostsAreIsInTheInterval) {
  const auto width = [](const json& found) {
    return found["rows"][0]["high"].get<double>() - found["rows"][0]["low"].get<double>();
  };
  test::TrainingRun sure = costlyRun();
  sure.scopeErrorNs = 0;
  test::TrainingRun unsure = costlyRun();
  const std::string plain = side("plain", {}, 0);
  const double least = width(diff({plain, side("sure", sure, 4 * kMs)}));
  const double wide = width(diff({plain, side("unsure", unsure, 4 * kMs)}));
  EXPECT_NEAR(wide, 2 * 1.96 * 0.01, 0.004);
  EXPECT_LT(least, 0.01);
  const std::string again = side("again", unsure, 4 * kMs);
  EXPECT_LT(width(diff({folder_ / "unsure", again})), 0.01) << "both are off by the same";
  test::TrainingRun others = unsure;
  others.sources = "torch,net";
  EXPECT_GT(width(diff({folder_ / "unsure", side("others", others, 4 * kMs)})), wide);
  unsure.costMethod = "in-run";
  const double own = width(diff({side("own", unsure, 4 * kMs), side("own2", unsure, 4 * kMs)}));
  EXPECT_GT(own, 0.02) << "each run has errors of its own";
  EXPECT_LT(own, wide);
}

TEST_F(CorrectedDiff, IterationsInWhichProbesWereOffDoNotCount) {
  test::TrainingRun run;
  run.masked = {10, 11};
  const json found = diff({side("a", run, 0), side("b", {}, 0)});
  EXPECT_EQ(found["a"]["partial"], 9);
  EXPECT_EQ(found["b"]["partial"], 0);
}

// As in a run with --calibrate: blocks without a probe, each followed by an iteration that installs
// the hooks again. Iterations that do not count take longer.
TEST_F(CorrectedDiff, ReportAndBreakdownAverageTheSameIterations) {
  test::TrainingRun run;
  run.sources = "annotation,torch,io";
  run.masked = {10, 11, 12, 20, 21, 22};
  run.slow = {10, 11, 12, 13, 20, 21, 22, 23};
  run.extraNs = 20 * kMs;
  const std::string trace = write(0, run);
  const json report = jsonOf(sonde({"report", trace, "--format", "json"}));
  std::int64_t ofReport = 0;
  std::set<std::int64_t> numbers;
  for (const json& iteration : report["iterations"]) {
    ofReport += iteration["ns"].get<std::int64_t>();
    numbers.insert(iteration["number"].get<std::int64_t>());
  }
  const json parts = jsonOf(sonde({"breakdown", trace, "--by", "iteration", "--format", "json"}));
  std::int64_t ofBreakdown = 0;
  std::set<std::int64_t> ofRows;
  for (const json& row : parts["rows"])
    if (!row["iteration"].is_null()) {
      ofBreakdown += row["ns"].get<std::int64_t>();
      ofRows.insert(row["iteration"].get<std::int64_t>());
    }
  const json compared = diff({trace, trace, "--skip", "0"});
  EXPECT_EQ(numbers.size(), 22U);
  EXPECT_EQ(ofRows, numbers);
  EXPECT_EQ(ofReport, 22 * 100 * kMs);
  EXPECT_EQ(ofBreakdown, ofReport);
  EXPECT_EQ(compared["a"]["iterations"], 22);
  EXPECT_EQ(compared["a"]["partial"], 8);
  EXPECT_EQ(compared["rows"][0]["a_ns"], 100 * kMs);
}

}  // namespace
}  // namespace sonde::cli
