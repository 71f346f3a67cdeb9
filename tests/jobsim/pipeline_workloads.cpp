#include "tests/jobsim/programs.h"
#include "tests/jobsim/workloads.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace sonde::jobsim {
namespace {

constexpr Ns kSendNs = 5'000;
constexpr int kForward = 1;
constexpr int kBackward = 2;

}  // namespace

Job pipelineJob(const Pipeline& of) {
  Job job = machinesFor(of.stages, 1, 0);
  job.link = of.link;
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
    // An iteration is open from the end of the one before.
    const bool stops = of.schedule != PipelineSchedule::Async;
    const int all = of.microbatches * (stops ? 1 : of.iterations);
    const int ahead =
        std::min(of.schedule == PipelineSchedule::GPipe ? all : of.stages - stage - 1, all);
    int done = 0;  // backwards
    const auto finish = [&] {
      backward();
      if (++done % of.microbatches == 0)
        append(program, {Compute{"optimizer", of.optimizerNs}, End{}});
      if (done % of.microbatches == 0 && done < of.microbatches * of.iterations)
        program.push_back(Begin{Scope::Iteration, "step"});
    };
    program.push_back(Begin{Scope::Iteration, "step"});
    for (int run = 0; run < of.microbatches * of.iterations; run += all) {
      for (int batch = 0; batch < ahead; ++batch)
        forward();
      for (int batch = ahead; batch < all; ++batch) {
        forward();
        finish();
      }
      for (int batch = 0; batch < ahead; ++batch)
        finish();
    }
    job.threads.push_back({stage, "python3", std::move(program)});
  }
  return job;
}

namespace {

// The program of one rank of an interleaved pipeline.
class InterleavedRank {
 public:
  InterleavedRank(const InterleavedPipeline& of, int rank)
      : of_(of), rank_(rank), last_(of.ranks * of.stagesPerRank - 1) {}

  std::vector<Op> program() {
    const int all = of_.microbatches * of_.stagesPerRank;
    const int ahead =
        std::min(all, (of_.ranks - rank_ - 1) * 2 + (of_.stagesPerRank - 1) * of_.ranks);
    for (int iteration = 0; iteration < of_.iterations; ++iteration) {
      program_.push_back(Begin{Scope::Iteration, "step"});
      for (int at = 0; at < ahead; ++at)
        forward(at);
      for (int at = ahead; at < all; ++at) {
        forward(at);
        backward(at - ahead);
      }
      for (int at = all - ahead; at < all; ++at)
        backward(at);
      append(program_, {Compute{"optimizer", of_.optimizerNs}, End{}});
    }
    return std::move(program_);
  }

 private:
  // Which of the rank's stages has its turn.
  int turnOf(int at) const { return at / of_.ranks % of_.stagesPerRank; }
  int rankOf(int stage) const { return stage % of_.ranks; }
  // The tag of messages to a stage.
  static int tagOf(int stage, int direction) { return 10 * stage + direction; }

  void forward(int at) {
    const int stage = turnOf(at) * of_.ranks + rank_;
    if (stage > 0)
      program_.push_back(Receive{rankOf(stage - 1), tagOf(stage, kForward)});
    compute("forward", of_.forwardNs);
    if (stage < last_)
      program_.push_back(Send{rankOf(stage + 1), tagOf(stage + 1, kForward), of_.bytes, kSendNs});
  }

  // The last stage is the first one to have its turn.
  void backward(int at) {
    const int stage = (of_.stagesPerRank - 1 - turnOf(at)) * of_.ranks + rank_;
    if (stage < last_)
      program_.push_back(Receive{rankOf(stage + 1), tagOf(stage, kBackward)});
    compute("backward", of_.backwardNs);
    if (stage > 0)
      program_.push_back(Send{rankOf(stage - 1), tagOf(stage - 1, kBackward), of_.bytes, kSendNs});
  }

  void compute(const char* name, Ns ns) {
    program_.push_back(Compute{name, percentOf(ns, rank_ == of_.slowRank, of_.slowdown)});
  }

  const InterleavedPipeline& of_;
  int rank_;
  int last_;  // stage
  std::vector<Op> program_;
};

}  // namespace

Job interleavedPipelineJob(const InterleavedPipeline& of) {
  Job job = machinesFor(of.ranks, 1, 0);
  job.link = of.link;
  for (int rank = 0; rank < of.ranks; ++rank)
    job.threads.push_back({rank, "python3", InterleavedRank(of, rank).program()});
  return job;
}

}  // namespace sonde::jobsim
