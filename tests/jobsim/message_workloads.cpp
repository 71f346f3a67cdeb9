#include "tests/jobsim/programs.h"
#include "tests/jobsim/workloads.h"

#include <utility>
#include <vector>

namespace sonde::jobsim {
namespace {

constexpr Ns kCallNs = 5'000;  // of a send

// A rank passes shares of a chunk on, and adds its own to those of the first half.
void reduceByRing(const MessageAllreduce& of, int rank, int chunk, std::vector<Op>& program) {
  const int steps = 2 * (of.ranks - 1);
  for (int step = 0; step < steps; ++step) {
    append(program,
           {Send{(rank + 1) % of.ranks, chunk, of.bytes / of.ranks, kCallNs},
            Receive{(rank + of.ranks - 1) % of.ranks, chunk}});
    if (step < of.ranks - 1)
      program.push_back(Compute{"sum", of.sumNs / of.ranks});
  }
}

void reduceByTree(const MessageAllreduce& of, int rank, int chunk, std::vector<Op>& program) {
  const int parent = (rank - 1) / 2;
  std::vector<int> children;
  for (const int child : {2 * rank + 1, 2 * rank + 2})
    if (child < of.ranks)
      children.push_back(child);
  for (const int child : children)
    append(program, {Receive{child, chunk}, Compute{"sum", of.sumNs}});
  if (rank > 0)
    append(program, {Send{parent, chunk, of.bytes, kCallNs}, Receive{parent, chunk}});
  for (const int child : children)
    program.push_back(Send{child, chunk, of.bytes, kCallNs});
}

}  // namespace

Job messageAllreduceJob(const MessageAllreduce& of) {
  Job job = machinesFor(of.ranks, of.ranksPerMachine, 0);
  job.link = of.link;
  for (int rank = 0; rank < of.ranks; ++rank) {
    Thread thread{rank, "python3", {}};
    for (int iteration = 0; iteration < of.iterations; ++iteration) {
      append(thread.program, {Begin{Scope::Iteration, "step"}, Compute{"train", of.computeNs}});
      for (int chunk = 0; chunk < of.chunks; ++chunk)
        (of.isTree ? reduceByTree : reduceByRing)(of, rank, chunk, thread.program);
      append(thread.program, {Compute{"update", of.sumNs}, End{}});
    }
    job.threads.push_back(std::move(thread));
  }
  return job;
}

}  // namespace sonde::jobsim
