// Which calls belong to an iteration, and which to an evaluation.
#include "rules/facts/call_facts.h"

#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>

#include <memory>

namespace sonde::rules {
namespace {

using model::SliceKind;
using sonde::test::must;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// A process with iterations 0 and 1, from 100 to 200 and from 300 to 400.
class CallsOfIterations : public ::testing::Test {
 protected:
  CallsOfIterations() {
    const auto host = trace_->add(model::Host{.name = "a"});
    process_ = trace_->add(model::Process{.hostId = host, .pid = 1, .startNs = 0, .endNs = 1000});
    thread_ = trace_->add(model::Thread{.processId = process_, .tid = 1});
    for (int number = 0; number < 2; ++number) {
      const std::int64_t begin = 100 + 200 * number;
      steps_[number] =
          trace_->slice(thread_, SliceKind::Iteration, "iteration", {begin, begin + 100});
      trace_->add(model::Iteration{.processId = process_,
                                   .number = number,
                                   .startNs = begin,
                                   .durNs = 100,
                                   .sliceId = steps_[number]});
    }
  }

  model::SliceId call(SliceKind kind,
                      const std::string& name,
                      std::int64_t ns,
                      model::SliceId parent = {}) {
    return trace_->slice(thread_, kind, name, {ns, ns + 10}, parent);
  }
  ProcessCalls read() {
    trace_->finish();
    const store::Database database = must(store::openTrace(path_));
    CallFacts facts = must(CallFacts::read(database));
    EXPECT_EQ(facts.processes.size(), 1U);
    return facts.processes.begin()->second;
  }

  sonde::test::TemporaryFolder folder_;
  std::string path_ = folder_ / "calls.sonde";
  std::unique_ptr<sonde::test::TraceBuilder> trace_ =
      std::make_unique<sonde::test::TraceBuilder>(path_);
  model::ProcessId process_;
  model::ThreadId thread_;
  model::SliceId steps_[2];
};

TEST_F(CallsOfIterations, AreCountedByKindAndOrderedByStart) {
  call(SliceKind::Backward, "backward", 150, steps_[0]);
  const auto forward = call(SliceKind::Forward, "forward", 110, steps_[0]);
  call(SliceKind::Operator, "aten::mm", 112, forward);
  call(SliceKind::Operator, "aten::mm", 115, forward);
  call(SliceKind::Operator, "aten::add", 170, steps_[0]);
  call(SliceKind::Io, "read", 180, steps_[0]);
  const ProcessCalls calls = read();
  ASSERT_EQ(calls.stretches.size(), 2U);
  EXPECT_THAT(calls.stretches[0].scopes,
              ElementsAre(Pair("backward backward", 1), Pair("forward forward", 1)));
  EXPECT_THAT(calls.stretches[0].operators, ElementsAre(Pair("aten::add", 1), Pair("aten::mm", 2)));
  EXPECT_THAT(calls.stretches[0].order,
              ElementsAre("forward forward", "backward backward", "aten::add"));
  EXPECT_THAT(calls.stretches[1].operators, IsEmpty());
  EXPECT_TRUE(calls.hasOperators);
  EXPECT_FALSE(calls.hasArguments);
  EXPECT_FALSE(calls.hasCollectives);
}

TEST_F(CallsOfIterations, BetweenTwoIterationsBelongToTheNextAndBeforeTheFirstToNone) {
  call(SliceKind::Operator, "aten::early", 50);
  call(SliceKind::Operator, "aten::zero_", 250);
  call(SliceKind::Operator, "aten::late", 450);
  const ProcessCalls calls = read();
  EXPECT_THAT(calls.stretches[0].operators, IsEmpty());
  EXPECT_THAT(calls.stretches[1].operators, ElementsAre(Pair("aten::zero_", 1)));
  EXPECT_THAT(calls.stretches[1].order, ElementsAre("aten::zero_"));
}

TEST_F(CallsOfIterations, OfAnEvaluationAreApartUnlessItIsWithinAnIteration) {
  const auto inside = call(SliceKind::Evaluation, "evaluation", 150, steps_[0]);
  call(SliceKind::Module, "net", 151, inside);
  const auto between = call(SliceKind::Evaluation, "evaluation", 220);
  call(SliceKind::Module, "net", 221, between);
  const ProcessCalls calls = read();
  ASSERT_EQ(calls.stretches.size(), 3U);
  EXPECT_EQ(calls.stretches[0].scopes.at("module net"), 1);
  EXPECT_THAT(calls.stretches[1].scopes, IsEmpty());
  EXPECT_TRUE(calls.stretches[2].isEvaluation);
  EXPECT_EQ(calls.stretches[2].iteration, 0);
  EXPECT_EQ(calls.stretches[2].scopes.at("module net"), 1);
  EXPECT_THAT(calls.stretches[2].order, ElementsAre("module net"));
}

TEST_F(CallsOfIterations, HaveArgumentsIfTheyWereRecorded) {
  const auto operation = call(SliceKind::Operator, "aten::mm", 120, steps_[0]);
  for (const auto& [key, value] : {std::pair("shapes", "[[8, 4]]"), std::pair("dtypes", "[float]")})
    trace_->add(
        model::Arg{model::Owner::Slice, operation.value, trace_->name(key), std::string(value)});
  call(SliceKind::Operator, "aten::mm", 140, steps_[0]);
  const ProcessCalls calls = read();
  EXPECT_THAT(calls.stretches[0].arguments, ElementsAre(Pair("aten::mm [[8, 4]] [float]", 1)));
  EXPECT_TRUE(calls.hasArguments);
}

TEST_F(CallsOfIterations, HaveCollectivesBySizeAndType) {
  for (int i = 0; i < 2; ++i)
    trace_->add(model::Collective{.processId = process_,
                                  .op = model::CollectiveOp::Allreduce,
                                  .dtype = model::DataType::Float32,
                                  .bytes = 64,
                                  .startNs = 130 + i,
                                  .durNs = 5});
  const ProcessCalls calls = read();
  EXPECT_THAT(calls.stretches[0].collectives,
              ElementsAre(Pair("allreduce of 64 bytes, float32", 2)));
  EXPECT_TRUE(calls.hasCollectives);
}

}  // namespace
}  // namespace sonde::rules
