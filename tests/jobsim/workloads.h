// Jobs to simulate, of the kinds that train models. Plain values.
#pragma once

#include "tests/jobsim/job.h"

#include <cstdint>

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
  Link link{.latencyNs = 5'000, .bytesPerUs = 12'500};
  int slowRank = -1;  // computes at `slowdown` percent of the time of the others
  int slowdown = 150;
};
Job dataParallelJob(const DataParallel& of);

// The same on processors: each layer computes on the rank's main thread, and the all-reduces run on
// a thread of their own, as Gloo's do.
Job hostDataParallelJob(const DataParallel& of);

// A training loop that `workers` loader threads feed through a queue.
struct Loader {
  int workers = 2;
  int iterations = 12;
  int prefetch = 4;  // batches
  int cores = 0;
  Ns batchNs = 3'000'000;  // a worker's time for a batch
  Ns stepNs = 2'000'000;
};
Job loaderJob(const Loader& of);

// Pipeline-parallel training, one forward and one backward in turns (1F1B). Each rank is a stage.
struct Pipeline {
  int stages = 4;
  int microbatches = 8;
  int iterations = 3;
  Ns forwardNs = 1'000'000;  // of one stage and microbatch
  Ns backwardNs = 2'000'000;
  std::int64_t bytes = 1'000'000;  // of activations and of their gradients
  Link link{.latencyNs = 5'000, .bytesPerUs = 12'500};
  int slowStage = -1;
  int slowdown = 150;  // percent
};
Job pipelineJob(const Pipeline& of);

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
