// Parts of the programs of workloads. Within tests/jobsim.
#pragma once

#include "tests/jobsim/job.h"

#include <vector>

namespace sonde::jobsim {

inline constexpr Ns kAnnotationNs = 1'000;
inline constexpr Ns kSynchroniseNs = 2'000;    // a thread's return from a wait for its device
inline constexpr Ns kLaunchLatencyNs = 3'000;  // of jobs that use devices

inline Ns percentOf(Ns ns, bool isSlow, int percent) {
  return isSlow ? ns * percent / 100 : ns;
}

// `count` ranks: `first`, `first + stride`, …
std::vector<int> ranksFrom(int first, int count, int stride = 1);

Job machinesFor(int ranks, int ranksPerMachine, int streams);

void append(std::vector<Op>& program, const std::vector<Op>& ops);

// The later work of the stream `waits` waits for all work that is in the stream `by`.
void appendJoin(std::vector<Op>& program, int by, int waits, int event, Ns callNs);

}  // namespace sonde::jobsim
