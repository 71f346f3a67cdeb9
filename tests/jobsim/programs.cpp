#include "tests/jobsim/programs.h"

#include <fmt/format.h>

namespace sonde::jobsim {

std::vector<int> ranksFrom(int first, int count, int stride) {
  std::vector<int> ranks;
  for (int at = 0; at < count; ++at)
    ranks.push_back(first + at * stride);
  return ranks;
}

Job machinesFor(int ranks, int ranksPerMachine, int streams) {
  Job job;
  for (int machine = 0; machine * ranksPerMachine < ranks; ++machine)
    job.machines.push_back({.name = fmt::format("host{}", machine)});
  for (int rank = 0; rank < ranks; ++rank)
    job.ranks.push_back({.machine = rank / ranksPerMachine, .streams = streams});
  return job;
}

void append(std::vector<Op>& program, const std::vector<Op>& ops) {
  program.insert(program.end(), ops.begin(), ops.end());
}

void appendJoin(std::vector<Op>& program, int by, int waits, int event, Ns callNs) {
  append(program, {RecordEvent{callNs, by, event}, WaitEvent{callNs, waits, event}});
}

}  // namespace sonde::jobsim
