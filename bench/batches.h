// Times calls in batches, so that a brief disturbance of the machine affects only a few of them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace sonde::bench {

using Clock = std::chrono::steady_clock;

// The time, in ns, that `body(number)` takes when it is called `calls` times in a row.
template <typename Body>
double nsEach(int calls, Body body) {
  const auto begin = Clock::now();
  for (int at = 0; at < calls; ++at)
    body(at);
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / calls;
}

// The time of two clock reads, the minimum for any record.
inline double nsOfTwoClockReads(int calls) {
  return nsEach(calls, [](int) {
    static_cast<void>(Clock::now());
    static_cast<void>(Clock::now());
  });
}

// The median over the batches, and the lower and upper tenth.
inline void print(const char* what, std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  };
  std::printf("%-16s %7.1f  (%.1f to %.1f)\n", what, at(0.5), at(0.1), at(0.9));
}

}  // namespace sonde::bench
