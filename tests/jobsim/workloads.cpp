#include "tests/jobsim/workloads.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace sonde::jobsim {
namespace {

constexpr Ns kAnnotationNs = 1'000;

Ns percentOf(Ns ns, bool isSlow, int percent) {
  return isSlow ? ns * percent / 100 : ns;
}

std::vector<int> firstRanks(int count) {
  std::vector<int> ranks;
  for (int rank = 0; rank < count; ++rank)
    ranks.push_back(rank);
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

void add(std::vector<Op>& program, std::vector<Op> ops) {
  program.insert(program.end(), ops.begin(), ops.end());
}

// Stream 0 computes, stream 1 communicates.
std::vector<Op> deviceProgram(const DataParallel& of, int rank) {
  const bool isSlow = rank == of.slowRank;
  const int layersPerBucket = of.layers / of.buckets;
  std::vector<Op> program;
  for (int iteration = 0; iteration < of.iterations; ++iteration) {
    add(program, {Begin{Scope::Iteration, "step"}, Begin{Scope::Operation, "forward"}});
    for (int layer = 0; layer < of.layers; ++layer)
      program.push_back(
          Launch{"forward_gemm", of.callNs, 0, percentOf(of.forwardNs, isSlow, of.slowdown)});
    add(program, {End{}, Begin{Scope::Operation, "backward"}});
    for (int layer = 0; layer < of.layers; ++layer) {
      program.push_back(
          Launch{"backward_gemm", of.callNs, 0, percentOf(of.backwardNs, isSlow, of.slowdown)});
      if ((layer + 1) % layersPerBucket == 0)
        add(program,
            {RecordEvent{of.callNs / 4, 0, 2 * rank},
             WaitEvent{of.callNs / 4, 1, 2 * rank},
             LaunchCollective{Collective::Allreduce, of.callNs, 1, 0, of.bucketBytes}});
    }
    add(program,
        {End{},
         Begin{Scope::Operation, "optimizer"},
         RecordEvent{of.callNs / 4, 1, 2 * rank + 1},
         WaitEvent{of.callNs / 4, 0, 2 * rank + 1},
         Launch{"adam", of.callNs, 0, of.optimizerNs},
         Synchronise{0, 2'000},
         End{},
         Compute{"log", kAnnotationNs},
         End{}});
  }
  return program;
}

}  // namespace

Job dataParallelJob(const DataParallel& of) {
  Job job = machinesFor(of.ranks, of.ranksPerMachine, 2);
  job.launchLatencyNs = 3'000;
  job.groups = {{.name = "data-parallel", .ranks = firstRanks(of.ranks), .link = of.link}};
  for (int rank = 0; rank < of.ranks; ++rank) {
    job.threads.push_back({rank, "python3", deviceProgram(of, rank)});
    job.events.insert(job.events.end(), {rank, rank});
  }
  return job;
}

Job hostDataParallelJob(const DataParallel& of) {
  Job job = machinesFor(of.ranks, of.ranksPerMachine, 0);
  job.groups = {{.name = "data-parallel", .ranks = firstRanks(of.ranks), .link = of.link}};
  const int layersPerBucket = of.layers / of.buckets;
  for (int rank = 0; rank < of.ranks; ++rank) {
    const bool isSlow = rank == of.slowRank;
    const int ready = 2 * rank;  // queues: gradients to reduce, and reduced ones
    const int done = 2 * rank + 1;
    job.queueLengths.insert(job.queueLengths.end(), {of.buckets, of.buckets});
    Thread main{rank, "python3", {}};
    Thread gloo{rank, "gloo", {}};
    for (int iteration = 0; iteration < of.iterations; ++iteration) {
      add(main.program, {Begin{Scope::Iteration, "step"}, Begin{Scope::Operation, "forward"}});
      for (int layer = 0; layer < of.layers; ++layer)
        main.program.push_back(
            Compute{"aten::addmm", percentOf(of.forwardNs, isSlow, of.slowdown)});
      add(main.program, {End{}, Begin{Scope::Operation, "backward"}});
      for (int layer = 0; layer < of.layers; ++layer) {
        main.program.push_back(Compute{"aten::mm", percentOf(of.backwardNs, isSlow, of.slowdown)});
        if ((layer + 1) % layersPerBucket == 0)
          main.program.push_back(Put{ready});
      }
      for (int bucket = 0; bucket < of.buckets; ++bucket) {
        add(gloo.program, {Take{ready}, Meet{Collective::Allreduce, 0, of.bucketBytes}, Put{done}});
        main.program.push_back(Take{done});
      }
      add(main.program,
          {End{},
           Begin{Scope::Operation, "optimizer"},
           Compute{"aten::_foreach_add_", of.optimizerNs},
           End{},
           End{}});
    }
    job.threads.push_back(std::move(main));
    job.threads.push_back(std::move(gloo));
  }
  return job;
}

Job loaderJob(const Loader& of) {
  Job job = machinesFor(1, 1, 0);
  job.machines[0].cores = of.cores;
  job.queueLengths = {of.prefetch};
  Thread main{0, "python3", {}};
  for (int iteration = 0; iteration < of.iterations; ++iteration)
    add(main.program,
        {Begin{Scope::Iteration, "step"},
         Begin{Scope::Operation, "data"},
         Take{0},
         End{},
         Begin{Scope::Operation, "train"},
         Compute{"aten::addmm", of.stepNs},
         End{},
         End{}});
  job.threads.push_back(std::move(main));
  for (int worker = 0; worker < of.workers; ++worker) {
    Thread thread{0, fmt::format("loader{}", worker), {}};
    for (int batch = worker; batch < of.iterations; batch += of.workers)
      add(thread.program, {Compute{"decode", of.batchNs}, Put{0}});
    job.threads.push_back(std::move(thread));
  }
  return job;
}

Job pipelineJob(const Pipeline& of) {
  Job job = machinesFor(of.stages, 1, 0);
  job.link = of.link;
  constexpr Ns kSendNs = 5'000;
  constexpr int kForward = 1;
  constexpr int kBackward = 2;
  for (int stage = 0; stage < of.stages; ++stage) {
    const bool isSlow = stage == of.slowStage;
    std::vector<Op> program;
    const auto forward = [&] {
      if (stage > 0)
        program.push_back(Receive{stage - 1, kForward});
      program.push_back(Compute{"forward", percentOf(of.forwardNs, isSlow, of.slowdown)});
      if (stage + 1 < of.stages)
        program.push_back(Send{stage + 1, kForward, of.bytes, kSendNs});
    };
    const auto backward = [&] {
      if (stage + 1 < of.stages)
        program.push_back(Receive{stage + 1, kBackward});
      program.push_back(Compute{"backward", percentOf(of.backwardNs, isSlow, of.slowdown)});
      if (stage > 0)
        program.push_back(Send{stage - 1, kBackward, of.bytes, kSendNs});
    };
    const int ahead = std::min(of.stages - stage - 1, of.microbatches);
    for (int iteration = 0; iteration < of.iterations; ++iteration) {
      program.push_back(Begin{Scope::Iteration, "step"});
      for (int batch = 0; batch < ahead; ++batch)
        forward();
      for (int batch = ahead; batch < of.microbatches; ++batch) {
        forward();
        backward();
      }
      for (int batch = 0; batch < ahead; ++batch)
        backward();
      add(program, {Compute{"optimizer", of.forwardNs}, End{}});
    }
    job.threads.push_back({stage, "python3", std::move(program)});
  }
  return job;
}

Job parameterServerJob(const ParameterServer& of) {
  Job job = machinesFor(of.workers + 1, 1, 0);
  job.link = of.link;
  constexpr Ns kSendNs = 10'000;
  constexpr int kPush = 1;
  constexpr int kPull = 2;
  const int server = of.workers;
  Thread serving{server, "server", {}};
  for (int worker = 0; worker < of.workers; ++worker) {
    Thread thread{worker, "python3", {}};
    for (int iteration = 0; iteration < of.iterations; ++iteration)
      add(thread.program,
          {Begin{Scope::Iteration, "step"},
           Compute{"train", of.computeNs},
           Send{server, kPush, of.bytes, kSendNs},
           Receive{server, kPull},
           Compute{"update", of.sumNs},
           End{}});
    job.threads.push_back(std::move(thread));
  }
  for (int iteration = 0; iteration < of.iterations; ++iteration) {
    for (int worker = 0; worker < of.workers; ++worker)
      add(serving.program, {Receive{worker, kPush}, Compute{"sum", of.sumNs}});
    for (int worker = 0; worker < of.workers; ++worker)
      serving.program.push_back(Send{worker, kPull, of.bytes, kSendNs});
  }
  job.threads.push_back(std::move(serving));
  return job;
}

}  // namespace sonde::jobsim
