// Plans for random small jobs are those of an exhaustive search, with and without each
// acceleration. SONDE_SLOW plans for 100 jobs in place of 3.
#include "analysis/engine/optimise/families.h"
#include "analysis/engine/optimise/plan.h"
#include "analysis/engine/optimise/search.h"
#include "tests/engine/whatif/random_asking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::optimise {
namespace {

using test::must;
using test::SimulatedJob;

const std::vector<std::string> kQuestions = {
    "no-host-syncs", "fusion", "mixed-precision", "bucket-size", "compression"};

class RandomPlans : public test::RandomAsking {
 public:
  jobsim::Job job() {
    jobsim::DataParallel of = dataParallel();
    of.activations = from(0, 3);
    of.readsLoss = coin();
    const auto build = coin() ? jobsim::dataParallelJob : jobsim::hostDataParallelJob;
    return varied(build(of), seed());
  }

  // Every combination of all settings that the trace allows.
  static double exhaustive(const whatif::AskedJob& job, std::int64_t& count) {
    std::vector<Family> families;
    for (const FamilyKind& kind : familyKinds())
      if (std::find(kQuestions.begin(), kQuestions.end(), kind.name) != kQuestions.end())
        if (auto family = (kind.makeWhole != nullptr ? kind.makeWhole : kind.make)(job))
          families.push_back(*std::move(family));
    double best = job.baselineNs();
    tryAll(job, families, {}, best, count);
    return best;
  }

 private:
  static void tryAll(const whatif::AskedJob& job,
                     const std::vector<Family>& families,
                     const std::vector<whatif::Question>& questions,
                     double& best,
                     std::int64_t& count,
                     std::size_t depth = 0) {
    if (depth == families.size()) {
      ++count;
      if (const auto ns = job.predictNs(questions))
        best = std::min(best, *ns);
      return;
    }
    tryAll(job, families, questions, best, count, depth + 1);
    for (const Change& change : families[depth].changes) {
      std::vector<whatif::Question> more = questions;
      more.push_back(change.ask);
      if (job.predictNs(more))
        tryAll(job, families, more, best, count, depth + 1);
    }
  }
};

struct Way {
  const char* name;
  Accelerations use;
  std::int64_t replays = 0;
  double seconds = 0;
};

TEST_F(RandomPlans, EqualAnExhaustiveSearch) {
  using Clock = std::chrono::steady_clock;
  const int rounds = std::getenv("SONDE_SLOW") != nullptr ? 100 : 3;
  Way ways[] = {{"all", {true, true}},
                {"without bounds", {false, true}},
                {"without the chain", {true, false}},
                {"without any", {false, false}}};
  std::int64_t combinations = 0;
  for (int round = 0; round < rounds; ++round) {
    const SimulatedJob simulated(job());
    const auto asked = must(whatif::AskedJob::read(simulated.database(), simulated.trace()));
    const double best = exhaustive(asked, combinations);
    for (Way& way : ways) {
      const auto begin = Clock::now();
      const Plan found =
          must(plan(asked, {.questions = kQuestions, .leastGain = 0, .use = way.use}));
      way.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
      way.replays += found.replays;
      EXPECT_TRUE(found.isComplete);
      EXPECT_LE(found.together.ns, best * (1 + 3 * kSameTime)) << way.name << ", job " << round;
      EXPECT_GE(found.together.ns, best * (1 - 1e-6)) << way.name << ", job " << round;
    }
  }
  std::printf("%d jobs: exhaustive search %lld combinations\n",
              rounds,
              static_cast<long long>(combinations));
  for (const Way& way : ways)
    std::printf(
        "%s: %lld replays, %.2f s\n", way.name, static_cast<long long>(way.replays), way.seconds);
}

}  // namespace
}  // namespace sonde::engine::optimise
