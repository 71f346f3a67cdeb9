#include "rules/check.h"

#include "analysis/store/trace_file.h"
#include "rules/iteration_feed.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
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
    return CheckReport{std::move(results)}.exitStatus();
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

// Stores its input and reports it.
class Recorder : public Rule {
 public:
  void observe(const Step& step) override {
    numbers_.push_back(step.number);
    parts_ += static_cast<std::int64_t>(step.parts.size());
  }
  Outcome judge() const override {
    Outcome outcome;
    outcome.verdict = parts_ == 0 ? Verdict::Error : Verdict::Pass;
    outcome.samples = parts_;
    outcome.evidence["numbers"] = numbers_;
    return outcome;
  }

 private:
  std::vector<std::int64_t> numbers_;
  std::int64_t parts_ = 0;
};

RuleInfo recorderRule(Scope scope) {
  RuleInfo info;
  info.name = "recorder";
  info.scope = scope;
  info.make = [](const Parameters&) -> std::unique_ptr<Rule> {
    return std::make_unique<Recorder>();
  };
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
    return must(check(trace, {{&info, Severity::Warning, Parameters(info.parameters)}}));
  }

  test::TemporaryFolder folder_;
  std::optional<test::TraceBuilder> trace_{std::in_place, folder_ / "t.sonde"};
  model::HostId host_;
};

TEST_F(Check, RulesSeeOnlyClosedIterationsInOrder) {
  addRank(0, 6, nullptr);
  const RuleInfo info = recorderRule(Scope::Process);
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
  const auto feed = must(IterationFeed::read(trace));
  std::vector<std::pair<std::int64_t, bool>> seen;
  for (const Step& step : feed.steps(feed.entities(Scope::Process).at(0)))
    seen.emplace_back(step.number, step.parts.front().isInner);
  EXPECT_THAT(seen, ElementsAre(std::pair(0, false), std::pair(1, false), std::pair(7, true)));
}

TEST_F(Check, HostAndJobScopesSeeTheRanksTogether) {
  addRank(1, 6, nullptr);
  addRank(0, 5, nullptr);
  const store::Database trace = open();
  const RuleInfo byProcess = recorderRule(Scope::Process);
  const CheckReport each = run(trace, byProcess);
  ASSERT_THAT(each.results, SizeIs(2));
  EXPECT_EQ(each.results[0].entity, "rank 0");
  EXPECT_EQ(each.results[1].entity, "rank 1");
  for (const auto& [scope, name] :
       {std::pair(Scope::Host, "host node"), std::pair(Scope::Job, "job")}) {
    const RuleInfo info = recorderRule(scope);
    const CheckReport report = run(trace, info);
    ASSERT_THAT(report.results, SizeIs(1));
    EXPECT_EQ(report.results[0].entity, name);
    EXPECT_EQ(report.results[0].outcome.samples, 9);
    EXPECT_THAT(
        std::get<std::vector<std::int64_t>>(report.results[0].outcome.evidence.at("numbers")),
        ElementsAre(0, 1, 2, 3, 4));
  }
}

TEST_F(Check, WithoutIterationsARuleIsInsufficientNotPassed) {
  addRank(0, 0, nullptr);
  const RuleInfo info = recorderRule(Scope::Process);
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
