#include "rules/engine/check.h"

#include "analysis/store/trace_file.h"
#include "rules/facts/process_facts.h"
#include "rules/reporters/reporters.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

namespace sonde::rules {
namespace {

using test::must;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

CheckResult result(Verdict verdict, Severity severity) {
  CheckResult each;
  each.rule = "r";
  each.entity = "rank 0";
  each.severity = severity;
  each.outcome.verdict = verdict;
  return each;
}

TEST(CheckReport, ExitStatusFollowsTheContract) {
  const auto status = [](std::vector<CheckResult> results) {
    return CheckReport{std::move(results), {}}.exitStatus();
  };
  const auto pass = result(Verdict::Pass, Severity::Error);
  EXPECT_EQ(status({}), 0);
  EXPECT_EQ(status({pass, result(Verdict::Fired, Severity::Warning)}), 0);
  EXPECT_EQ(status({pass, result(Verdict::Fired, Severity::Error)}), 1);
  EXPECT_EQ(
      status({result(Verdict::Error, Severity::Info), result(Verdict::Fired, Severity::Error)}), 1);
  EXPECT_EQ(status({result(Verdict::Error, Severity::Info),
                    result(Verdict::Insufficient, Severity::Error)}),
            3);
  EXPECT_EQ(status({pass, result(Verdict::Insufficient, Severity::Error)}), 4);
  EXPECT_EQ(status({pass, result(Verdict::Insufficient, Severity::Warning)}), 0);
  EXPECT_EQ(status({result(Verdict::Skipped, Severity::Error)}), 0);
}

TEST(CheckReport, TheVerdictIsTheGravest) {
  const auto verdict = [](std::vector<Verdict> verdicts) {
    CheckReport report;
    for (const Verdict each : verdicts)
      report.results.push_back(result(each, Severity::Warning));
    return report.verdict();
  };
  EXPECT_EQ(verdict({Verdict::Pass, Verdict::Insufficient}), Verdict::Insufficient);
  EXPECT_EQ(verdict({Verdict::Pass, Verdict::Error, Verdict::Insufficient}), Verdict::Error);
  EXPECT_EQ(verdict({Verdict::Error, Verdict::Fired}), Verdict::Fired);
  EXPECT_EQ(verdict({Verdict::Skipped, Verdict::Pass}), Verdict::Pass);
  EXPECT_EQ(verdict({}), Verdict::Skipped);
}

TEST(CheckReport, JsonReplacesWhatItCannotSay) {
  CheckReport report;
  report.results.push_back(result(Verdict::Fired, Severity::Error));
  report.results[0].outcome.value = std::numeric_limits<double>::infinity();
  report.results[0].outcome.message = "bad \xff byte";
  report.results[0].outcome.evidence["worst"] = std::vector<std::int64_t>{3, 1};
  const auto document = nlohmann::json::parse(renderJson(report));
  EXPECT_TRUE(document["results"][0]["value"].is_null());
  EXPECT_TRUE(document["results"][0]["window"].is_null());
  EXPECT_EQ(document["results"][0]["evidence"]["worst"].dump(), "[3,1]");
}

// Reports its input.
RuleInfo recorderRule() {
  RuleInfo info;
  info.name = "recorder";
  info.parameters = {
      {"warmup", std::int64_t{0}, ""}, {"patience", std::int64_t{0}, ""}, {"patience_s", 0.0, ""}};
  info.judge = ProcessJudge([](const ProcessView& view, const Parameters&) {
    std::vector<std::int64_t> numbers;
    for (const StepFact& step : view.steps())
      numbers.push_back(step.number);
    Outcome outcome;
    outcome.verdict = Verdict::Pass;
    outcome.evidence["numbers"] = numbers;
    return outcome;
  });
  return info;
}

class Check : public ::testing::Test {
 protected:
  // A process of `rank` with iterations 0 … count-1; the last is still open, the one before was cut
  // off.
  void addRank(std::int64_t rank, std::int64_t count, const char* scalar) {
    if (!host_) {
      model::Host host;
      host.name = "node";
      host_ = trace_->add(host);
    }
    model::Process process;
    process.hostId = host_;
    process.rank = rank;
    const auto id = trace_->add(process);
    model::Thread thread;
    thread.processId = id;
    const auto main = trace_->add(thread);
    for (std::int64_t i = 0; i < count; ++i) {
      model::Iteration row;
      row.processId = id;
      row.number = i;
      row.startNs = i * 100;
      row.sliceId =
          trace_->slice(main, model::SliceKind::Iteration, "iteration", {i * 100, i * 100 + 100});
      if (i + 1 < count)
        row.durNs = 100;
      trace_->add(row);
      if (scalar != nullptr)
        trace_->add(model::Scalar{
            id, i, trace_->name(scalar), 1.0 / static_cast<double>(i + 1), i * 100 + 50});
    }
  }
  store::Database open() {
    trace_->finish();
    return must(store::openTrace(folder_ / "t.sonde"));
  }
  static CheckReport run(const store::Database& trace, const RuleInfo& info) {
    return must(check(trace, {{{&info, Severity::Warning, Parameters(info.parameters)}}, {}}));
  }

  test::TemporaryFolder folder_;
  std::optional<test::TraceBuilder> trace_{std::in_place, folder_ / "t.sonde"};
  model::HostId host_;
};

TEST_F(Check, RulesSeeOnlyClosedIterationsInOrder) {
  addRank(0, 6, nullptr);
  const RuleInfo info = recorderRule();
  const CheckReport report = run(open(), info);
  ASSERT_THAT(report.results, SizeIs(1));
  EXPECT_EQ(report.results[0].entity, "rank 0");
  EXPECT_THAT(std::get<std::vector<std::int64_t>>(report.results[0].outcome.evidence.at("numbers")),
              ElementsAre(0, 1, 2, 3, 4));
}

TEST_F(Check, RulesAreToldOfIterationsWithinAnother) {
  addRank(0, 3, nullptr);
  const auto slice =
      trace_->slice(model::ThreadId{1}, model::SliceKind::Iteration, "batch", {110, 150});
  trace_->add(model::Iteration{.processId = model::ProcessId{1},
                               .number = 7,
                               .startNs = 110,
                               .durNs = 40,
                               .sliceId = slice});
  const store::Database trace = open();
  const auto facts = must(RunFacts::read(trace));
  std::vector<std::pair<std::int64_t, bool>> seen;
  for (const StepFact& step : facts.processes().at(0)->steps)
    seen.emplace_back(step.number, step.isInner);
  EXPECT_THAT(seen, ElementsAre(std::pair(0, false), std::pair(1, false), std::pair(7, true)));
}

TEST_F(Check, EachRankHasAResultInOrder) {
  addRank(1, 6, nullptr);
  addRank(0, 5, nullptr);
  const RuleInfo info = recorderRule();
  const CheckReport each = run(open(), info);
  ASSERT_THAT(each.results, SizeIs(2));
  EXPECT_EQ(each.results[0].entity, "rank 0");
  EXPECT_EQ(each.results[1].entity, "rank 1");
}

TEST_F(Check, SeveralValuesOfAnIterationAreTheirMean) {
  addRank(0, 4, "loss");
  for (const double value : {4.0, 7.0})
    trace_->add(model::Scalar{model::ProcessId{1}, 1, trace_->name("loss"), value, 160});
  const store::Database trace = open();
  const auto facts = must(RunFacts::read(trace));
  const ProcessView view(*facts.processes().at(0));
  const auto values = view.scalar("loss");
  ASSERT_THAT(values, SizeIs(3));  // the fourth iteration has not ended
  EXPECT_DOUBLE_EQ(values[1].value, (0.5 + 4 + 7) / 3);
  EXPECT_EQ(values[1].count, 3);
  EXPECT_EQ(view.strays("loss"), 1);
}

TEST_F(Check, WithoutIterationsARuleIsInsufficientNotPassed) {
  addRank(0, 0, nullptr);
  const RuleInfo info = recorderRule();
  const CheckReport report = run(open(), info);
  ASSERT_THAT(report.results, SizeIs(1));
  EXPECT_EQ(report.results[0].outcome.verdict, Verdict::Insufficient);
  EXPECT_THAT(report.results[0].outcome.message, HasSubstr("no iteration was recorded"));
}

TEST_F(Check, ARankWhoseScalarAnotherRecordsIsSkipped) {
  addRank(0, 40, "loss");
  addRank(1, 40, nullptr);
  const CheckReport report = run(open(), *findRule("loss-not-decreasing"));
  ASSERT_THAT(report.results, SizeIs(2));
  EXPECT_EQ(report.results[0].outcome.verdict, Verdict::Pass);
  EXPECT_EQ(report.results[0].outcome.samples, 39);
  EXPECT_EQ(report.results[1].outcome.verdict, Verdict::Skipped);
  EXPECT_EQ(report.results[1].outcome.message, "recorded by rank 0 only");
}

TEST_F(Check, AScalarNobodyRecordsIsInsufficientForAll) {
  addRank(0, 40, nullptr);
  addRank(1, 40, "accuracy");
  const CheckReport report = run(open(), *findRule("loss-not-decreasing"));
  ASSERT_THAT(report.results, SizeIs(2));
  for (const CheckResult& each : report.results)
    EXPECT_EQ(each.outcome.verdict, Verdict::Insufficient);
}

TEST_F(Check, AnUnrecordedOptionalRuleCountsOnlyIfAFileNamesIt) {
  addRank(0, 4, nullptr);
  const store::Database trace = open();
  const RuleInfo& info = *findRule("exploding-tensor");
  ConfiguredRule rule{&info, Severity::Error, Parameters(info.parameters), false};
  const CheckReport unasked = must(check(trace, {{rule}, {}}));
  ASSERT_THAT(unasked.results, SizeIs(1));
  EXPECT_EQ(unasked.results[0].outcome.verdict, Verdict::Insufficient);
  EXPECT_EQ(unasked.results[0].severity, Severity::Info);
  EXPECT_EQ(unasked.exitStatus(), 0);
  EXPECT_EQ(unasked.verdict(), Verdict::Skipped);
  EXPECT_THAT(renderText(unasked), HasSubstr("not recorded: exploding-tensor: no tensors"));
  rule.isNamed = true;
  EXPECT_EQ(must(check(trace, {{rule}, {}})).exitStatus(), 4);
}

TEST_F(Check, ASuppressedFindingChangesNoExitStatusUntilItsLastDay) {
  addRank(0, 30, "loss");
  must(trace_->writer().database().exec("UPDATE scalar SET value = NULL WHERE iteration = 12"));
  const store::Database trace = open();
  const RuleInfo& info = *findRule("loss-not-decreasing");
  const Configuration configuration{{{&info, Severity::Error, Parameters(info.parameters)}},
                                    {{"loss-*", "rank 0", "known", "2027-01-05"}}};
  Facts facts(trace);
  const CheckReport before = judge(facts, configuration, "2027-01-05");
  EXPECT_EQ(before.results[0].suppressed, "known (until 2027-01-05)");
  EXPECT_EQ(before.exitStatus(), 0);
  EXPECT_EQ(before.verdict(), Verdict::Skipped);
  EXPECT_THAT(renderText(before), HasSubstr("suppressed: known (until 2027-01-05)"));
  const CheckReport after = judge(facts, configuration, "2027-01-06");
  EXPECT_EQ(after.exitStatus(), 1);
  ASSERT_THAT(after.notes, SizeIs(1));
  EXPECT_THAT(after.notes[0], HasSubstr("expired on 2027-01-05"));
}

// The rule fires if the last iteration is longer than its parameter.
RuleInfo lastIsLong() {
  RuleInfo info = recorderRule();
  info.judge = ProcessJudge([](const ProcessView& view, const Parameters&) {
    Outcome outcome;
    outcome.verdict =
        !view.steps().empty() && view.steps().back().durNs > 150 ? Verdict::Fired : Verdict::Pass;
    return outcome;
  });
  return info;
}

TEST_F(Check, PatienceCountsIterationsAndSeconds) {
  addRank(0, 8, nullptr);  // seven ended
  must(trace_->writer().database().exec(
      "UPDATE iteration SET dur_ns = 200 WHERE number IN (4, 5, 6)"));
  const store::Database trace = open();
  const RuleInfo info = lastIsLong();
  const auto verdict = [&](std::int64_t patience, double seconds) {
    Parameters parameters(info.parameters);
    EXPECT_TRUE(parameters.set("patience", patience));
    EXPECT_TRUE(parameters.set("patience_s", seconds));
    return must(check(trace, {{{&info, Severity::Error, parameters}}, {}}))
        .results[0]
        .outcome.verdict;
  };
  EXPECT_EQ(verdict(0, 0), Verdict::Fired);
  EXPECT_EQ(verdict(2, 0), Verdict::Fired);  // 4, 5 and 6
  EXPECT_EQ(verdict(3, 0), Verdict::Pass);
  EXPECT_EQ(verdict(0, 200e-9), Verdict::Fired);  // from the end of 4 to the end of 6
  EXPECT_EQ(verdict(0, 201e-9), Verdict::Pass);
}

TEST_F(Check, ARuleThatThrowsIsAnErrorAndStopsNobodyElse) {
  addRank(0, 4, nullptr);
  const store::Database trace = open();
  RuleInfo broken = recorderRule();
  broken.name = "broken";
  broken.judge = ProcessJudge(
      [](const ProcessView&, const Parameters&) -> Outcome { throw std::runtime_error("oops"); });
  const RuleInfo healthy = recorderRule();
  const CheckReport report =
      must(check(trace,
                 {{{&broken, Severity::Info, Parameters(broken.parameters)},
                   {&healthy, Severity::Error, Parameters(healthy.parameters)}},
                  {}}));
  ASSERT_THAT(report.results, SizeIs(2));
  EXPECT_EQ(report.results[0].outcome.verdict, Verdict::Error);
  EXPECT_THAT(report.results[0].outcome.message, HasSubstr("oops"));
  EXPECT_EQ(report.results[1].outcome.verdict, Verdict::Pass);
  EXPECT_EQ(report.exitStatus(), 3);
}

TEST_F(Check, FactsThatGrowAreTheSameAsNewOnes) {
  addRank(0, 6, "loss");
  store::Database& trace = trace_->writer().database();
  Facts facts(trace);
  const RunFacts& grown = *must(facts.of<RunFacts>());
  addRank(1, 9, "loss");
  trace_->add(model::Scalar{model::ProcessId{1}, 4, trace_->name("loss"), 8.0, 470});
  trace_->writer().database();  // stores what was added
  must(facts.refresh());
  const RunFacts fresh = must(RunFacts::read(trace));
  ASSERT_EQ(grown.processes().size(), 2U);
  ASSERT_EQ(fresh.processes().size(), 2U);
  for (const std::size_t i : {0U, 1U}) {
    const ProcessView left(*grown.processes()[i]);
    const ProcessView right(*fresh.processes()[i]);
    ASSERT_EQ(left.scalar("loss").size(), right.scalar("loss").size());
    for (std::size_t k = 0; k < left.scalar("loss").size(); ++k)
      EXPECT_EQ(left.scalar("loss")[k].value, right.scalar("loss")[k].value);
    EXPECT_EQ(left.steps().size(), right.steps().size());
  }
  EXPECT_EQ(ProcessView(*grown.processes()[0]).scalar("loss")[4].count, 2);
}

TEST_F(Check, AScalarInNoIterationIsNotCalledUnrecorded) {
  addRank(0, 40, "loss");
  addRank(1, 40, "loss");
  store::Database& trace = trace_->writer().database();
  must(trace.exec("UPDATE scalar SET iteration = NULL WHERE process_id = 1"));
  must(trace.exec("UPDATE scalar SET iteration = 900 WHERE process_id = 1 AND rowid % 2 = 0"));
  const CheckReport report = run(open(), *findRule("loss-not-decreasing"));
  ASSERT_THAT(report.results, SizeIs(2));
  EXPECT_EQ(report.results[0].outcome.verdict, Verdict::Insufficient);
  EXPECT_THAT(report.results[0].outcome.message,
              HasSubstr("none of the 40 values of 'loss' belongs to one of the 39 iterations"));
  EXPECT_EQ(report.results[1].outcome.verdict, Verdict::Pass);
}

TEST_F(Check, ANanThatTheStoreKeepsAsNullFires) {
  addRank(0, 30, "loss");
  must(trace_->writer().database().exec("UPDATE scalar SET value = NULL WHERE iteration = 12"));
  const CheckReport report = run(open(), *findRule("loss-not-decreasing"));
  ASSERT_THAT(report.results, SizeIs(1));
  EXPECT_EQ(report.results[0].outcome.verdict, Verdict::Fired);
  EXPECT_THAT(report.results[0].outcome.message, HasSubstr("'loss' is nan at iteration 12"));
}

}  // namespace
}  // namespace sonde::rules
