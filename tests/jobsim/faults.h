// Jobs whose times vary at random, each with one fault or none, for tests of who finds it. Plain
// values.
#pragma once

#include "tests/jobsim/job.h"

#include <cstdint>
#include <random>

namespace sonde::jobsim {

enum class Fault : std::uint8_t {
  None,
  // Faults of one rank, in all its iterations unless stated otherwise:
  Device,     // its kernels take longer
  Operators,  // its processor takes longer
  Launches,   // its launches take longer
  Pauses,     // it pauses, as for garbage collection
  Stuck,      // it pauses for long in its last iteration
  Loading,    // it loads data for longer than the others
  Stage,      // its stage of a pipeline takes longer
  // Faults of the job:
  SlowDown,       // from the middle on, everything takes longer
  Leak,           // each rank keeps a block of each iteration
  NotOverlapped,  // gradients are reduced after the backward pass
  SmallBuckets,   // gradients are reduced in many small pieces
  HostBound,      // kernels take less time than their launches
  RoundTrip,      // each iteration copies a tensor to the host and back
  Twins,          // the ranks are jobs of their own that train the same model and use few blocks
};

inline constexpr int kFaultRanks = 4;

class FaultMaker {
 public:
  explicit FaultMaker(unsigned seed) : random_(seed) {}

  int upTo(int most) { return std::uniform_int_distribution<int>(0, most)(random_); }

  // `rank` has the fault if it is one rank's. The times of all steps vary by 5 %.
  Job make(Fault fault, int rank = 0);
  // Lets the times of all steps of a job vary by 5 %.
  void varyAll(Job& job);

 private:
  Job base(Fault fault);
  Ns varied(Ns ns) { return ns * (950 + upTo(100)) / 1000; }
  void vary(Op& op);

  std::mt19937 random_;
};

}  // namespace sonde::jobsim
