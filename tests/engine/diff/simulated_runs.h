// Simulated iterations of runs, with noise, a slow drift, differences between runs, and
// disturbances. Determined by a seed. One thread.
#pragma once

#include "analysis/engine/diff/comparison.h"

#include <cmath>
#include <random>
#include <vector>

namespace sonde::engine::diff {

struct Simulated {
  int runs = 5;
  int iterations = 27;
  double ns = 1e7;             // of an iteration
  double betweenRuns = 0.005;  // standard deviation, as a share, like all of these
  double withinRun = 0.01;
  double persistence = 0.6;     // of noise, between consecutive iterations
  double disturbedShare = 0.1;  // of iterations, which then last up to twice as long
  double disturbedRuns = 0;     // share of runs, which then last 1.7 times as long
};

class Simulation {
 public:
  explicit Simulation(unsigned seed) : random_(seed) {}

  // `factor`: how much slower than other sides with these settings.
  Observations side(const Simulated& like, double factor = 1) {
    Observations runs;
    for (int i = 0; i < like.runs; ++i)
      runs.push_back(run(like, factor));
    return runs;
  }

 private:
  std::vector<double> run(const Simulated& like, double factor) {
    const double speed =
        std::exp(like.betweenRuns * normal_(random_)) * (chance(like.disturbedRuns) ? 1.7 : 1);
    const double fresh = std::sqrt(1 - like.persistence * like.persistence);
    std::vector<double> iterations;
    double noise = normal_(random_);
    for (int i = 0; i < like.iterations; ++i) {
      noise = like.persistence * noise + fresh * normal_(random_);
      const double disturbance = chance(like.disturbedShare) ? uniform_(random_) : 0;
      iterations.push_back(like.ns * factor * speed *
                           (std::exp(like.withinRun * noise) + disturbance));
    }
    return iterations;
  }
  bool chance(double share) { return uniform_(random_) < share; }

  std::mt19937 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
};

}  // namespace sonde::engine::diff
