#include "tests/jobsim/faults.h"

#include "tests/jobsim/workloads.h"

#include <utility>
#include <variant>
#include <vector>

namespace sonde::jobsim {
namespace {

constexpr int kLongRun = 60;  // iterations: enough to see a change or a leak

bool beginsIteration(const Op& op) {
  const auto* begin = std::get_if<Begin>(&op);
  return begin != nullptr && begin->scope == Scope::Iteration;
}

// Puts `op` at the begin of each iteration of the thread.
void insert(Thread& thread, const Op& op) {
  std::vector<Op> program;
  for (const Op& each : thread.program) {
    program.push_back(each);
    if (beginsIteration(each))
      program.push_back(op);
  }
  thread.program = std::move(program);
}

void slowDown(Op& op, Fault fault, int percent) {
  if (auto* compute = std::get_if<Compute>(&op);
      compute != nullptr && (fault == Fault::Operators || fault == Fault::Stage))
    compute->ns = compute->ns * percent / 100;
  if (auto* launch = std::get_if<Launch>(&op)) {
    if (fault == Fault::Device)
      launch->ns = launch->ns * percent / 100;
    if (fault == Fault::Launches)
      launch->callNs = launch->ns * percent / 100;
  }
}

void slowSecondHalf(Thread& thread, int percent) {
  int iterations = 0;
  for (Op& op : thread.program) {
    iterations += beginsIteration(op) ? 1 : 0;
    if (iterations <= kLongRun / 2)
      continue;
    if (auto* compute = std::get_if<Compute>(&op))
      compute->ns = compute->ns * percent / 100;
    if (auto* launch = std::get_if<Launch>(&op))
      launch->ns = launch->ns * percent / 100;
  }
}

void leak(Thread& thread) {
  int block = 1'000;
  std::vector<Op> program;
  for (const Op& each : thread.program) {
    program.push_back(each);
    if (beginsIteration(each)) {
      program.emplace_back(Allocate{block, 4'000'000});
      program.emplace_back(Allocate{++block, 50'000'000});
      program.emplace_back(Free{block++});
    }
  }
  thread.program = std::move(program);
}

// Behind the first two kernels of each iteration a tensor goes to the host and comes back.
void copyBackAndForth(Thread& thread) {
  constexpr std::int64_t kTensorBytes = 4'000'000;
  std::vector<Op> program;
  int launches = 0;
  for (const Op& each : thread.program) {
    program.push_back(each);
    launches =
        beginsIteration(each) ? 0 : launches + (std::holds_alternative<Launch>(each) ? 1 : 0);
    if (launches != 2 || !std::holds_alternative<Launch>(each))
      continue;
    program.emplace_back(Launch{"cpu", 8'000, 0, 160'000, 0, CopyWay::ToHost, kTensorBytes});
    program.emplace_back(Synchronise{0, 5'000});
    program.emplace_back(Launch{"cuda", 8'000, 0, 160'000, 0, CopyWay::ToDevice, kTensorBytes});
  }
  thread.program = std::move(program);
}

// The thread rests in the middle of its last iteration.
void stick(Thread& thread, Ns ns) {
  std::vector<Op>& program = thread.program;
  std::size_t last = 0;
  for (std::size_t at = 0; at < program.size(); ++at)
    last = beginsIteration(program[at]) ? at : last;
  program.insert(program.begin() + static_cast<std::ptrdiff_t>((last + program.size()) / 2),
                 Sleep{"stuck", ns});
}

// Kernels of so few blocks that they leave most of the device idle.
Job twinJobs(int iterations) {
  Job job = dataParallelJob({.ranks = 3, .iterations = iterations, .layers = 4, .buckets = 1});
  job.isOneJob = false;
  job.groups.clear();
  job.deviceName = "NVIDIA H100 80GB HBM3";
  for (Thread& thread : job.threads) {
    std::erase_if(thread.program,
                  [](const Op& op) { return std::holds_alternative<LaunchCollective>(op); });
    for (Op& op : thread.program)
      if (auto* launch = std::get_if<Launch>(&op))
        launch->blocks = 16;
  }
  return job;
}

}  // namespace

void FaultMaker::vary(Op& op) {
  if (auto* compute = std::get_if<Compute>(&op))
    compute->ns = varied(compute->ns);
  if (auto* launch = std::get_if<Launch>(&op)) {
    launch->ns = varied(launch->ns);
    launch->callNs = varied(launch->callNs);
  }
}

Job FaultMaker::base(Fault fault) {
  DataParallel job{.ranks = kFaultRanks, .iterations = 8, .layers = 4, .buckets = 2};
  switch (fault) {
    case Fault::Stage:
      return pipelineJob({.stages = kFaultRanks, .microbatches = 6, .iterations = 8});
    case Fault::SlowDown:
    case Fault::Leak:
      job.iterations = kLongRun;
      job.layers = job.buckets = 2;
      job.ranks = 2;
      return dataParallelJob(job);
    case Fault::NotOverlapped:
      job.isOverlapped = false;
      return dataParallelJob(job);
    case Fault::SmallBuckets:
      job.layers = job.buckets = 16;
      job.bucketBytes = 20'000;
      return dataParallelJob(job);
    case Fault::HostBound: {
      DataParallel bound = hostBound();
      bound.ranks = kFaultRanks;
      bound.iterations = 8;
      return dataParallelJob(bound);
    }
    case Fault::Twins:
      return twinJobs(8);
    case Fault::Device:
    case Fault::Launches:
    case Fault::RoundTrip:
      return dataParallelJob(job);
    case Fault::None:
      return upTo(1) == 0 ? dataParallelJob(job) : hostDataParallelJob(job);
    default:
      return hostDataParallelJob(job);
  }
}

void FaultMaker::varyAll(Job& job) {
  for (Thread& thread : job.threads)
    for (Op& op : thread.program)
      vary(op);
}

Job FaultMaker::make(Fault fault, int rank) {
  Job job = base(fault);
  for (Thread& thread : job.threads) {
    if (fault == Fault::Loading)
      insert(thread, Compute{"load", 500'000});
    if (fault == Fault::Leak)
      leak(thread);
    if (fault == Fault::RoundTrip)
      copyBackAndForth(thread);
    for (Op& op : thread.program) {
      vary(op);
      if (thread.rank == rank)
        slowDown(op, fault, 140 + upTo(60));
    }
    if (fault == Fault::SlowDown)
      slowSecondHalf(thread, 130);
    if (thread.rank != rank || thread.name != "python3")
      continue;
    if (fault == Fault::Pauses)
      insert(thread, Compute{"gc", 800'000});
    if (fault == Fault::Stuck)
      stick(thread, 20'000'000);
    if (fault == Fault::Loading)
      for (Op& op : thread.program)
        if (auto* compute = std::get_if<Compute>(&op);
            compute != nullptr && compute->name == "load")
          compute->ns *= 4;
  }
  return job;
}

}  // namespace sonde::jobsim
