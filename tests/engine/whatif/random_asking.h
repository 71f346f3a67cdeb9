// Asks questions of simulated jobs with random settings, and compares the answers with simulations.
// SONDE_SLOW asks 34 of each kind in place of 3.
#pragma once

#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/workloads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sonde::test {

struct Asked {
  jobsim::Job now;
  jobsim::Job then;
  std::vector<engine::whatif::Question> questions;
};

class RandomAsking : public ::testing::Test {
 public:
  int from(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
  bool coin() { return from(0, 1) == 1; }
  std::uint32_t seed() { return static_cast<std::uint32_t>(from(0, 1 << 30)); }

  // With settings of any size that jobs have.
  jobsim::DataParallel dataParallel() {
    jobsim::DataParallel job;
    job.ranks = from(2, 6);
    job.iterations = 8;
    job.buckets = 1 << from(1, 3);
    job.forwardNs = from(50, 400) * 1000;
    job.backwardNs = from(100, 800) * 1000;
    job.bucketBytes = from(1, 24) * 500'000 / job.buckets * 2;
    job.lossBytes = 1000;
    job.link = {.latencyNs = from(2, 100) * 1000, .bytesPerUs = from(3, 50) * 1000};
    return job;
  }

  // Each time by up to 5 % shorter or longer; the same in jobs with the same work.
  static jobsim::Job varied(jobsim::Job job, std::uint32_t seed) {
    for (jobsim::Thread& thread : job.threads) {
      std::mt19937 random(seed + static_cast<std::uint32_t>(thread.rank));
      for (jobsim::Op& op : thread.program)
        vary(op, random);
    }
    return job;
  }
  // The same in jobs whose ranks do the same work in another order.
  static jobsim::Job variedByWork(jobsim::Job job, std::uint32_t seed) {
    for (jobsim::Thread& thread : job.threads) {
      std::map<std::string, std::uint32_t> counts;
      for (jobsim::Op& op : thread.program)
        if (const auto* compute = std::get_if<jobsim::Compute>(&op)) {
          std::seed_seq of{seed,
                           static_cast<std::uint32_t>(thread.rank),
                           static_cast<std::uint32_t>(compute->name.front()),
                           counts[compute->name]++};
          std::mt19937 random(of);
          vary(op, random);
        }
    }
    return job;
  }

  template <typename Fixture>
  using Kinds = std::vector<std::pair<const char*, Asked (Fixture::*)()>>;

  // The mean error is below 1 %, the worst below 4 %, and nine in ten truths lie in the interval.
  template <typename Fixture>
  static void expectTruths(Fixture& fixture, const Kinds<Fixture>& kinds) {
    const int rounds = std::getenv("SONDE_SLOW") != nullptr ? 34 : 3;
    Errors all;
    for (const auto& [name, kind] : kinds) {
      Errors ofKind;
      for (int round = 0; round < rounds; ++round)
        ofKind.add(name, (fixture.*kind)());
      std::printf("%s: mean error %.3f %%, worst %.3f %%, %d of %d inside of the interval\n",
                  name,
                  100 * ofKind.sum / ofKind.count,
                  100 * ofKind.worst,
                  ofKind.inside,
                  ofKind.count);
      all.add(ofKind);
    }
    EXPECT_LE(all.sum / all.count, 0.01);
    EXPECT_LE(all.worst, 0.04);
    EXPECT_GE(static_cast<double>(all.inside) / all.count, 0.9);
  }

  std::mt19937 random_{42};

 private:
  struct Errors {
    double sum = 0;
    double worst = 0;
    int inside = 0;
    int count = 0;

    void add(const char* name, const Asked& asked) {
      const engine::whatif::Answer answer = ask(SimulatedJob(asked.now), asked.questions);
      const double truth = meanNs(SimulatedJob(asked.then));
      const double error = std::abs(answer.predictedNs / truth - 1);
      if (error > 0.02)
        std::printf("%s %d: %s, now %.0f, predicted %.0f, truth %.0f\n",
                    name,
                    count,
                    asked.now.ranks.front().streams > 0 ? "on devices" : "on processors",
                    answer.baselineNs,
                    answer.predictedNs,
                    truth);
      add({error, error, answer.lowNs <= truth && truth <= answer.highNs ? 1 : 0, 1});
    }
    void add(const Errors& other) {
      sum += other.sum;
      worst = std::max(worst, other.worst);
      inside += other.inside;
      count += other.count;
    }
  };

  static void vary(jobsim::Op& op, std::mt19937& random) {
    const auto change = [&](jobsim::Ns& ns) {
      ns = ns * std::uniform_int_distribution<int>(950, 1050)(random) / 1000;
    };
    if (auto* compute = std::get_if<jobsim::Compute>(&op))
      change(compute->ns);
    if (auto* launch = std::get_if<jobsim::Launch>(&op))
      change(launch->ns);
  }
};

}  // namespace sonde::test
