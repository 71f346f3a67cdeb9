// Jobs to simulate, of the kinds that train models. Plain values.
#pragma once

#include "tests/jobsim/job.h"

#include <cstdint>
#include <string>

namespace sonde::jobsim {

// Data-parallel training on one device a rank. Every iteration runs `layers` forward, `layers`
// backward, and an optimiser that waits for the gradients. A bucket of gradients is reduced on a
// stream of its own once its layers' backward kernels have been launched.
struct DataParallel {
  int ranks = 4;
  int ranksPerMachine = 2;
  int iterations = 6;
  int layers = 8;
  int buckets = 4;         // divides `layers`
  Ns forwardNs = 200'000;  // of one layer
  Ns backwardNs = 400'000;
  Ns optimizerNs = 300'000;
  Ns callNs = 8'000;  // of one launch
  std::int64_t bucketBytes = 4'000'000;
  std::int64_t lossBytes = 0;  // that are reduced after the gradients; 0: none
  int microbatches = 1;        // of which only the last one reduces gradients
  bool isOverlapped = true;    // gradients are reduced during the backward pass; else after it
  int activations = 0;         // pointwise kernels that follow each layer's forward
  Ns activationNs = 20'000;
  std::string matrixKernel = "gemm";  // behind "forward_" and "backward_"
  bool readsLoss = false;   // the thread waits for its device after the forward pass
  Ns codecNs = 0;           // before the reduction of a bucket, and after it
  int recomputeEvery = 0;   // every n-th layer runs its forward again before its backward; 0: none
  Ns graphNs = 0;           // one call of this length launches all of an iteration; 0: each its own
  int pieces = 1;           // in which a bucket is reduced, one after the other
  int besidePercent = 100;  // of backwardNs, for layers behind those of the first bucket
  std::int64_t activationBytes = 0;  // of a layer, on processors: from its forward to its backward
  Link link{.latencyNs = 5'000, .bytesPerUs = 12'500};
  int slowRank = -1;  // computes at `slowdown` percent of the time of the others
  int slowdown = 150;
};
Job dataParallelJob(const DataParallel& of);

// Kernels that take less time than the calls that launch them.
inline DataParallel hostBound() {
  DataParallel of;
  of.forwardNs = 5'000;
  of.backwardNs = 10'000;
  of.optimizerNs = 15'000;
  of.callNs = 40'000;
  of.bucketBytes = 40'000;
  return of;
}

// The same on processors: each layer computes on the rank's main thread, and the all-reduces run on
// a thread of their own, as Gloo's do.
Job hostDataParallelJob(const DataParallel& of);

// The same on devices, but each layer's optimizer runs before its next forward, which waits for its
// own bucket alone. Whenever the network is free, it reduces the last bucket that is ready.
Job priorityParallelJob(const DataParallel& of);

// A training loop that `workers` loader threads feed through a queue. Without workers it loads the
// batches itself.
struct Loader {
  int workers = 2;
  int iterations = 12;
  int prefetch = 4;  // batches
  int cores = 0;
  Ns batchNs = 3'000'000;  // a worker's time for a batch
  Ns stepNs = 2'000'000;
};
Job loaderJob(const Loader& of);

// Pipeline-parallel training. Each rank is a stage.
enum class PipelineSchedule : std::uint8_t {
  OneF1B,  // one forward and one backward in turns
  GPipe,   // all forwards, then all backwards
  Async,   // as OneF1B, but without a stop between iterations
};
struct Pipeline {
  PipelineSchedule schedule = PipelineSchedule::OneF1B;
  int stages = 4;
  int microbatches = 8;
  int iterations = 3;
  Ns forwardNs = 1'000'000;  // of one stage and microbatch
  Ns backwardNs = 2'000'000;
  Ns optimizerNs = 1'000'000;
  std::int64_t bytes = 1'000'000;  // of activations and of their gradients
  Link link{.latencyNs = 5'000, .bytesPerUs = 12'500};
  int slowStage = -1;
  int slowdown = 150;  // percent
};
Job pipelineJob(const Pipeline& of);

// The same with several stages a rank: rank r has the stages r, ranks + r, 2 ranks + r, … The ranks
// take turns with groups of `ranks` microbatches (interleaved 1F1B of Megatron-LM).
struct InterleavedPipeline {
  int ranks = 4;
  int stagesPerRank = 2;
  int microbatches = 8;  // a multiple of `ranks`
  int iterations = 3;
  Ns forwardNs = 500'000;  // of one stage and microbatch
  Ns backwardNs = 1'000'000;
  Ns optimizerNs = 500'000;
  std::int64_t bytes = 1'000'000;
  Link link{.latencyNs = 5'000, .bytesPerUs = 12'500};
  int slowRank = -1;
  int slowdown = 150;  // percent
};
Job interleavedPipelineJob(const InterleavedPipeline& of);

// Recommendation models: embedding tables are divided among the ranks, the rest is data-parallel.
// All-to-alls exchange the looked-up rows in the forward pass and their gradients in the backward
// pass. The dense features' layers run meanwhile. Layers' gradients are reduced on another stream.
struct Embedding {
  int ranks = 4;
  int ranksPerMachine = 2;
  int iterations = 5;
  int layers = 3;  // of the dense features, and as many behind the exchange
  Ns lookupNs = 300'000;
  Ns layerNs = 150'000;  // forward; backward takes twice as long
  Ns updateNs = 400'000;
  Ns callNs = 8'000;
  std::int64_t exchangedBytes = 8'000'000;
  std::int64_t layerBytes = 1'000'000;
  Link link{.latencyNs = 5'000, .bytesPerUs = 12'500};
  int slowRank = -1;  // looks up at `slowdown` percent of the time of the others
  int slowdown = 150;
};
Job embeddingJob(const Embedding& of);

// Layers that `tensorRanks` ranks share, and `dataRanks` copies of the model. The ranks of a copy
// reduce each layer's result, and wait for it. Ranks with the same part of a model reduce their
// gradients meanwhile.
struct TensorParallel {
  int tensorRanks = 2;
  int dataRanks = 3;
  int iterations = 5;
  int layers = 4;
  Ns forwardNs = 250'000;  // of one layer
  Ns backwardNs = 500'000;
  Ns optimizerNs = 200'000;
  Ns callNs = 8'000;
  std::int64_t resultBytes = 2'000'000;
  std::int64_t gradientBytes = 6'000'000;  // of one layer
  std::int64_t lossBytes = 0;              // that both kinds of groups reduce at the end; 0: none
  Link tensorLink{.latencyNs = 2'000, .bytesPerUs = 200'000};
  Link dataLink{.latencyNs = 5'000, .bytesPerUs = 12'500};
  int slowRank = -1;
  int slowdown = 150;
};
Job tensorParallelJob(const TensorParallel& of);

// Chunks that pass through the streams of one device: each stream's kernel waits for the previous
// stream's. Every hand-over uses the same event, which is recorded again before the waits for its
// earlier records are over. At the end the thread waits for a stream that has no kernels and only
// waits for another one.
struct Streams {
  int streams = 4;
  int chunks = 6;
  int iterations = 4;
  Ns kernelNs = 100'000;
  Ns firstKernelNs = 100'000;  // of the first stream
  Ns callNs = 4'000;
};
Job streamsJob(const Streams& of);

// Layers with branches that all need the layer before. Each branch runs on the next of `streams`;
// then a kernel needs them all.
struct Branched {
  int branches = 4;
  int streams = 1;
  int layers = 3;
  int iterations = 4;
  int kernels = 2;  // of a branch
  Ns kernelNs = 100'000;
  Ns longerNs = 40'000;  // each branch's kernels take this much longer than those of the one before
  Ns joinNs = 50'000;
  Ns callNs = 4'000;
};
Job branchedJob(const Branched& of);

// An all-reduce made of messages, as MPI and Gloo do it. In a ring each rank sends and receives
// 2 (ranks - 1) shares of each chunk. In a tree sums go up to rank 0, and the result down.
struct MessageAllreduce {
  int ranks = 4;
  int ranksPerMachine = 1;
  bool isTree = false;
  int chunks = 2;
  int iterations = 2;
  Ns computeNs = 2'000'000;
  Ns sumNs = 40'000;  // for a chunk
  std::int64_t bytes = 1'000'000;
  Link link{.latencyNs = 5'000, .bytesPerUs = 12'500};
};
Job messageAllreduceJob(const MessageAllreduce& of);

// Workers that push gradients to a server and pull the sum. The last rank is the server.
struct ParameterServer {
  int workers = 4;
  int iterations = 4;
  Ns computeNs = 2'000'000;
  Ns sumNs = 100'000;
  std::int64_t bytes = 2'000'000;
  Link link{.latencyNs = 20'000, .bytesPerUs = 1'250};
};
Job parameterServerJob(const ParameterServer& of);

}  // namespace sonde::jobsim
