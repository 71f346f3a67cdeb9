// Pieces of work by their ids, in simulated jobs that know the answer.
#include "analysis/engine/whatif/works/job_works.h"

#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/workloads.h"

#include <gmock/gmock.h>

#include <functional>
#include <set>

namespace sonde::engine::whatif {
namespace {

using test::expectExact;

// A question that does this with the works.
Question with(const std::function<Result<void>(JobWorks&)>& act) {
  return [act](Asking& asking) {
    JobWorks works(asking);
    return act(works);
  };
}

// A question that does this with each work of a selector.
Question withEach(const std::string& selector,
                  const std::function<Result<void>(JobWorks&, const Work&)>& act) {
  return with([=](JobWorks& works) -> Result<void> {
    SONDE_TRY_ASSIGN(const std::vector<Work> found, works.select(selector));
    for (const Work& each : found)
      SONDE_TRY(act(works, each));
    return {};
  });
}

jobsim::Job loading(jobsim::Ns batchNs) {
  jobsim::Loader of;
  of.workers = 0;
  of.batchNs = batchNs;
  return jobsim::loaderJob(of);
}

TEST(JobWorks, AreDescribed) {
  const test::SimulatedJob job(jobsim::dataParallelJob({}));
  std::vector<Work> kernels;
  std::vector<Work> again;
  std::vector<Work> hosts;
  std::vector<Work> all;
  ask(job, {with([&](JobWorks& works) -> Result<void> {
        SONDE_TRY_ASSIGN(kernels, works.select("kind:kernel,rank:2"));
        SONDE_TRY_ASSIGN(again, works.select("kind:kernel"));
        SONDE_TRY_ASSIGN(hosts, works.select("kind:host,rank:1"));
        SONDE_TRY_ASSIGN(all, works.select("kind:collective"));
        return {};
      })});
  std::set<WorkNumber> ids;
  for (const Work& each : again)
    ids.insert(each.id);
  EXPECT_EQ(ids.size(), again.size());
  ASSERT_FALSE(kernels.empty());
  for (const Work& each : kernels) {
    EXPECT_TRUE(ids.contains(each.id));
    EXPECT_EQ(each.rank, 2);
    EXPECT_EQ(each.kind, WorkKind::Kernel);
    EXPECT_NE(each.name, "");
    EXPECT_THAT(each.lane, ::testing::StartsWith("stream"));
    EXPECT_EQ(each.nowNs, each.measuredNs);
    EXPECT_GE(each.iteration, 0);
  }
  ASSERT_FALSE(hosts.empty());
  EXPECT_EQ(hosts.front().kind, WorkKind::Host);
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.front().kind, WorkKind::Collective);
}

TEST(JobWorks, TakeAnotherTime) {
  expectExact(loading(3'000'000),
              loading(1'000'000),
              {withEach("kind:data_load", [](JobWorks& works, const Work& each) {
                return works.set(each.id, 1'000'000);
              })});
  expectExact(loading(3'000'000),
              loading(6'000'000),
              {withEach("kind:data_load", [](JobWorks& works, const Work& each) {
                return works.scale(each.id, 2);
              })});
}

TEST(JobWorks, AreRemovedAndComeBack) {
  expectExact(loading(3'000'000),
              loading(2'000'000),
              {withEach("kind:data_load", [](JobWorks& works, const Work& each) -> Result<void> {
                SONDE_TRY(works.remove(each.id));
                SONDE_TRY(works.insert(each.id, 500'000));
                return works.set(each.id, 2'000'000);
              })});
}

// A kernel behind another one delays what comes behind, on all ranks.
TEST(JobWorks, HaveNewWorkBehindThem) {
  jobsim::DataParallel now;
  jobsim::DataParallel then = now;
  then.backwardNs += 150'000;
  expectExact(jobsim::dataParallelJob(now),
              jobsim::dataParallelJob(then),
              {withEach("kind:kernel,name:*backward*", [](JobWorks& works, const Work& each) {
                return works.insert(each.id, 150'000);
              })});
}

TEST(JobWorks, VanishWithTheirCalls) {
  const jobsim::Job job = jobsim::dataParallelJob(jobsim::hostBound());
  const std::string selector = "kind:kernel,name:*forward*";
  const test::SimulatedJob simulated(job);
  const Answer each = ask(simulated, {withEach(selector, [](JobWorks& works, const Work& work) {
                            return works.remove(work.id);
                          })});
  const Answer all =
      ask(simulated, {with([&](JobWorks& works) { return works.removeSelected(selector); })});
  EXPECT_LT(each.predictedNs, each.baselineNs);
  EXPECT_NEAR(each.predictedNs, all.predictedNs, 1);
}

TEST(JobWorks, AreRefusedWithoutAnId) {
  const test::SimulatedJob job(loading(3'000'000));
  const auto refused = [&](const std::function<Result<void>(JobWorks&)>& act) {
    const auto found = answer(job.database(), job.trace(), {with(act)});
    return found ? "it was answered" : found.error().message;
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(refused([](JobWorks& works) { return works.scale(1, 2); }), HasSubstr("no work 1"));
  EXPECT_THAT(refused([](JobWorks& works) -> Result<void> {
                SONDE_TRY_ASSIGN(const std::vector<Work> found, works.select("kind:data_load"));
                return works.scale(found.size() + 1, 2);
              }),
              HasSubstr("no work"));
}

}  // namespace
}  // namespace sonde::engine::whatif
