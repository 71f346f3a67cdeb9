// Models with branches, on one stream or on several.
#include "tests/jobsim/programs.h"
#include "tests/jobsim/workloads.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace sonde::jobsim {
namespace {

// Calls for events take no time, so that threads do the same with any number of streams.
void addFork(const Branched& of, std::vector<Op>& program) {
  for (int branch = 0; branch < of.branches; ++branch) {
    const int stream = branch % of.streams;
    if (stream == branch && stream > 0)
      appendJoin(program, 0, stream, stream, 0);
  }
  for (int branch = 0; branch < of.branches; ++branch) {
    program.push_back(Begin{Scope::Operation, fmt::format("branch{}", branch)});
    for (int kernel = 0; kernel < of.kernels; ++kernel)
      program.push_back(
          Launch{"conv", of.callNs, branch % of.streams, of.kernelNs + branch * of.longerNs});
    program.push_back(End{});
  }
  for (int stream = 1; stream < of.streams; ++stream)
    appendJoin(program, stream, 0, stream, 0);
}

}  // namespace

Job branchedJob(const Branched& of) {
  Job job = machinesFor(1, 1, of.streams);
  job.launchLatencyNs = kLaunchLatencyNs;
  job.events.assign(static_cast<std::size_t>(of.streams), 0);
  std::vector<Op> program;
  for (int iteration = 0; iteration < of.iterations; ++iteration) {
    program.push_back(Begin{Scope::Iteration, "step"});
    for (int layer = 0; layer < of.layers; ++layer) {
      program.push_back(Begin{Scope::Operation, "layer"});
      addFork(of, program);
      append(program, {Launch{"concat", of.callNs, 0, of.joinNs}, End{}});
    }
    append(program, {Synchronise{0, kSynchroniseNs}, Compute{"log", kAnnotationNs}, End{}});
  }
  job.threads = {{0, "python3", std::move(program)}};
  return job;
}

}  // namespace sonde::jobsim
