#include "tests/jobsim/workloads.h"

#include "tests/jobsim/programs.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace sonde::jobsim {
namespace {

bool isRecomputed(const DataParallel& of, int layer) {
  return of.recomputeEvery > 0 && layer % of.recomputeEvery == 0;
}

// The calls of one iteration become one.
void captureGraph(std::vector<Op>& program, std::size_t from, Ns graphNs) {
  Ns first = graphNs;
  for (std::size_t i = from; i < program.size(); ++i)
    std::visit(
        [&](auto& op) {
          if constexpr (requires { op.callNs; })
            op.callNs = std::exchange(first, 0);
        },
        program[i]);
}

void addForward(const DataParallel& of, int rank, std::vector<Op>& program) {
  program.push_back(Launch{"forward_" + of.matrixKernel,
                           of.callNs,
                           0,
                           percentOf(of.forwardNs, rank == of.slowRank, of.slowdown)});
  for (int i = 0; i < of.activations; ++i)
    program.push_back(Launch{"vectorized_elementwise_kernel", of.callNs, 0, of.activationNs});
}

// Stream 0 computes, stream 1 communicates.
std::vector<Op> deviceProgram(const DataParallel& of, int rank) {
  const bool isSlow = rank == of.slowRank;
  const int layersPerBucket = of.layers / of.buckets;
  std::vector<Op> program;
  for (int iteration = 0; iteration < of.iterations; ++iteration) {
    const std::size_t begin = program.size();
    program.push_back(Begin{Scope::Iteration, "step"});
    std::vector<Op> reductions;
    for (int batch = 1; batch <= of.microbatches; ++batch) {
      program.push_back(Begin{Scope::Operation, "forward"});
      for (int layer = 0; layer < of.layers; ++layer)
        addForward(of, rank, program);
      if (of.readsLoss)
        program.push_back(Synchronise{0, kSynchroniseNs});
      append(program, {End{}, Begin{Scope::Backward, "backward"}});
      for (int layer = 0; layer < of.layers; ++layer) {
        if (isRecomputed(of, layer))
          addForward(of, rank, program);
        const Ns backwardNs = percentOf(of.backwardNs, isSlow, of.slowdown);
        program.push_back(
            Launch{"backward_" + of.matrixKernel,
                   of.callNs,
                   0,
                   percentOf(backwardNs, layer >= layersPerBucket, of.besidePercent)});
        if (batch < of.microbatches || (layer + 1) % layersPerBucket > 0)
          continue;
        std::vector<Op>& to = of.isOverlapped ? program : reductions;
        if (of.codecNs > 0)
          to.push_back(Launch{"encode", 0, 0, of.codecNs});
        append(to,
               {RecordEvent{of.callNs / 4, 0, 2 * rank}, WaitEvent{of.callNs / 4, 1, 2 * rank}});
        for (int piece = 0; piece < of.pieces; ++piece)
          to.push_back(
              LaunchCollective{Collective::Allreduce, of.callNs, 1, 0, of.bucketBytes / of.pieces});
        if (of.codecNs > 0)
          to.push_back(Launch{"decode", 0, 1, of.codecNs});
      }
      if (batch < of.microbatches)
        program.push_back(End{});
      append(program, reductions);
    }
    if (of.lossBytes > 0)
      program.push_back(LaunchCollective{Collective::Allreduce, of.callNs, 1, 0, of.lossBytes});
    append(program,
           {End{},
            Begin{Scope::Operation, "optimizer"},
            RecordEvent{of.callNs / 4, 1, 2 * rank + 1},
            WaitEvent{of.callNs / 4, 0, 2 * rank + 1},
            Launch{"adam", of.callNs, 0, of.optimizerNs},
            Synchronise{0, kSynchroniseNs},
            End{},
            Compute{"log", kAnnotationNs},
            End{}});
    if (of.graphNs > 0)
      captureGraph(program, begin, of.graphNs);
  }
  return program;
}

}  // namespace

Job dataParallelJob(const DataParallel& of) {
  Job job = machinesFor(of.ranks, of.ranksPerMachine, 2);
  job.launchLatencyNs = kLaunchLatencyNs;
  job.groups = {{.name = "data-parallel", .ranks = ranksFrom(0, of.ranks), .link = of.link}};
  for (int rank = 0; rank < of.ranks; ++rank) {
    job.threads.push_back({rank, "python3", deviceProgram(of, rank)});
    job.events.insert(job.events.end(), {rank, rank});
  }
  return job;
}

Job hostDataParallelJob(const DataParallel& of) {
  Job job = machinesFor(of.ranks, of.ranksPerMachine, 0);
  job.groups = {{.name = "data-parallel", .ranks = ranksFrom(0, of.ranks), .link = of.link}};
  const int layersPerBucket = of.layers / of.buckets;
  for (int rank = 0; rank < of.ranks; ++rank) {
    const bool isSlow = rank == of.slowRank;
    const int ready = 2 * rank;  // queues: gradients to reduce, and reduced ones
    const int done = 2 * rank + 1;
    job.queueLengths.insert(job.queueLengths.end(), {of.buckets, of.buckets});
    Thread main{rank, "python3", {}};
    Thread gloo{rank, "gloo", {}};
    for (int iteration = 0; iteration < of.iterations; ++iteration) {
      main.program.push_back(Begin{Scope::Iteration, "step"});
      for (int batch = 1; batch < of.microbatches; ++batch) {
        main.program.push_back(Begin{Scope::Operation, "forward"});
        for (int layer = 0; layer < of.layers; ++layer)
          main.program.push_back(
              Compute{"aten::addmm", percentOf(of.forwardNs, isSlow, of.slowdown)});
        append(main.program, {End{}, Begin{Scope::Backward, "backward"}});
        for (int layer = 0; layer < of.layers; ++layer) {
          if (isRecomputed(of, layer))
            main.program.push_back(
                Compute{"aten::addmm", percentOf(of.forwardNs, isSlow, of.slowdown)});
          main.program.push_back(
              Compute{"aten::mm", percentOf(of.backwardNs, isSlow, of.slowdown)});
        }
        main.program.push_back(End{});
      }
      main.program.push_back(Begin{Scope::Operation, "forward"});
      const auto blockOf = [&](int layer) { return iteration * of.layers + layer; };
      for (int layer = 0; layer < of.layers; ++layer) {
        if (of.activationBytes > 0)
          main.program.push_back(Allocate{blockOf(layer), of.activationBytes});
        main.program.push_back(
            Compute{"aten::addmm", percentOf(of.forwardNs, isSlow, of.slowdown)});
      }
      append(main.program, {End{}, Begin{Scope::Backward, "backward"}});
      std::vector<Op> reductions;
      for (int layer = 0; layer < of.layers; ++layer) {
        if (isRecomputed(of, layer))
          main.program.push_back(
              Compute{"aten::addmm", percentOf(of.forwardNs, isSlow, of.slowdown)});
        main.program.push_back(Compute{"aten::mm", percentOf(of.backwardNs, isSlow, of.slowdown)});
        if (of.activationBytes > 0)
          main.program.push_back(Free{blockOf(of.layers - 1 - layer)});
        if ((layer + 1) % layersPerBucket > 0)
          continue;
        std::vector<Op>& to = of.isOverlapped ? main.program : reductions;
        if (of.codecNs > 0)
          to.push_back(Compute{"encode", of.codecNs});
        to.push_back(Put{ready});
      }
      append(main.program, reductions);
      for (int bucket = 0; bucket < of.buckets; ++bucket) {
        gloo.program.push_back(Take{ready});
        for (int piece = 0; piece < of.pieces; ++piece)
          gloo.program.push_back(Meet{Collective::Allreduce, 0, of.bucketBytes / of.pieces});
        if (of.codecNs > 0)
          gloo.program.push_back(Compute{"decode", of.codecNs});
        gloo.program.push_back(Put{done});
        main.program.push_back(Take{done});
      }
      if (of.lossBytes > 0) {
        main.program.push_back(Put{ready});
        append(gloo.program,
               {Take{ready}, Meet{Collective::Allreduce, 0, of.lossBytes}, Put{done}});
        main.program.push_back(Take{done});
      }
      append(main.program,
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
    append(main.program,
           {Begin{Scope::Iteration, "step"},
            Begin{Scope::Load, "data"},
            of.workers > 0 ? Op(Take{0}) : Op(Compute{"decode", of.batchNs}),
            End{},
            Begin{Scope::Operation, "train"},
            Compute{"aten::addmm", of.stepNs},
            End{},
            End{}});
  job.threads.push_back(std::move(main));
  for (int worker = 0; worker < of.workers; ++worker) {
    Thread thread{0, fmt::format("loader{}", worker), {}};
    for (int batch = worker; batch < of.iterations; batch += of.workers)
      append(thread.program, {Compute{"decode", of.batchNs}, Put{0}});
    job.threads.push_back(std::move(thread));
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
      append(thread.program,
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
      append(serving.program, {Receive{worker, kPush}, Compute{"sum", of.sumNs}});
    for (int worker = 0; worker < of.workers; ++worker)
      serving.program.push_back(Send{worker, kPull, of.bytes, kSendNs});
  }
  job.threads.push_back(std::move(serving));
  return job;
}

}  // namespace sonde::jobsim
