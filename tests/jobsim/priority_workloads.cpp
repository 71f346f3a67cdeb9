// Data-parallel jobs whose next forward pass waits for each bucket of gradients by itself.
#include "tests/jobsim/programs.h"
#include "tests/jobsim/workloads.h"

#include <cstddef>
#include <vector>

namespace sonde::jobsim {
namespace {

// The order in which one network reduces buckets that are ready one after the other: always the
// last one that is ready.
std::vector<int> reductionOrder(const DataParallel& of, const Group& group) {
  const Ns apartNs = of.backwardNs * of.layers / of.buckets;
  const Ns reduceNs = transferNs(group, Collective::Allreduce, of.bucketBytes);
  std::vector<int> order;
  std::vector<int> waiting;
  Ns now = 0;
  for (int ready = 0; ready < of.buckets || !waiting.empty();) {
    if (waiting.empty() && now < (ready + 1) * apartNs)
      now = (ready + 1) * apartNs;
    while (ready < of.buckets && (ready + 1) * apartNs <= now)
      waiting.push_back(ready++);
    order.push_back(waiting.back());
    waiting.pop_back();
    now += reduceNs;
  }
  return order;
}

struct Events {
  int first;
  int ready(int bucket) const { return first + 2 * bucket; }
  int done(int bucket) const { return first + 2 * bucket + 1; }
};

void addForward(const DataParallel& of,
                const Events& events,
                bool isFirst,
                std::vector<Op>& program) {
  const int layersPerBucket = of.layers / of.buckets;
  program.push_back(Begin{Scope::Operation, "forward"});
  for (int bucket = of.buckets - 1; bucket >= 0; --bucket) {
    if (!isFirst)
      append(program,
             {WaitEvent{of.callNs / 4, 0, events.done(bucket)},
              Launch{"adam", of.callNs, 0, of.optimizerNs / of.buckets}});
    for (int layer = 0; layer < layersPerBucket; ++layer)
      program.push_back(Launch{"forward_gemm", of.callNs, 0, of.forwardNs});
  }
  program.push_back(End{});
}

void addBackward(const DataParallel& of,
                 const Events& events,
                 const std::vector<int>& order,
                 std::vector<Op>& program) {
  const int layersPerBucket = of.layers / of.buckets;
  program.push_back(Begin{Scope::Backward, "backward"});
  for (int bucket = 0; bucket < of.buckets; ++bucket) {
    for (int layer = 0; layer < layersPerBucket; ++layer)
      program.push_back(Launch{"backward_gemm", of.callNs, 0, of.backwardNs});
    program.push_back(RecordEvent{of.callNs / 4, 0, events.ready(bucket)});
  }
  for (const int bucket : order)
    append(program,
           {WaitEvent{of.callNs / 4, 1, events.ready(bucket)},
            LaunchCollective{Collective::Allreduce, of.callNs, 1, 0, of.bucketBytes},
            RecordEvent{of.callNs / 4, 1, events.done(bucket)}});
  program.push_back(End{});
}

}  // namespace

Job priorityParallelJob(const DataParallel& of) {
  Job job = machinesFor(of.ranks, of.ranksPerMachine, 2);
  job.launchLatencyNs = kLaunchLatencyNs;
  job.groups = {{.name = "data-parallel", .ranks = ranksFrom(0, of.ranks), .link = of.link}};
  const std::vector<int> order = reductionOrder(of, job.groups.front());
  for (int rank = 0; rank < of.ranks; ++rank) {
    const Events events{static_cast<int>(job.events.size())};
    job.events.insert(job.events.end(), static_cast<std::size_t>(2 * of.buckets), rank);
    Thread thread{rank, "python3", {}};
    for (int iteration = 0; iteration < of.iterations; ++iteration) {
      thread.program.push_back(Begin{Scope::Iteration, "step"});
      addForward(of, events, iteration == 0, thread.program);
      addBackward(of, events, order, thread.program);
      append(thread.program,
             {Synchronise{0, kSynchroniseNs}, Compute{"log", kAnnotationNs}, End{}});
    }
    job.threads.push_back(thread);
  }
  return job;
}

}  // namespace sonde::jobsim
