// The rules that compare scalars and tensors with those of earlier runs.
#include "rules/builtin/runs/runs_rules.h"
#include "tests/rules/rule_trace.h"
#include "tests/rules/training/tensor_values.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <memory>

namespace sonde::rules {
namespace {

using sonde::test::must;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using MatchedOutcome = Outcome (*)(const MatchedProcess&, const Parameters&);

class AcrossRuns : public ::testing::Test {
 protected:
  AcrossRuns(const char* rule, MatchedOutcome function)
      : judge_(function), parameters_(findRule(rule)->parameters) {}

  Outcome judge() const {
    return judge_({&now_, {{"old.sonde", &before_}, {"older.sonde", &older_}}}, parameters_);
  }
  Verdict verdict() const { return judge().verdict; }

  MatchedOutcome judge_;
  Parameters parameters_;
  ProcessFacts now_ = test::stepsOf(std::vector<std::int64_t>(5, 1000));
  ProcessFacts before_ = now_;
  ProcessFacts older_ = now_;
};

struct SimilarAcrossRuns : AcrossRuns {
  SimilarAcrossRuns() : AcrossRuns("similar-across-runs", judgeSimilarity) {}
};

TEST_F(SimilarAcrossRuns, FiresForTheTensorThatDiffersMost) {
  for (ProcessFacts* each : {&now_, &before_}) {
    test::addValues(*each, "a", "weights", 1, {3, 4});
    test::addValues(*each, "b", "weights", 1, {3, 4});
  }
  EXPECT_EQ(verdict(), Verdict::Pass);
  test::addValues(before_, "b", "weights", 2, {3, 4});
  test::addValues(now_, "b", "weights", 2, {6, 8});  // l2 is 10, not 5
  const Outcome outcome = judge();
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_EQ(outcome.value, 0.5);
  EXPECT_THAT(outcome.message,
              StartsWith("1 of 2 tensors differ; most b (weights) in iteration 2, by 0.5 ("));
  EXPECT_THAT(outcome.message, HasSubstr("from old.sonde"));
}

TEST_F(SimilarAcrossRuns, OneOfSeveralRunsIsEnoughToFire) {
  for (ProcessFacts* each : {&now_, &before_})
    test::addValues(*each, "a", "weights", 1, {3, 4});
  test::addValues(older_, "a", "weights", 1, {3, 5});
  EXPECT_EQ(judge().evidence.at("run"), EvidenceValue(std::string("older.sonde")));
  EXPECT_EQ(verdict(), Verdict::Fired);
}

TEST_F(SimilarAcrossRuns, TheToleranceItselfIsHealthy) {
  test::addValues(before_, "a", "weights", 1, {2, 2});
  test::addValues(now_, "a", "weights", 1, {4, 4});
  must(parameters_.set("tolerance", 0.5));
  EXPECT_EQ(verdict(), Verdict::Pass);
  must(parameters_.set("tolerance", 0.499));
  EXPECT_EQ(verdict(), Verdict::Fired);
}

TEST_F(SimilarAcrossRuns, WithoutCommonRecordingsItIsInsufficient) {
  EXPECT_TRUE(judge().inputMissing);
  test::addValues(now_, "a", "weights", 1, {2});
  test::addValues(before_, "a", "weights", 2, {2});
  test::addValues(before_, "a", "gradients", 1, {2});
  EXPECT_EQ(verdict(), Verdict::Insufficient);
  EXPECT_THAT(judge().message, HasSubstr("in the same iteration"));
  before_.steps.resize(1);  // iteration 1 has not ended there
  test::addValues(before_, "b", "weights", 1, {2});
  test::addValues(now_, "b", "weights", 1, {9});
  EXPECT_EQ(verdict(), Verdict::Insufficient);
}

struct NonDeterminism : AcrossRuns {
  NonDeterminism() : AcrossRuns("non-determinism", judgeDeterminism) {}
};

TEST_F(NonDeterminism, NamesTheFirstIterationAndTensor) {
  for (ProcessFacts* each : {&now_, &before_})
    for (int iteration = 0; iteration < 3; ++iteration) {
      const double off = each == &now_ && iteration >= 1 ? 0.25 : 0;
      each->scalars["loss"].values.push_back({iteration, 4 - off, 1});
      test::addValues(*each, "late", "weights", iteration, {2 + off}).tsNs = 900;
      test::addValues(*each, "early", "gradients", iteration, {2 + off}).tsNs = 500;
      test::addValues(*each, "first", "gradients", iteration, {2}).tsNs = 100;
    }
  const Outcome outcome = judge();
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_THAT(outcome.message,
              StartsWith("early (gradients) is the first to differ, in iteration 1, by 0.111"));
  must(parameters_.set("tensors", std::string("none")));
  EXPECT_THAT(judge().message,
              StartsWith("scalar 'loss' is the first to differ, in iteration 1, "
                         "by 0.0625"));
  must(parameters_.set("scalars", std::string("acc*")));
  EXPECT_EQ(verdict(), Verdict::Insufficient);
}

TEST_F(NonDeterminism, EqualValuesPassAndNanEqualsNan) {
  for (ProcessFacts* each : {&now_, &before_}) {
    each->scalars["loss"].values = {{0, 1.5, 1}, {1, std::nan(""), 1}};
    test::addValues(*each, "w", "weights", 2, {1, std::nan("")});
  }
  const Outcome outcome = judge();
  EXPECT_EQ(outcome.verdict, Verdict::Pass);
  EXPECT_EQ(outcome.message, "2 tensors and scalars are the same in 3 iterations");
  now_.scalars["loss"].values[1].value = 1;
  EXPECT_EQ(verdict(), Verdict::Fired);
}

TEST_F(NonDeterminism, TheToleranceItselfIsHealthy) {
  now_.scalars["loss"].values = {{0, 3, 1}};
  before_.scalars["loss"].values = {{0, 4, 1}};
  must(parameters_.set("tolerance", 0.25));
  EXPECT_EQ(verdict(), Verdict::Pass);
  must(parameters_.set("tolerance", 0.2499));
  EXPECT_EQ(verdict(), Verdict::Fired);
}

TEST_F(NonDeterminism, WithoutACommonIterationItIsInsufficient) {
  EXPECT_TRUE(judge().inputMissing);
  now_.scalars["loss"].values = {{0, 3, 1}};
  before_.scalars["loss"].values = {{1, 4, 1}};
  EXPECT_EQ(verdict(), Verdict::Insufficient);
  EXPECT_FALSE(judge().inputMissing);
}

struct InputDrift : AcrossRuns {
  InputDrift() : AcrossRuns("input-drift", judgeInputDrift) {}

  // A recording with these numbers of elements from 0, 1, 2 … to the next.
  static void addInput(ProcessFacts& facts, int iteration, const std::vector<int>& counts) {
    TensorFact& fact = test::addTensor(facts, "Net", "inputs", iteration, iteration);
    fact.elements = 0;
    fact.mean = 1;
    fact.variance = 1;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      fact.histogram += fmt::format("{}[{},{}]", i == 0 ? "[" : ",", i, counts[i]);
      fact.elements += counts[i];
    }
    fact.histogram += fmt::format(",[{},0]]", counts.size());
  }
};

TEST_F(InputDrift, FiresAboveThePopulationStabilityIndex) {
  addInput(before_, 0, {500, 500});
  addInput(now_, 0, {800, 200});
  // (0.8 - 0.5) ln(0.8 / 0.5) + (0.2 - 0.5) ln(0.2 / 0.5)
  const double index = 0.3 * std::log(1.6) - 0.3 * std::log(0.4);
  const Outcome outcome = judge();
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_NEAR(outcome.value.value(), index, 1e-12);
  EXPECT_THAT(outcome.message,
              StartsWith("Net (inputs) drifted, with a population stability index "
                         "of 0.416: mean 1 instead of 1"));
  must(parameters_.set("threshold", outcome.value.value()));
  EXPECT_EQ(verdict(), Verdict::Pass) << "the threshold itself";
}

TEST_F(InputDrift, IterationsAndRunsAddUp) {
  addInput(before_, 0, {900, 100});
  addInput(older_, 0, {100, 900});
  addInput(now_, 0, {800, 200});
  addInput(now_, 1, {200, 800});
  EXPECT_EQ(verdict(), Verdict::Pass);
  EXPECT_NEAR(judge().value.value(), 0, 1e-12);
}

TEST_F(InputDrift, AnEmptyBinCountsAsATenThousandth) {
  addInput(before_, 0, {500, 500});
  addInput(now_, 0, {1000, 0});
  EXPECT_NEAR(judge().value.value(), 0.5 * std::log(2) - 0.4999 * std::log(2e-4), 1e-12);
}

TEST_F(InputDrift, BinsHoldATenthOfTheReference) {
  addInput(before_, 0, std::vector<int>(20, 100));
  std::vector<int> shifted(20, 100);
  shifted[0] = 200;  // within one bin of two buckets
  shifted[1] = 0;
  addInput(now_, 0, shifted);
  EXPECT_NEAR(judge().value.value(), 0, 1e-12);
}

TEST_F(InputDrift, TooFewElementsAreInsufficient) {
  EXPECT_TRUE(judge().inputMissing);
  addInput(before_, 0, {500, 500});
  addInput(now_, 0, {799, 200});
  EXPECT_EQ(verdict(), Verdict::Insufficient);
  addInput(now_, 1, {0, 1});
  EXPECT_EQ(verdict(), Verdict::Fired);
  for (const char* broken : {"", "[[1]]", "[[1,\"x\"]]", "{}"}) {
    now_.tensors[0].values[0].histogram = broken;
    EXPECT_EQ(verdict(), Verdict::Insufficient) << broken;
  }
}

// By the facts of traces.
class BaselineTraces : public test::RuleTrace {
 protected:
  std::vector<CheckResult> judgeWith(const std::string& rule, const std::string& before) {
    const auto baselines = must(Baselines::open({before}, {{path()}}));
    const RuleInfo& info = *findRule(rule);
    const store::Database trace = must(store::openTrace(path()));
    return must(check(trace,
                      {{{&info, Severity::Error, Parameters(info.parameters)}}, {}},
                      {},
                      baselines.get()))
        .results;
  }
  static void writeRun(sonde::test::TraceBuilder& trace, double loss) {
    const auto host = trace.add(model::Host{.name = "h", .bootId = "b"});
    const auto process = trace.add(model::Process{.hostId = host, .pid = 7, .rank = 0});
    const auto thread = trace.add(model::Thread{.processId = process, .tid = 7});
    const auto slice = trace.slice(thread, model::SliceKind::Iteration, "step", std::pair(0, 100));
    trace.add(model::Iteration{
        .processId = process, .number = 0, .startNs = 0, .durNs = 100, .sliceId = slice});
    trace.add(model::Scalar{process, 0, trace.name("loss"), loss, 50});
    trace.finish();
  }
};

TEST_F(BaselineTraces, AreReadWhenARuleAsks) {
  const sonde::test::TemporaryFolder folder;
  for (const auto& [name, loss] : {std::pair("same.sonde", 1.5), std::pair("other.sonde", 2.0)}) {
    sonde::test::TraceBuilder trace(folder / name);
    writeRun(trace, loss);
  }
  writeRun(*trace_, 1.5);
  EXPECT_EQ(judgeWith("non-determinism", folder / "same.sonde")[0].outcome.verdict, Verdict::Pass);
  const CheckResult other = judgeWith("non-determinism", folder / "other.sonde")[0];
  EXPECT_EQ(other.outcome.verdict, Verdict::Fired);
  EXPECT_EQ(other.entity, "rank 0");
  EXPECT_EQ(judgeWith("similar-across-runs", folder / "same.sonde")[0].outcome.verdict,
            Verdict::Insufficient);
}

TEST_F(BaselineTraces, WithoutABaselineAllAreInsufficient) {
  writeRun(*trace_, 1.5);
  for (const char* rule : {"input-drift", "non-determinism", "regression", "similar-across-runs"}) {
    const RuleInfo& info = *findRule(rule);
    const store::Database trace = must(store::openTrace(path()));
    const CheckReport report =
        must(check(trace, {{{&info, Severity::Error, Parameters(info.parameters)}}, {}}));
    ASSERT_EQ(report.results.size(), 1U);
    EXPECT_EQ(report.results[0].outcome.verdict, Verdict::Insufficient) << rule;
    EXPECT_THAT(report.results[0].outcome.message, HasSubstr("give --baseline")) << rule;
  }
}

}  // namespace
}  // namespace sonde::rules
