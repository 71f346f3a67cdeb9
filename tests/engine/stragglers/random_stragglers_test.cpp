// Simulated jobs whose times vary at random, each with one cause of slowness or none. SONDE_SLOW
// makes 50 of each kind in place of 4.
#include "analysis/engine/stragglers/trace_work.h"
#include "tests/engine/replay/simulated_job.h"
#include "tests/jobsim/faults.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace sonde::engine::stragglers {
namespace {

using critical::PathCause;
using jobsim::Fault;
using jobsim::Job;

class RandomStragglers : public ::testing::Test {
 protected:
  static int rounds() { return std::getenv("SONDE_SLOW") != nullptr ? 50 : 4; }

  std::vector<Straggler> find(const Job& job) {
    const test::SimulatedJob simulated(job);
    return findStragglers(test::must(workOf(simulated.database(), simulated.trace())));
  }

  static bool isRight(const Straggler& found, Fault fault) {
    switch (fault) {
      case Fault::Device:
        return found.cause == PathCause::Device;
      case Fault::Operators:
        return found.operation.starts_with("aten::");
      case Fault::Launches:
        return found.operation == "cudaLaunchKernel";
      case Fault::Pauses:
        return found.operation == "gc";
      case Fault::Loading:
        return found.operation == "load";
      default:
        return found.operation == "forward" || found.operation == "backward";
    }
  }

  jobsim::FaultMaker faults_{17};
};

TEST_F(RandomStragglers, AreNamedWithTheirCause) {
  int right = 0;
  int jobs = 0;
  for (const Fault fault : {Fault::Device,
                            Fault::Operators,
                            Fault::Launches,
                            Fault::Pauses,
                            Fault::Loading,
                            Fault::Stage})
    for (int round = 0; round < rounds(); ++round) {
      const int rank = faults_.upTo(jobsim::kFaultRanks - 1);
      const std::vector<Straggler> found = find(faults_.make(fault, rank));
      const bool isGood =
          !found.empty() && found.front().rank == rank && isRight(found.front(), fault);
      right += isGood ? 1 : 0;
      ++jobs;
      if (!isGood)
        std::printf("kind %d rank %d: found rank %d %s\n",
                    static_cast<int>(fault),
                    rank,
                    found.empty() ? -1 : static_cast<int>(found.front().rank),
                    found.empty() ? "nothing" : found.front().operation.c_str());
    }
  EXPECT_GE(right, jobs * 97 / 100) << right << " of " << jobs;
}

TEST_F(RandomStragglers, AHealthyJobHasNone) {
  int named = 0;
  for (int job = 0; job < rounds() * 6; ++job)
    named += find(faults_.make(Fault::None)).empty() ? 0 : 1;
  EXPECT_LE(named, rounds() * 6 / 200);
}

}  // namespace
}  // namespace sonde::engine::stragglers
