// Simulated jobs whose times vary at random, each with one cause of slowness or none. SONDE_SLOW
// makes 50 of each kind in place of 4.
#include "analysis/engine/stragglers/trace_work.h"
#include "tests/engine/replay/simulated_job.h"
#include "tests/jobsim/workloads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sonde::engine::stragglers {
namespace {

using critical::PathCause;
using jobsim::Job;
using jobsim::Op;

constexpr int kRanks = 4;

enum class Slow { Nothing, Device, Operators, Launches, Pauses, Loading, Stage };

class RandomStragglers : public ::testing::Test {
 protected:
  static int rounds() { return std::getenv("SONDE_SLOW") != nullptr ? 50 : 4; }

  int upTo(int most) { return std::uniform_int_distribution<int>(0, most)(random_); }

  // Each time by up to 5 % shorter or longer.
  jobsim::Ns varied(jobsim::Ns ns) { return ns * (950 + upTo(100)) / 1000; }

  void vary(Op& op) {
    if (auto* compute = std::get_if<jobsim::Compute>(&op))
      compute->ns = varied(compute->ns);
    if (auto* launch = std::get_if<jobsim::Launch>(&op)) {
      launch->ns = varied(launch->ns);
      launch->callNs = varied(launch->callNs);
    }
  }

  Job base(Slow slow) {
    if (slow == Slow::Stage)
      return jobsim::pipelineJob({.stages = kRanks, .microbatches = 6, .iterations = 8});
    const jobsim::DataParallel job{.ranks = kRanks, .iterations = 8, .layers = 4, .buckets = 2};
    return slow == Slow::Device || slow == Slow::Launches || (slow == Slow::Nothing && upTo(1) == 0)
               ? jobsim::dataParallelJob(job)
               : jobsim::hostDataParallelJob(job);
  }

  static void slowDown(Op& op, Slow slow, int percent) {
    if (auto* compute = std::get_if<jobsim::Compute>(&op);
        compute != nullptr && (slow == Slow::Operators || slow == Slow::Stage))
      compute->ns = compute->ns * percent / 100;
    if (auto* launch = std::get_if<jobsim::Launch>(&op)) {
      if (slow == Slow::Device)
        launch->ns = launch->ns * percent / 100;
      if (slow == Slow::Launches)
        launch->callNs = launch->ns * percent / 100;
    }
  }

  // A pause, or work of its own, at the begin of each iteration of the rank's first thread.
  static void insert(jobsim::Thread& thread, const char* name, jobsim::Ns ns) {
    std::vector<Op> program;
    for (const Op& op : thread.program) {
      program.push_back(op);
      const auto* begin = std::get_if<jobsim::Begin>(&op);
      if (begin != nullptr && begin->scope == jobsim::Scope::Iteration)
        program.emplace_back(jobsim::Compute{name, ns});
    }
    thread.program = std::move(program);
  }

  Job make(Slow slow, int rank) {
    Job job = base(slow);
    for (jobsim::Thread& thread : job.threads) {
      if (slow == Slow::Loading)
        insert(thread, "load", 500'000);
      for (Op& op : thread.program) {
        vary(op);
        if (thread.rank == rank)
          slowDown(op, slow, 140 + upTo(60));
      }
      if (thread.rank == rank && thread.name == "python3" && slow == Slow::Pauses)
        insert(thread, "gc", 800'000);
      if (thread.rank == rank && thread.name == "python3" && slow == Slow::Loading)
        for (Op& op : thread.program)
          if (auto* compute = std::get_if<jobsim::Compute>(&op);
              compute != nullptr && compute->name == "load")
            compute->ns *= 4;
    }
    return job;
  }

  std::vector<Straggler> find(const Job& job) {
    const test::SimulatedJob simulated(job);
    return findStragglers(test::must(workOf(simulated.database(), simulated.trace())));
  }

  static bool isRight(const Straggler& found, Slow slow) {
    switch (slow) {
      case Slow::Device:
        return found.cause == PathCause::Device;
      case Slow::Operators:
        return found.operation.starts_with("aten::");
      case Slow::Launches:
        return found.operation == "cudaLaunchKernel";
      case Slow::Pauses:
        return found.operation == "gc";
      case Slow::Loading:
        return found.operation == "load";
      default:
        return found.operation == "forward" || found.operation == "backward";
    }
  }

  std::mt19937 random_{17};
};

TEST_F(RandomStragglers, AreNamedWithTheirCause) {
  int right = 0;
  int jobs = 0;
  for (const Slow slow :
       {Slow::Device, Slow::Operators, Slow::Launches, Slow::Pauses, Slow::Loading, Slow::Stage})
    for (int round = 0; round < rounds(); ++round) {
      const int rank = upTo(kRanks - 1);
      const std::vector<Straggler> found = find(make(slow, rank));
      const bool isGood =
          !found.empty() && found.front().rank == rank && isRight(found.front(), slow);
      right += isGood ? 1 : 0;
      ++jobs;
      if (!isGood)
        std::printf("kind %d rank %d: found rank %d %s\n",
                    static_cast<int>(slow),
                    rank,
                    found.empty() ? -1 : static_cast<int>(found.front().rank),
                    found.empty() ? "nothing" : found.front().operation.c_str());
    }
  EXPECT_GE(right, jobs * 97 / 100) << right << " of " << jobs;
}

TEST_F(RandomStragglers, AHealthyJobHasNone) {
  int named = 0;
  for (int job = 0; job < rounds() * 6; ++job)
    named += find(make(Slow::Nothing, 0)).empty() ? 0 : 1;
  EXPECT_LE(named, rounds() * 6 / 200);
}

}  // namespace
}  // namespace sonde::engine::stragglers
