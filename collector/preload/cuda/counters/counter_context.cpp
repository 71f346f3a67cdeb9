#include "collector/preload/cuda/counters/counter_context.h"

#include <cstdio>
#include <cstdlib>

namespace sonde::preload::cuda {
namespace {

using cupti::parameters;
using cupti::Status;

CounterFailure failure(Status status, const char* function) noexcept {
  return {status, function};
}

// Makes a context current for the object's lifetime, unless it already is.
class Current {
 public:
  Current(const Driver& driver, void* context) noexcept : driver_(driver) {
    driver.currentContext(&before_);
    isCurrent_ = before_ == context;
    changed_ = !isCurrent_ && driver.setContext(context) == 0;
    isCurrent_ = isCurrent_ || changed_;
  }
  ~Current() noexcept {
    if (changed_)
      driver_.setContext(before_);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

  explicit operator bool() const noexcept { return isCurrent_; }

 private:
  const Driver& driver_;
  void* before_ = nullptr;
  bool isCurrent_ = false;
  bool changed_ = false;
};

constexpr CounterFailure kNotCurrent{Status::Unknown, "cuCtxSetCurrent"};

cupti::RangeCommand commandTo(cupti::RangeObject* object) noexcept {
  auto command = parameters<cupti::RangeCommand>();
  command.object = object;
  return command;
}

}  // namespace

CounterFailure CounterContext::identify(const CounterApi& api) noexcept {
  const Current current(api.driver, handle_);
  if (!current)
    return kNotCurrent;
  int device = 0;
  if (api.driver.contextDevice(&device) != 0)
    return failure(Status::Unknown, "cuCtxGetDevice");
  device_ = static_cast<std::uint32_t>(device);
  return {};
}

CounterFailure CounterContext::enable(const CounterApi& api, const WantedMetrics& wanted) noexcept {
  const Current current(api.driver, handle_);
  if (!current)
    return kNotCurrent;
  isFollower_ = false;
  if (const CounterFailure failed = planGroups(api.profiler, device_, wanted, plan_))
    return failed;
  auto enable = parameters<cupti::RangeEnable>();
  enable.context = handle_;
  if (const Status status = api.profiler.rangeEnable(&enable); status != Status::Success)
    return failure(status, "cuptiRangeProfilerEnable");
  object_ = enable.object;
  return {};
}

// Counter data is specific to one list of metrics.
CounterFailure CounterContext::prepareData(const CounterApi& api, MetricGroup& group) noexcept {
  auto size = parameters<cupti::CounterDataSize>();
  size.object = object_;
  size.names = group.metrics.names;
  size.count = group.metrics.count;
  size.maxRanges = kMostRanges;
  size.maxNodes = kMostRanges;
  if (const Status status = api.profiler.counterDataSize(&size); status != Status::Success)
    return failure(status, "cuptiRangeProfilerGetCounterDataSize");
  if (data_.size != size.dataBytes && !data_.allocate(size.dataBytes))
    return failure(Status::OutOfMemory, "mmap");
  auto initialize = parameters<cupti::CounterDataInitialize>();
  initialize.object = object_;
  initialize.dataBytes = data_.size;
  initialize.data = data_.bytes;
  return failure(api.profiler.counterDataInitialize(&initialize),
                 "cuptiRangeProfilerCounterDataImageInitialize");
}

CounterFailure CounterContext::setConfig(const CounterApi& api, const MetricGroup& group) noexcept {
  auto config = parameters<cupti::RangeConfig>();
  config.object = object_;
  config.configBytes = group.config.size;
  config.config = group.config.bytes;
  config.dataBytes = data_.size;
  config.data = data_.bytes;
  config.range = cupti::kUserRange;
  config.replay = cupti::kUserReplay;
  config.maxRanges = kMostRanges;
  config.nestingLevels = 1;
  config.minNestingLevel = 1;
  config.passIndex = 0;
  config.targetNestingLevel = 1;
  return failure(api.profiler.rangeConfig(&config), "cuptiRangeProfilerSetConfig");
}

CounterFailure CounterContext::begin(const CounterApi& api, std::uint64_t turn) noexcept {
  if (plan_.count == 0)
    return {};
  const Current current(api.driver, handle_);
  if (!current)
    return kNotCurrent;
  MetricGroup& group = plan_.groups[turn % plan_.count];
  if (const CounterFailure failed = prepareData(api, group))
    return failed;
  if (const CounterFailure failed = setConfig(api, group))
    return failed;
  auto start = commandTo(object_);
  if (const Status status = api.profiler.rangeStart(&start); status != Status::Success)
    return failure(status, "cuptiRangeProfilerStart");
  group_ = &group;
  return {};
}

CounterFailure CounterContext::settle(const CounterApi& api, DeviceWait& wait) noexcept {
  if (group_ == nullptr && !isFollower_)
    return {};
  const Waited waited = wait.wait(api.driver, handle_);
  if (waited == Waited::Done)
    return {};
  return {Status::Unknown,
          waited == Waited::NoThread ? "pthread_create" : "cuCtxSynchronize",
          waited == Waited::TooLong || waited == Waited::GivenUp};
}

CounterFailure CounterContext::open(const CounterApi& api, std::uint32_t range) noexcept {
  if (group_ == nullptr)
    return {};
  const Current current(api.driver, handle_);
  if (!current)
    return kNotCurrent;
  char name[16];
  std::snprintf(name, sizeof name, "%u", range);
  auto push = parameters<cupti::RangePush>();
  push.object = object_;
  push.name = name;
  const Status status = api.profiler.rangePush(&push);
  isOpen_ = status == Status::Success;
  return failure(status, "cuptiRangeProfilerPushRange");
}

CounterFailure CounterContext::close(const CounterApi& api) noexcept {
  if (!isOpen_)
    return {};
  const Current current(api.driver, handle_);
  if (!current)
    return kNotCurrent;
  isOpen_ = false;
  auto pop = commandTo(object_);
  return failure(api.profiler.rangePop(&pop), "cuptiRangeProfilerPopRange");
}

CounterFailure CounterContext::evaluate(const CounterApi& api, CounterValues& values) noexcept {
  auto info = parameters<cupti::CounterDataInfo>();
  info.data = data_.bytes;
  info.dataBytes = data_.size;
  if (const Status status = api.profiler.counterDataInfo(&info); status != Status::Success)
    return failure(status, "cuptiRangeProfilerGetCounterDataInfo");
  double answers[kMostMetrics];
  for (std::size_t at = 0; at < info.ranges; ++at) {
    auto range = parameters<cupti::RangeInfo>();
    range.data = data_.bytes;
    range.dataBytes = data_.size;
    range.range = at;
    range.delimiter = "/";
    if (const Status status = api.profiler.rangeInfo(&range); status != Status::Success)
      return failure(status, "cuptiRangeProfilerCounterDataGetRangeInfo");
    auto request = parameters<cupti::Evaluate>();
    request.host = group_->host;
    request.data = data_.bytes;
    request.dataBytes = data_.size;
    request.range = at;
    request.names = group_->metrics.names;
    request.count = group_->metrics.count;
    request.values = answers;
    if (const Status status = api.profiler.evaluate(&request); status != Status::Success)
      return failure(status, "cuptiProfilerHostEvaluateToGpuValues");
    const auto number = static_cast<std::uint32_t>(std::strtoul(range.name, nullptr, 10));
    for (std::uint32_t metric = 0; metric < group_->metrics.count; ++metric)
      values.take({number, device_, group_->metrics.names[metric], answers[metric]});
  }
  return {};
}

CounterFailure CounterContext::finish(const CounterApi& api,
                                      CounterValues& values,
                                      std::uint64_t& lost) noexcept {
  if (group_ == nullptr)
    return {};
  const Current current(api.driver, handle_);
  if (!current)
    return kNotCurrent;
  auto stop = parameters<cupti::RangeStop>();
  stop.object = object_;
  if (const Status status = api.profiler.rangeStop(&stop); status != Status::Success)
    return failure(status, "cuptiRangeProfilerStop");
  auto decode = parameters<cupti::RangeDecode>();
  decode.object = object_;
  if (const Status status = api.profiler.rangeDecode(&decode); status != Status::Success)
    return failure(status, "cuptiRangeProfilerDecodeData");
  lost += decode.dropped;
  const CounterFailure failed = evaluate(api, values);
  group_ = nullptr;
  return failed;
}

void CounterContext::drop(const CounterApi& api) noexcept {
  if (object_ == nullptr)
    return;
  const Current current(api.driver, handle_);
  auto command = commandTo(object_);
  if (current && isOpen_)
    api.profiler.rangePop(&command);
  if (current && group_ != nullptr) {
    auto stop = parameters<cupti::RangeStop>();
    stop.object = object_;
    api.profiler.rangeStop(&stop);
  }
  isOpen_ = false;
  group_ = nullptr;
}

void CounterContext::abandon(const CounterApi& api) noexcept {
  drop(api);
  if (object_ != nullptr) {
    const Current current(api.driver, handle_);
    auto command = commandTo(object_);
    if (current)
      api.profiler.rangeDisable(&command);
  }
  forget(api);
}

void CounterContext::forget(const CounterApi& api) noexcept {
  releaseGroups(api.profiler, plan_);
  data_.release();
  object_ = nullptr;
  group_ = nullptr;
  isOpen_ = false;
  isFollower_ = false;
  handle_ = nullptr;
}

}  // namespace sonde::preload::cuda
