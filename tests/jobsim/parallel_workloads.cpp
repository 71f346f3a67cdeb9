#include "tests/jobsim/programs.h"
#include "tests/jobsim/workloads.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace sonde::jobsim {
namespace {

// Streams of ranks, and their events: each rank has one event of each kind.
constexpr int kComputing = 0;
constexpr int kExchanging = 1;
constexpr int kReducing = 2;

enum : int { kToExchange, kFromExchange, kToReduce, kFromReduce, kParallelEvents };

void endIteration(std::vector<Op>& program) {
  append(program,
         {Synchronise{kComputing, kSynchroniseNs}, End{}, Compute{"log", kAnnotationNs}, End{}});
}

Job jobOfRanks(int ranks, int ranksPerMachine) {
  Job job = machinesFor(ranks, ranksPerMachine, 3);
  job.launchLatencyNs = kLaunchLatencyNs;
  for (int rank = 0; rank < ranks; ++rank)
    job.events.insert(job.events.end(), kParallelEvents, rank);
  return job;
}

// Collects the program of a rank that has three streams.
class RankProgram {
 public:
  RankProgram(int rank, Ns callNs) : firstEvent_(rank * kParallelEvents), callNs_(callNs) {}

  void begin(Scope scope, const char* name) { ops_.push_back(Begin{scope, name}); }
  void end() { ops_.push_back(End{}); }
  void launch(const char* name, Ns ns) { ops_.push_back(Launch{name, callNs_, kComputing, ns}); }
  void join(int by, int waits, int event) {
    appendJoin(ops_, by, waits, firstEvent_ + event, callNs_ / 4);
  }
  // A collective of what has been computed so far.
  void communicate(Collective op, int stream, int group, std::int64_t bytes) {
    join(kComputing, stream, stream == kExchanging ? kToExchange : kToReduce);
    ops_.push_back(LaunchCollective{op, callNs_, stream, group, bytes});
  }
  std::vector<Op>& ops() { return ops_; }

 private:
  int firstEvent_;
  Ns callNs_;
  std::vector<Op> ops_;
};

constexpr int kExchange = 0;  // groups
constexpr int kGradients = 1;

std::vector<Op> embeddingProgram(const Embedding& of, int rank) {
  RankProgram program(rank, of.callNs);
  for (int iteration = 0; iteration < of.iterations; ++iteration) {
    program.begin(Scope::Iteration, "step");
    program.begin(Scope::Operation, "forward");
    program.launch("lookup", percentOf(of.lookupNs, rank == of.slowRank, of.slowdown));
    program.communicate(Collective::Alltoall, kExchanging, kExchange, of.exchangedBytes);
    for (int layer = 0; layer < of.layers; ++layer)
      program.launch("dense_forward", of.layerNs);
    program.join(kExchanging, kComputing, kFromExchange);
    for (int layer = 0; layer < of.layers; ++layer)
      program.launch("top_forward", of.layerNs);
    program.end();
    program.begin(Scope::Operation, "backward");
    for (int layer = 0; layer < of.layers; ++layer) {
      program.launch("top_backward", 2 * of.layerNs);
      program.communicate(Collective::Allreduce, kReducing, kGradients, of.layerBytes);
    }
    program.communicate(Collective::Alltoall, kExchanging, kExchange, of.exchangedBytes);
    for (int layer = 0; layer < of.layers; ++layer) {
      program.launch("dense_backward", 2 * of.layerNs);
      program.communicate(Collective::Allreduce, kReducing, kGradients, of.layerBytes);
    }
    program.end();
    program.begin(Scope::Operation, "optimizer");
    program.join(kExchanging, kComputing, kFromExchange);
    program.launch("update_rows", of.updateNs);
    program.join(kReducing, kComputing, kFromReduce);
    program.launch("update_layers", of.updateNs);
    endIteration(program.ops());
  }
  return program.ops();
}

// The groups of a tensor-parallel job: that of each copy of the model, then that of each part.
std::vector<Op> tensorProgram(const TensorParallel& of, int rank) {
  const int copy = rank / of.tensorRanks;
  const int part = of.dataRanks + rank % of.tensorRanks;
  const bool isSlow = rank == of.slowRank;
  RankProgram program(rank, of.callNs);
  const auto reduceResult = [&] {
    program.communicate(Collective::Allreduce, kExchanging, copy, of.resultBytes);
    program.join(kExchanging, kComputing, kFromExchange);
  };
  for (int iteration = 0; iteration < of.iterations; ++iteration) {
    program.begin(Scope::Iteration, "step");
    program.begin(Scope::Operation, "forward");
    for (int layer = 0; layer < of.layers; ++layer) {
      program.launch("forward_gemm", percentOf(of.forwardNs, isSlow, of.slowdown));
      reduceResult();
    }
    program.end();
    program.begin(Scope::Operation, "backward");
    for (int layer = 0; layer < of.layers; ++layer) {
      program.launch("backward_gemm", percentOf(of.backwardNs, isSlow, of.slowdown));
      reduceResult();
      program.communicate(Collective::Allreduce, kReducing, part, of.gradientBytes);
    }
    program.end();
    program.begin(Scope::Operation, "optimizer");
    program.join(kReducing, kComputing, kFromReduce);
    if (of.lossBytes > 0) {
      program.communicate(Collective::Allreduce, kReducing, part, of.lossBytes);
      program.join(kReducing, kComputing, kFromReduce);
      program.communicate(Collective::Allreduce, kExchanging, copy, of.lossBytes);
      program.join(kExchanging, kComputing, kFromExchange);
    }
    program.launch("adam", of.optimizerNs);
    endIteration(program.ops());
  }
  return program.ops();
}

}  // namespace

Job embeddingJob(const Embedding& of) {
  Job job = jobOfRanks(of.ranks, of.ranksPerMachine);
  job.groups = {{.name = "exchange", .ranks = ranksFrom(0, of.ranks), .link = of.link},
                {.name = "gradients", .ranks = ranksFrom(0, of.ranks), .link = of.link}};
  for (int rank = 0; rank < of.ranks; ++rank)
    job.threads.push_back({rank, "python3", embeddingProgram(of, rank)});
  return job;
}

Job tensorParallelJob(const TensorParallel& of) {
  const int ranks = of.tensorRanks * of.dataRanks;
  Job job = jobOfRanks(ranks, of.tensorRanks);
  for (int copy = 0; copy < of.dataRanks; ++copy)
    job.groups.push_back({.name = fmt::format("tensor-{}", copy),
                          .ranks = ranksFrom(copy * of.tensorRanks, of.tensorRanks),
                          .link = of.tensorLink});
  for (int part = 0; part < of.tensorRanks; ++part)
    job.groups.push_back({.name = fmt::format("data-{}", part),
                          .ranks = ranksFrom(part, of.dataRanks, of.tensorRanks),
                          .link = of.dataLink});
  for (int rank = 0; rank < ranks; ++rank)
    job.threads.push_back({rank, "python3", tensorProgram(of, rank)});
  return job;
}

Job streamsJob(const Streams& of) {
  Job job = machinesFor(1, 1, of.streams + 1);
  job.launchLatencyNs = kLaunchLatencyNs;
  job.events = {0};
  std::vector<Op> program;
  for (int iteration = 0; iteration < of.iterations; ++iteration) {
    program.push_back(Begin{Scope::Iteration, "step"});
    for (int chunk = 0; chunk < of.chunks; ++chunk)
      for (int stream = 0; stream < of.streams; ++stream) {
        if (stream > 0)
          appendJoin(program, stream - 1, stream, 0, of.callNs / 4);
        program.push_back(Launch{fmt::format("stage{}", stream),
                                 of.callNs,
                                 stream,
                                 stream == 0 ? of.firstKernelNs : of.kernelNs});
      }
    appendJoin(program, of.streams - 1, of.streams, 0, of.callNs / 4);
    append(program,
           {Synchronise{of.streams, kSynchroniseNs}, Compute{"log", kAnnotationNs}, End{}});
  }
  job.threads = {{0, "python3", std::move(program)}};
  return job;
}

}  // namespace sonde::jobsim
