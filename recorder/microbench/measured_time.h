// Repeats work for a while, and says how long one repetition takes and how much that varies. Plain
// values; any thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sonde::recorder::microbench {

struct MeasuredTime {
  double ns = 0;     // the first quartile: a disturbance only makes a run longer
  double lowNs = 0;  // the first and the ninth of ten
  double highNs = 0;
  std::int64_t runs = 0;
};

// Requires: `times` is not empty.
inline MeasuredTime summaryOf(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const std::size_t last = times.size() - 1;
  return {times[last / 4],
          times[last / 10],
          times[last - last / 10],
          static_cast<std::int64_t>(times.size())};
}

// One run that does not count, then at least three.
template <typename Work>
MeasuredTime measure(std::chrono::nanoseconds budget, Work work) {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t kLeast = 3;
  constexpr std::size_t kMost = 20'000;
  work();
  std::vector<double> times;
  const Clock::time_point end = Clock::now() + budget;
  while (times.size() < kLeast || (times.size() < kMost && Clock::now() < end)) {
    const Clock::time_point begin = Clock::now();
    work();
    times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - begin).count());
  }
  return summaryOf(std::move(times));
}

}  // namespace sonde::recorder::microbench
