#include "analysis/store/trace_file.h"
#include "rules/engine/check.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace sonde::rules {
namespace {

using sonde::test::must;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// A trace of ranks with iterations of 100 ns, of which the last is open.
class JobRule : public ::testing::Test {
 protected:
  explicit JobRule(const std::string& name)
      : info_(*findRule(name)), parameters_(info_.parameters) {}

  model::ProcessId addRank(std::int64_t rank, std::int64_t count = 5) {
    if (!host_) {
      model::Host host;
      host.name = "node";
      host_ = trace_->add(host);
    }
    model::Process process;
    process.hostId = host_;
    process.rank = rank;
    process.pid = 100 + rank;
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
    }
    return id;
  }

  // A tensor of ten elements.
  model::Tensor tensorOf(model::ProcessId process, const char* name, std::int64_t iteration) {
    model::Tensor tensor;
    tensor.processId = process;
    tensor.iteration = iteration;
    tensor.nameId = trace_->name(name);
    tensor.collection = "weights";
    tensor.role = model::TensorRole::Weight;
    tensor.tsNs = iteration * 100 + 10;
    tensor.dtype = "float32";
    tensor.shape = "[10]";
    tensor.elements = 10;
    tensor.minimum = -1;
    tensor.maximum = 2;
    tensor.mean = 0.5;
    tensor.variance = 1;
    tensor.l1 = 8;
    tensor.l2 = 4;
    return tensor;
  }

  void addScalar(model::ProcessId process,
                 model::OptionalInt iteration,
                 double value,
                 std::int64_t tsNs) {
    trace_->add(model::Scalar{process, iteration, trace_->name("loss"), value, tsNs});
  }

  std::vector<CheckResult> judge() {
    trace_->finish();
    const auto trace = must(store::openTrace(file_));
    return must(check(trace, {{{&info_, Severity::Error, parameters_}}, {}})).results;
  }
  CheckResult judgeOne() {
    auto results = judge();
    EXPECT_THAT(results, SizeIs(1));
    return results.at(0);
  }

  sonde::test::TemporaryFolder folder_;
  std::string file_ = folder_ / "t.sonde";
  std::optional<sonde::test::TraceBuilder> trace_{std::in_place, file_};
  model::HostId host_;
  const RuleInfo& info_;
  Parameters parameters_;
};

class FirstNan : public JobRule {
 protected:
  FirstNan() : JobRule("first-nan") {}
};

TEST_F(FirstNan, NamesTheEarliestOfAllRanks) {
  const auto first = addRank(0);
  const auto second = addRank(1);
  auto late = tensorOf(first, "a", 2);
  late.nans = 10;
  trace_->add(late);
  auto early = tensorOf(second, "fc1.weight", 1);
  early.nans = 1;
  early.infs = 2;
  trace_->add(early);
  addScalar(first, 1, std::nan(""), 180);
  trace_->add(model::Arg{model::Owner::Process,
                         second.value,
                         trace_->name("sonde.tensor.first_nan"),
                         std::string_view("aten.log.default of [(2,)] in iteration 0")});
  const CheckResult result = judgeOne();
  EXPECT_EQ(result.outcome.verdict, Verdict::Fired);
  EXPECT_EQ(result.entity, "rank 1");
  EXPECT_EQ(result.outcome.message,
            "fc1.weight (weights) has 1 NaN and 2 infinite elements in iteration 1; the first "
            "operator that made a NaN is aten.log.default of [(2,)] in iteration 0");
  EXPECT_EQ(result.outcome.time->fromNs, 110);
}

TEST_F(FirstNan, AScalarOutsideOfIterationsCounts) {
  addScalar(addRank(3), {}, std::nan(""), 5);
  const CheckResult result = judgeOne();
  EXPECT_EQ(result.entity, "rank 3");
  EXPECT_EQ(result.outcome.message, "the scalar 'loss' is NaN outside of iterations");
}

TEST_F(FirstNan, AnInfiniteScalarFiresUnlessOnlyNanCounts) {
  const auto rank = addRank(0);
  addScalar(rank, 0, 1e308, 50);
  addScalar(rank, 1, -HUGE_VAL, 150);
  ASSERT_TRUE(parameters_.set("only_nan", std::int64_t{0}));
  EXPECT_EQ(judgeOne().outcome.message, "the scalar 'loss' is infinite in iteration 1");
  ASSERT_TRUE(parameters_.set("only_nan", std::int64_t{1}));
  EXPECT_EQ(
      must(check(must(store::openTrace(file_)), {{{&info_, Severity::Error, parameters_}}, {}}))
          .results[0]
          .outcome.verdict,
      Verdict::Pass);
}

TEST_F(FirstNan, AnOpenIterationIsNotSeenYet) {
  const auto rank = addRank(0, 2);
  addScalar(rank, 0, 1, 50);
  addScalar(rank, 1, std::nan(""), 150);
  const CheckResult result = judgeOne();
  EXPECT_EQ(result.outcome.verdict, Verdict::Pass);
  EXPECT_EQ(result.outcome.samples, 1);
}

TEST_F(FirstNan, SeesRowsThatALiveTraceHasGot) {
  const auto rank = addRank(0);
  trace_->add(tensorOf(rank, "w", 0));
  Facts facts(trace_->writer().database());
  const Configuration rules{{{&info_, Severity::Error, parameters_}}, {}};
  EXPECT_EQ(sonde::rules::judge(facts, rules, "2027-01-01").results[0].outcome.verdict,
            Verdict::Pass);
  auto late = tensorOf(rank, "w", 3);
  late.nans = 1;
  trace_->add(late);
  addScalar(rank, 2, std::nan(""), 250);
  trace_->writer().database();  // stores what was added
  must(facts.refresh());
  EXPECT_EQ(sonde::rules::judge(facts, rules, "2027-01-01").results[0].outcome.message,
            "the scalar 'loss' is NaN in iteration 2");
}

// For example, somebody interrupts the statement.
TEST_F(FirstNan, SeesRowsThatAReadingMissed) {
  const auto rank = addRank(0);
  trace_->add(tensorOf(rank, "w", 0));
  store::Database& trace = trace_->writer().database();
  Facts facts(trace);
  const Configuration rules{{{&info_, Severity::Error, parameters_}}, {}};
  EXPECT_EQ(sonde::rules::judge(facts, rules, "2027-01-01").results[0].outcome.verdict,
            Verdict::Pass);
  auto late = tensorOf(rank, "w", 2);
  late.nans = 1;
  trace_->add(late);
  trace_->writer().database();  // stores what was added
  must(trace.exec("ALTER TABLE string RENAME TO hidden"));
  EXPECT_FALSE(facts.refresh());
  must(trace.exec("ALTER TABLE hidden RENAME TO string"));
  must(facts.refresh());
  EXPECT_EQ(sonde::rules::judge(facts, rules, "2027-01-01").results[0].outcome.message,
            "w (weights) has 1 NaN and 0 infinite elements in iteration 2");
}

TEST_F(FirstNan, NamesSelect) {
  const auto rank = addRank(0);
  auto mask = tensorOf(rank, "mask", 0);
  mask.infs = 1;
  trace_->add(mask);
  ASSERT_TRUE(parameters_.set("names", std::string("[!m]*")));
  EXPECT_EQ(judgeOne().outcome.verdict, Verdict::Pass);
}

TEST_F(FirstNan, TheOperatorAloneIsEnough) {
  const auto rank = addRank(2);
  trace_->add(model::Arg{model::Owner::Process,
                         rank.value,
                         trace_->name("sonde.tensor.first_nan"),
                         std::string_view("aten.div")});
  const CheckResult result = judgeOne();
  EXPECT_EQ(result.entity, "rank 2");
  EXPECT_EQ(result.outcome.message, "the first operator that made a NaN is aten.div");
}

TEST_F(FirstNan, IsInsufficientWithoutRecords) {
  addRank(0);
  const CheckResult result = judgeOne();
  EXPECT_EQ(result.outcome.verdict, Verdict::Insufficient);
  EXPECT_TRUE(result.outcome.inputMissing);
  EXPECT_THAT(result.outcome.message, HasSubstr("no tensor and no scalar was recorded"));
}

class DivergingReplicas : public JobRule {
 protected:
  DivergingReplicas() : JobRule("diverging-replicas") {}

  // Ranks with the same weights in the iterations 0 and 1, except for `norms`, by rank, in
  // iteration 1.
  void addRanks(std::int64_t count, const std::map<std::int64_t, double>& norms) {
    for (std::int64_t rank = 0; rank < count; ++rank) {
      const auto process = addRank(rank);
      for (const std::int64_t iteration : {0, 1}) {
        trace_->add(tensorOf(process, "fc1.weight", iteration));
        auto second = tensorOf(process, "fc2.weight", iteration);
        if (const auto norm = norms.find(rank); norm != norms.end() && iteration == 1)
          second.l2 = norm->second;
        trace_->add(second);
      }
    }
  }
};

TEST_F(DivergingReplicas, EqualReplicasPass) {
  addRanks(3, {});
  const CheckResult result = judgeOne();
  EXPECT_EQ(result.outcome.verdict, Verdict::Pass);
  EXPECT_EQ(result.entity, "job");
  EXPECT_EQ(result.outcome.message, "3 replicas agree within 0 in iteration 1");
}

TEST_F(DivergingReplicas, NamesTheRanksThatDifferFromTheMajority) {
  addRanks(5, {{1, 5}, {3, 8}});
  const auto results = judge();
  ASSERT_THAT(results, SizeIs(2));
  EXPECT_EQ(results[0].entity, "rank 1");
  EXPECT_EQ(
      results[0].outcome.message,
      "rank 1 differs from 3 of 5 replicas in fc2.weight (weights) by 0.2 (l2) in iteration 1");
  EXPECT_EQ(results[1].entity, "rank 3");
  EXPECT_DOUBLE_EQ(*results[1].outcome.value, 0.5);
  EXPECT_EQ(std::get<std::int64_t>(results[1].outcome.evidence.at("first_iteration")), 1);
}

TEST_F(DivergingReplicas, WithoutAMajorityTheJobNamesAll) {
  addRanks(2, {{1, 5}});
  const CheckResult result = judgeOne();
  EXPECT_EQ(result.outcome.verdict, Verdict::Fired);
  EXPECT_EQ(result.entity, "job");
  EXPECT_THAT(result.outcome.message, HasSubstr("rank 1 differs from rank 0 in fc2.weight"));
  EXPECT_THAT(std::get<std::vector<std::string>>(result.outcome.evidence.at("ranks")),
              ElementsAre("rank 0", "rank 1"));
}

TEST_F(DivergingReplicas, TheToleranceItselfIsHealthy) {
  ASSERT_TRUE(parameters_.set("tolerance", 0.2));
  addRanks(2, {{1, 5}});  // 1 of 5
  EXPECT_EQ(judgeOne().outcome.verdict, Verdict::Pass);
}

TEST_F(DivergingReplicas, BeyondTheToleranceFires) {
  ASSERT_TRUE(parameters_.set("tolerance", 0.1999));
  addRanks(2, {{1, 5}});
  EXPECT_EQ(judgeOne().outcome.verdict, Verdict::Fired);
}

TEST_F(DivergingReplicas, EachStatisticCounts) {
  using Change = void (*)(model::Tensor&);
  const std::vector<std::pair<const char*, Change>> changes = {
      {"mean", [](model::Tensor& t) { t.mean = 0.6; }},
      {"minimum", [](model::Tensor& t) { t.minimum = -1.5; }},
      {"maximum", [](model::Tensor& t) { t.maximum = 3; }},
      {"zeros", [](model::Tensor& t) { t.zeros = 1; }},
      {"NaN", [](model::Tensor& t) { t.nans = 1; }},
      {"infinite", [](model::Tensor& t) { t.infs = 1; }},
      {"l2", [](model::Tensor& t) { t.l2 = HUGE_VAL; }}};
  for (const auto& [name, change] : changes) {
    file_ = folder_ / fmt::format("{}.sonde", name);
    trace_.emplace(file_);
    host_ = {};
    trace_->add(tensorOf(addRank(0), "w", 0));
    auto other = tensorOf(addRank(1), "w", 0);
    change(other);
    trace_->add(other);
    const CheckResult result = judgeOne();
    EXPECT_EQ(result.outcome.verdict, Verdict::Fired) << name;
    EXPECT_THAT(result.outcome.message, HasSubstr(fmt::format("({})", name)));
  }
}

TEST_F(DivergingReplicas, TheNewestCommonIterationCounts) {
  addRanks(2, {{1, 5}});
  for (const std::int64_t rank : {1, 2})
    for (const char* name : {"fc1.weight", "fc2.weight"})
      trace_->add(tensorOf(model::ProcessId{rank}, name, 2));
  EXPECT_EQ(judgeOne().outcome.verdict, Verdict::Pass);
}

TEST_F(DivergingReplicas, RanksWithOtherTensorsAreNoReplicas) {
  trace_->add(tensorOf(addRank(0), "stage0.weight", 0));
  auto other = tensorOf(addRank(1), "stage1.weight", 0);
  other.l2 = 9;
  trace_->add(other);
  auto shape = tensorOf(addRank(2), "stage0.weight", 0);
  shape.shape = "[5, 2]";
  shape.l2 = 9;
  trace_->add(shape);
  const CheckResult result = judgeOne();
  EXPECT_EQ(result.outcome.verdict, Verdict::Skipped);
  EXPECT_THAT(result.outcome.message, HasSubstr("no two ranks have tensors of the same names"));
}

TEST_F(DivergingReplicas, ANanThatAllShareNeverPasses) {
  for (const std::int64_t rank : {0, 1}) {
    auto tensor = tensorOf(addRank(rank), "w", 0);
    tensor.nans = 3;
    trace_->add(tensor);
  }
  const CheckResult result = judgeOne();
  EXPECT_EQ(result.outcome.verdict, Verdict::Insufficient);
  EXPECT_THAT(result.outcome.message, HasSubstr("rank 0: w (weights) has 3 NaN"));
}

TEST_F(DivergingReplicas, NormsThatOverflowedAlikeNeverPass) {
  for (const std::int64_t rank : {0, 1}) {
    auto tensor = tensorOf(addRank(rank), "w", 0);
    tensor.l2 = HUGE_VAL;
    trace_->add(tensor);
  }
  EXPECT_EQ(judgeOne().outcome.verdict, Verdict::Insufficient);
}

TEST_F(DivergingReplicas, OneProcessIsSkipped) {
  trace_->add(tensorOf(addRank(0), "w", 0));
  EXPECT_EQ(judgeOne().outcome.verdict, Verdict::Skipped);
}

TEST_F(DivergingReplicas, IsInsufficientIfRanksRecordedNothingOrNotTogether) {
  const auto first = addRank(0);
  const auto second = addRank(1);
  trace_->add(tensorOf(first, "w", 0));
  trace_->add(tensorOf(second, "w", 1));
  const CheckResult result = judgeOne();
  EXPECT_EQ(result.outcome.verdict, Verdict::Insufficient);
  EXPECT_EQ(result.outcome.message, "2 replicas recorded their tensors in no common iteration");
}

TEST_F(DivergingReplicas, IsInsufficientIfOneRankAloneRecorded) {
  trace_->add(tensorOf(addRank(0), "w", 0));
  addRank(1);
  const CheckResult result = judgeOne();
  EXPECT_EQ(result.outcome.verdict, Verdict::Insufficient);
  EXPECT_THAT(result.outcome.message, HasSubstr("only rank 0 recorded such tensors"));
}

TEST_F(DivergingReplicas, IsInsufficientWithoutWeights) {
  addRank(0);
  addRank(1);
  const CheckResult result = judgeOne();
  EXPECT_EQ(result.outcome.verdict, Verdict::Insufficient);
  EXPECT_TRUE(result.outcome.inputMissing);
}

}  // namespace
}  // namespace sonde::rules
