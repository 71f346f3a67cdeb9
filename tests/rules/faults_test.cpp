// Faults of timing in simulated jobs, and healthy ones: who is named, and how often it is wrong.
// SONDE_SLOW makes 28 of each in place of 3; docs/rules.md has the figures.
#include "tests/jobsim/faults.h"

#include "analysis/engine/merge/merge.h"
#include "analysis/store/trace_file.h"
#include "rules/configuration/configuration.h"
#include "rules/engine/check.h"
#include "tests/jobsim/cut_trace.h"
#include "tests/jobsim/workloads.h"
#include "tests/jobsim/write_trace.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace sonde::rules {
namespace {

using jobsim::Fault;
using sonde::test::must;

struct Kind {
  Fault fault;
  const char* name;
  const char* rule;
  bool isOfRank;                    // a rank has it: it must come first
  std::vector<std::string> causes;  // one of them is in the message
};
const std::vector<Kind> kKinds = {
    {Fault::Device, "slow device", "straggler", true, {"(device)"}},
    {Fault::Operators, "slow processor", "straggler", true, {"aten::"}},
    {Fault::Launches, "slow launches", "straggler", true, {"cudaLaunchKernel"}},
    {Fault::Pauses, "pauses", "straggler", true, {"gc"}},
    {Fault::Loading, "slow loading", "straggler", true, {"load"}},
    {Fault::Device, "late by its device", "late-rank", true, {"of an iteration"}},
    {Fault::Pauses, "late by pauses", "late-rank", true, {"of an iteration"}},
    {Fault::Stage, "slow stage", "straggler", true, {"forward", "backward"}},
    {Fault::SlowDown, "slower iterations", "iteration-time-change", false, {"longer"}},
    {Fault::Leak, "leak on a device", "gpu-memory-increase", false, {"grew"}},
    {Fault::NotOverlapped, "no overlap", "overlap-not-used", false, {"0 %"}},
    {Fault::SmallBuckets, "small buckets", "small-messages", false, {"16.0 collectives"}},
    {Fault::HostBound, "short kernels", "launch-bound", false, {"take less time"}},
    {Fault::RoundTrip, "round trips", "redundant-copies", false, {"copy back of the same size"}},
    {Fault::Twins, "twin jobs", "fusable-jobs", false, {"3 independent jobs"}},
};

class Faults : public ::testing::Test {
 protected:
  static int rounds() { return std::getenv("SONDE_SLOW") != nullptr ? 28 : 3; }

  CheckReport judge(const jobsim::Job& job, const Configuration& configuration) {
    return judge(job, jobsim::simulate(job), configuration);
  }

  // `cutNs`: where the recording ends, in the job's time; unset: with the job.
  CheckReport judge(const jobsim::Job& job,
                    const jobsim::History& history,
                    const Configuration& configuration,
                    std::optional<jobsim::Ns> cutNs = {}) {
    const sonde::test::TemporaryFolder folder;
    engine::merge::MergeOptions merged;
    merged.output = folder / "job.sonde";
    for (int rank = 0; rank < static_cast<int>(job.ranks.size()); ++rank) {
      merged.inputs.emplace_back(folder / ("rank" + std::to_string(rank) + ".sonde"));
      jobsim::writeTrace(job, history, merged.inputs.back(), rank);
    }
    must(engine::merge::merge(merged));
    if (cutNs)
      jobsim::cutTrace(merged.output, jobsim::kTraceStartNs + *cutNs);
    const store::Database trace = must(store::openTrace(merged.output));
    return must(check(trace, configuration));
  }

  static Configuration only(const std::string& rule) {
    const RuleInfo& info = *findRule(rule);
    ConfiguredRule configured{&info, Severity::Error, Parameters(info.parameters)};
    if (rule == "launch-bound") {
      EXPECT_TRUE(configured.parameters.set("min_samples", std::int64_t{20}));
    }
    return {{configured}, {}, {}};
  }

  static const CheckResult* firstFired(const CheckReport& report) {
    const auto found =
        std::find_if(report.results.begin(), report.results.end(), [](const CheckResult& each) {
          return each.outcome.verdict == Verdict::Fired;
        });
    return found == report.results.end() ? nullptr : &*found;
  }

  static bool isRight(const CheckResult& found, const Kind& kind, int rank) {
    const bool rightRank = !kind.isOfRank || found.entity == "rank " + std::to_string(rank);
    return rightRank &&
           std::any_of(kind.causes.begin(), kind.causes.end(), [&](const std::string& cause) {
             return found.outcome.message.find(cause) != std::string::npos;
           });
  }

  jobsim::FaultMaker faults_{23};
};

TEST_F(Faults, AreDetectedWithRankAndCause) {
  int jobs = 0;
  int detected = 0;
  int right = 0;
  for (const Kind& kind : kKinds) {
    int detectedHere = 0;
    int rightHere = 0;
    for (int round = 0; round < rounds(); ++round) {
      const int rank = faults_.upTo(jobsim::kFaultRanks - 1);
      const CheckReport report = judge(faults_.make(kind.fault, rank), only(kind.rule));
      const CheckResult* const found = firstFired(report);
      detectedHere += found != nullptr ? 1 : 0;
      rightHere += found != nullptr && isRight(*found, kind, rank) ? 1 : 0;
      if (found == nullptr || !isRight(*found, kind, rank))
        std::printf("%s of rank %d: %s: %s\n",
                    kind.name,
                    rank,
                    report.results.front().entity.c_str(),
                    report.results.front().outcome.message.c_str());
    }
    std::printf("%-18s %-22s detected %3d of %3d, rank and cause right %3d\n",
                kind.name,
                kind.rule,
                detectedHere,
                rounds(),
                rightHere);
    jobs += rounds();
    detected += detectedHere;
    right += rightHere;
  }
  std::printf("all: detected %d, right %d of %d\n", detected, right, jobs);
  EXPECT_GE(detected * 100, jobs * 99);
  EXPECT_GE(right * 100, jobs * 97);
}

// A rank rests in the last iteration; the recording ends a while later, before its end.
TEST_F(Faults, AStuckRankIsForeseen) {
  const Configuration foreseen = only("straggler-foreseen");
  int right = 0;
  for (int round = 0; round < rounds(); ++round) {
    const int rank = faults_.upTo(jobsim::kFaultRanks - 1);
    const jobsim::Job job = faults_.make(Fault::Stuck, rank);
    const jobsim::History history = jobsim::simulate(job);
    const auto stuck =
        std::find_if(history.steps.begin(), history.steps.end(), [](const jobsim::Step& step) {
          const auto* sleep = std::get_if<jobsim::Sleep>(step.op);
          return sleep != nullptr && sleep->name == "stuck";
        });
    const jobsim::Ns cut = stuck->begin + 2'000'000 + 1'000 * faults_.upTo(5'000);
    const CheckReport report = judge(job, history, foreseen, cut);
    const CheckResult& first = report.results.front();
    right += report.results.size() == 1 && first.outcome.verdict == Verdict::Fired &&
                     first.entity == "rank " + std::to_string(rank)
                 ? 1
                 : 0;
    if (first.outcome.verdict != Verdict::Fired)
      std::printf("stuck rank %d: %s\n", rank, first.outcome.message.c_str());
  }
  std::printf("stuck ranks: foreseen %d of %d\n", right, rounds());
  EXPECT_GE(right * 100, rounds() * 97);
}

// Healthy jobs whose recording ends anywhere in the last half.
TEST_F(Faults, NoStragglerIsForeseenInHealthyJobs) {
  const Configuration foreseen = only("straggler-foreseen");
  int alarms = 0;
  int judged = 0;
  for (int round = 0; round < rounds() * 4; ++round) {
    const jobsim::Job job = faults_.make(Fault::None);
    const jobsim::History history = jobsim::simulate(job);
    const jobsim::Ns cut = history.endNs / 2 + history.endNs / 2 * faults_.upTo(990) / 1000;
    const CheckReport report = judge(job, history, foreseen, cut);
    const CheckResult* const found = firstFired(report);
    alarms += found != nullptr ? 1 : 0;
    judged += report.results.front().outcome.verdict == Verdict::Pass ? 1 : 0;
    if (found != nullptr)
      std::printf("%s: %s\n", found->entity.c_str(), found->outcome.message.c_str());
  }
  std::printf("cut healthy jobs: %d alarms, %d judged, of %d\n", alarms, judged, rounds() * 4);
  EXPECT_LE(alarms * 200, rounds() * 4);
  EXPECT_GT(judged * 2, rounds() * 4);
}

// The same copies, or jobs, without the fault.
TEST_F(Faults, HealthyTwinsOfNewRulesRaiseNoAlarm) {
  Configuration rules = only("redundant-copies");
  for (const char* each : {"fusable-jobs", "impossible-kernels", "straggler-foreseen"})
    rules.rules.push_back(only(each).rules.front());
  int alarms = 0;
  for (int round = 0; round < rounds() * 2; ++round) {
    const CheckReport report = judge(faults_.make(Fault::None), rules);
    const CheckResult* const found = firstFired(report);
    alarms += found != nullptr ? 1 : 0;
    if (found != nullptr)
      std::printf("%s: %s\n", found->rule.c_str(), found->outcome.message.c_str());
  }
  EXPECT_EQ(alarms, 0);
}

// Six kinds of healthy jobs, with times that vary by 5 %.
TEST_F(Faults, HealthyJobsRaiseNoAlarm) {
  const Configuration ci = must(defaultConfiguration("ci"));
  Configuration slow = only("straggler");
  slow.rules.push_back(only("iteration-time-change").rules.front());
  slow.rules.push_back(only("late-rank").rules.front());
  int alarms = 0;
  int slowAlarms = 0;
  int jobs = 0;
  for (int round = 0; round < rounds() * 2; ++round)
    for (int kind = 0; kind < 6; ++kind) {
      jobsim::Job job = kind < 2    ? faults_.make(Fault::None)
                        : kind == 2 ? jobsim::pipelineJob({.stages = 4, .iterations = 8})
                        : kind == 3 ? jobsim::tensorParallelJob({.iterations = 8})
                        : kind == 4 ? jobsim::loaderJob({.iterations = 20})
                                    : jobsim::embeddingJob({.iterations = 8});
      if (kind >= 2)
        faults_.varyAll(job);
      const CheckReport report = judge(job, ci);
      const CheckResult* const found = firstFired(report);
      alarms += found != nullptr ? 1 : 0;
      if (found != nullptr)
        std::printf("kind %d: %s: %s\n", kind, found->rule.c_str(), found->outcome.message.c_str());
      const CheckReport timing = judge(job, slow);
      slowAlarms += firstFired(timing) != nullptr ? 1 : 0;
      ++jobs;
    }
  std::printf(
      "%d healthy jobs: %d alarms of profile ci, %d of straggler, late-rank and "
      "iteration-time-change\n",
      jobs,
      alarms,
      slowAlarms);
  EXPECT_LE(alarms * 200, jobs);
  EXPECT_LE(slowAlarms * 200, jobs);
}

}  // namespace
}  // namespace sonde::rules
