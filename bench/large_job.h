// A large simulated data-parallel job, for benches: 32 layers and 8 buckets, all ranks on one
// machine.
#pragma once

#include "tests/jobsim/simulation.h"
#include "tests/jobsim/workloads.h"
#include "tests/jobsim/write_trace.h"

#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace sonde::bench {

inline void writeJob(bool onHost, int ranks, int iterations, const std::string& path) {
  jobsim::DataParallel of;
  of.ranks = of.ranksPerMachine = ranks;
  of.iterations = iterations;
  of.layers = 32;
  of.buckets = 8;
  const jobsim::Job job = onHost ? jobsim::hostDataParallelJob(of) : jobsim::dataParallelJob(of);
  jobsim::writeTrace(job, jobsim::simulate(job), path);
}

// Another process simulates the job and writes its trace, so that it does not count as memory.
// `onHost`: without devices. False: that process failed.
inline bool writeApart(bool onHost, int ranks, int iterations, const std::string& path) {
  const pid_t writer = fork();
  if (writer == 0) {
    writeJob(onHost, ranks, iterations, path);
    _exit(0);
  }
  int status = 0;
  return writer > 0 && waitpid(writer, &status, 0) == writer && status == 0;
}

}  // namespace sonde::bench
