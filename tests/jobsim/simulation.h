// Runs a job in simulated time and reports what happened when. Plain values; any thread.
//
// The rules are simple, so that a model of the job can be exact:
//  - A processor runs one step of a program to its end. Steps that wait for one get it in the order
//    in which they became ready, then by the thread's index.
//  - A stream does its work in the order of arrival, one at a time.
//  - A link carries one message at a time in the order of sending.
#pragma once

#include "tests/jobsim/job.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::jobsim {

inline constexpr std::size_t kNone = ~std::size_t{0};

// A step of a thread's program.
struct Step {
  int thread;
  const Op* op;
  Ns begin;  // when the thread came to it
  Ns ready;  // what it waited for was there; for a step that uses a processor: it got one
  Ns end;
  std::size_t cause = kNone;  // the step, in `steps`, that made it ready; of messages and queues
};

// A kernel or a device's part of a collective.
struct DeviceWork {
  int rank;
  int stream;
  const Op* op;
  std::size_t launch;  // in History::steps
  Ns arrival;          // at the device
  Ns begin;
  Ns end;
  Ns transferNs = 0;  // of a collective: without the wait for others
};

struct History {
  std::vector<Step> steps;  // by end, then by thread
  std::vector<DeviceWork> works;
  Ns endNs = 0;
};

// Requires: programs that come to an end. A job that comes to a halt before all programs have ended
// gives the steps so far, and `endNs` -1.
History simulate(const Job& job);

}  // namespace sonde::jobsim
