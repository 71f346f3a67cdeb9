#include "recorder/system/sampler.h"

#include "recorder/system/cgroup_source.h"
#include "recorder/system/energy_source.h"
#include "recorder/system/infiniband_source.h"
#include "recorder/system/kernel_file.h"
#include "recorder/system/machine_sources.h"
#include "recorder/system/nvml_source.h"

#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <utility>

namespace sonde::recorder::system {
namespace {

using std::chrono::nanoseconds;

// The least time until the next round is this many times a round's processor time.
constexpr int kShare = 250;
constexpr std::size_t kMostFiles = 512;  // kept open
// For a recorder that cannot store them for long: one hour of a small job.
constexpr std::size_t kMostReadings = 1 << 20;

nanoseconds readClock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

std::size_t mostOpenFiles() {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

template <typename T>
void append(std::vector<T>& to, std::vector<T>& from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

}  // namespace

std::vector<std::unique_ptr<Source>> machineSources(const Roots& roots) {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::make_unique<CpuSource>(roots));
  sources.push_back(std::make_unique<MemorySource>(roots));
  sources.push_back(std::make_unique<PressureSource>(roots));
  sources.push_back(std::make_unique<DiskSource>(roots));
  sources.push_back(std::make_unique<NetworkSource>(roots));
  sources.push_back(std::make_unique<InfinibandSource>(roots));
  sources.push_back(std::make_unique<CgroupSource>(roots));
  sources.push_back(std::make_unique<EnergySource>(roots));
  if (auto gpus = openNvml())
    sources.push_back(std::move(gpus));
  return sources;
}

Sampler::Sampler(nanoseconds interval, bool wholeMachine, Roots roots)
    : interval_(interval),
      wholeMachine_(wholeMachine),
      roots_(std::move(roots)),
      processes_(roots_),
      thread_([this] { work(); }) {}

Sampler::~Sampler() {
  stop();
}

void Sampler::add(const ImageId& image) {
  const std::lock_guard lock(mutex_);
  fresh_.push_back(image);
}

Batch Sampler::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(batch_, {});
}

nanoseconds Sampler::cpuTime() {
  const std::lock_guard lock(mutex_);
  return cpuTime_;
}

void Sampler::stop() {
  {
    const std::lock_guard lock(mutex_);
    isStopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable())
    thread_.join();
}

// False if it is to stop.
bool Sampler::waitFor(nanoseconds time) {
  std::unique_lock lock(mutex_);
  return !wake_.wait_for(lock, time, [this] { return isStopping_; });
}

void Sampler::work() {
  // The processes' spool files need most of the descriptors.
  KernelFile::keepAtMost(std::min(kMostFiles, mostOpenFiles() / 8));
  if (wholeMachine_)
    sources_ = machineSources(roots_);  // here, because NVML may take long to start
  nanoseconds due = readClock(CLOCK_MONOTONIC);
  nanoseconds pause{0};
  while (waitFor(pause)) {
    const nanoseconds before = readClock(CLOCK_THREAD_CPUTIME_ID);
    sampleOnce();
    const nanoseconds cost = readClock(CLOCK_THREAD_CPUTIME_ID) - before;
    const nanoseconds now = readClock(CLOCK_MONOTONIC);
    due = std::max(due + interval_, now + cost * kShare);
    pause = due - now;
  }
  sampleOnce();
  readings_.closeAll();
  Batch last = readings_.take();
  const std::lock_guard lock(mutex_);
  append(batch_.readings, last.readings);
}

void Sampler::sampleOnce() {
  std::vector<ImageId> fresh;
  {
    const std::lock_guard lock(mutex_);
    fresh.swap(fresh_);
  }
  for (const ImageId& image : fresh)
    processes_.add(image);
  readings_.setTime(readClock(CLOCK_MONOTONIC).count());
  for (const auto& source : sources_)
    source->sample(readings_);
  processes_.sample(readings_);
  Batch batch = readings_.take();
  const nanoseconds cpuTime = readClock(CLOCK_THREAD_CPUTIME_ID);
  const std::lock_guard lock(mutex_);
  cpuTime_ = cpuTime;
  append(batch_.metrics, batch.metrics);
  if (batch_.readings.size() < kMostReadings)
    append(batch_.readings, batch.readings);
  else
    batch_.lost += batch.readings.size();
}

}  // namespace sonde::recorder::system
