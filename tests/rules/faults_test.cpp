// Faults of timing in simulated jobs, and healthy ones: who is named, and how often it is wrong.
// SONDE_SLOW makes 300 of each in place of 33; docs/accuracy.md has the figures.
#include "tests/jobsim/faults.h"

#include "analysis/engine/merge/merge.h"
#include "analysis/store/trace_file.h"
#include "rules/configuration/configuration.h"
#include "rules/engine/check.h"
#include "tests/jobsim/workloads.h"
#include "tests/jobsim/write_trace.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
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
};

class Faults : public ::testing::Test {
 protected:
  static int rounds() { return std::getenv("SONDE_SLOW") != nullptr ? 28 : 3; }

  CheckReport judge(const jobsim::Job& job, const Configuration& configuration) {
    const sonde::test::TemporaryFolder folder;
    const jobsim::History history = jobsim::simulate(job);
    engine::merge::MergeOptions merged;
    merged.output = folder / "job.sonde";
    for (int rank = 0; rank < static_cast<int>(job.ranks.size()); ++rank) {
      merged.inputs.emplace_back(folder / ("rank" + std::to_string(rank) + ".sonde"));
      jobsim::writeTrace(job, history, merged.inputs.back(), rank);
    }
    must(engine::merge::merge(merged));
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
