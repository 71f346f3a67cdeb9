// Asks questions of simulated jobs, whose simulation knows the answer. Ends the program on errors.
#pragma once

#include "analysis/engine/whatif/answer.h"
#include "analysis/engine/whatif/selector.h"
#include "tests/engine/replay/simulated_job.h"
#include "tests/jobsim/workloads.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace sonde::test {

inline engine::whatif::Selector selector(const std::string& text) {
  return must(engine::whatif::parseSelector(text));
}

inline engine::whatif::Answer ask(const SimulatedJob& job,
                                  const std::vector<engine::whatif::Question>& questions) {
  return must(engine::whatif::answer(job.database(), job.trace(), questions));
}

// Why the question has no answer.
inline ErrorCode refusal(const jobsim::Job& of, const engine::whatif::Question& question) {
  const SimulatedJob job(of);
  const auto found = engine::whatif::answer(job.database(), job.trace(), {question});
  EXPECT_FALSE(found);
  return found ? ErrorCode::Io : found.error().code;
}

// Reductions of two sizes, so that the trace tells latency from bandwidth.
inline jobsim::DataParallel reducingJob() {
  jobsim::DataParallel of;
  of.iterations = 8;
  of.lossBytes = 1'000;
  of.link = {.latencyNs = 20'000, .bytesPerUs = 6'000};
  return of;
}

inline double meanNs(const SimulatedJob& job) {
  const std::vector<double> all = job.measured();
  return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
}

// The predicted mean iteration of `now` is that of `then` to the nanosecond.
inline void expectExact(const jobsim::Job& now,
                        const jobsim::Job& then,
                        const std::vector<engine::whatif::Question>& questions) {
  const engine::whatif::Answer answer = ask(SimulatedJob(now), questions);
  const double truth = meanNs(SimulatedJob(then));
  EXPECT_NE(std::llround(answer.baselineNs), std::llround(truth));  // or the question is idle
  EXPECT_NEAR(answer.predictedNs, truth, 1);
  EXPECT_LE(answer.lowNs, truth);
  EXPECT_GE(answer.highNs, truth);
}

// The predicted mean iteration of `now` is that of `then` within 1 %, and its interval holds it.
inline void expectNear(const jobsim::Job& now,
                       const jobsim::Job& then,
                       const std::vector<engine::whatif::Question>& questions) {
  const engine::whatif::Answer answer = ask(SimulatedJob(now), questions);
  const double truth = meanNs(SimulatedJob(then));
  EXPECT_GT(std::abs(answer.baselineNs / truth - 1), 0.01);  // or the question is idle
  EXPECT_NEAR(answer.predictedNs / truth, 1, 0.01);
  EXPECT_LE(answer.lowNs, truth);
  EXPECT_GE(answer.highNs, truth);
}

}  // namespace sonde::test
