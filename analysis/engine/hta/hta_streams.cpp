#include "analysis/engine/hta/hta_streams.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace sonde::engine::hta {
namespace {

constexpr std::array<std::string_view, 4> kCountedLaunches = {
    "cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync", "cudaMemsetAsync"};
constexpr std::array<std::string_view, 11> kQueueingLaunches = {"cudaLaunchKernel",
                                                                "cudaLaunchKernelExC",
                                                                "cuLaunchKernel",
                                                                "cuLaunchKernelEx",
                                                                "cudaMemcpyAsync",
                                                                "cudaMemsetAsync",
                                                                "hipLaunchKernel",
                                                                "hipExtModuleLaunchKernel",
                                                                "hipMemcpyAsync",
                                                                "hipMemsetAsync",
                                                                "hipMemcpyWithStream"};

template <std::size_t size>
bool isAmong(const std::array<std::string_view, size>& names, const Event& event) {
  return event.call &&
         std::find(names.begin(), names.end(), std::string_view(event.call->name)) != names.end();
}

// An instant, and whether the value falls then. At one instant increases come first.
struct Change {
  std::int64_t at;
  double by;

  bool operator<(const Change& other) const noexcept {
    return std::tuple(at, by < 0) < std::tuple(other.at, other.by < 0);
  }
};

std::string copyName(std::string_view name) {
  constexpr std::size_t kLetters = 11;  // of "Memcpy DtoH"
  if (name.starts_with("Memset"))
    return "Memset";
  return std::string(name.starts_with("Memcpy") ? name.substr(0, kLetters) : "Memcpy Unknown");
}

StreamQueue queueOf(std::int64_t stream, std::vector<Change> changes) {
  constexpr double kFull = 1024;
  std::stable_sort(changes.begin(), changes.end());
  StreamQueue queue;
  queue.stream = stream;
  std::vector<double> lengths;
  double length = 0;
  for (std::size_t at = 0; at < changes.size(); ++at) {
    length += changes[at].by;
    lengths.push_back(length);
    if (length >= kFull && at + 1 < changes.size())
      queue.fullUs += changes[at + 1].at - changes[at].at;
  }
  queue.length = describe(std::move(lengths));
  return queue;
}

}  // namespace

std::vector<StreamIdle> idleOf(const RankEvents& rank) {
  constexpr std::int64_t kShort = 30;
  std::map<std::int64_t, std::vector<const Event*>> streams;
  for (const Event& event : rank.events)
    if (!event.isSync)
      streams[event.stream].push_back(&event);
  std::vector<StreamIdle> rows;
  for (const auto& [number, events] : streams) {
    StreamIdle& row = rows.emplace_back();
    row.stream = number;
    for (std::size_t at = 1; at < events.size(); ++at) {
      const std::int64_t before = events[at - 1]->end;
      const std::int64_t gap = events[at]->begin - before;
      const bool isHost = events[at]->call && events[at]->call->begin > before;
      (isHost ? row.hostWait : gap < kShort ? row.kernelWait : row.other) += gap;
    }
  }
  return rows;
}

std::vector<StreamQueue> queuesOf(const RankEvents& rank) {
  std::map<std::int64_t, std::vector<Change>> streams;
  for (const Event& event : rank.events) {
    if (!isAmong(kQueueingLaunches, event))
      continue;
    streams[event.stream].push_back({event.call->begin, 1});
    streams[event.stream].push_back({event.begin, -1});
  }
  std::vector<StreamQueue> rows;
  rows.reserve(streams.size());
  for (auto& [number, changes] : streams)
    rows.push_back(queueOf(number, std::move(changes)));
  return rows;
}

std::vector<MemoryBandwidth> memoryBandwidthOf(const RankEvents& rank) {
  constexpr double kRoundingError = 1e-9;  // of a sum that returned to 0
  std::map<std::string, std::vector<Change>> kinds;
  for (const Event& event : rank.events) {
    if (event.type != EventType::Memory)
      continue;
    const double bandwidth = event.gigabytesPerSecond.value_or(0);
    std::vector<Change>& changes = kinds[copyName(event.name)];
    changes.push_back({event.begin, bandwidth});
    changes.push_back({event.begin + std::max<std::int64_t>(event.length(), 1), -bandwidth});
  }
  std::vector<MemoryBandwidth> rows;
  for (auto& [name, changes] : kinds) {
    std::stable_sort(changes.begin(), changes.end());
    std::vector<double> values;
    double value = 0;
    for (const Change& change : changes) {
      value += change.by;
      if (value > kRoundingError)
        values.push_back(value);
    }
    if (!values.empty())
      rows.push_back({name, describe(std::move(values))});
  }
  return rows;
}

LaunchCounts launchesOf(const RankEvents& rank) {
  constexpr std::int64_t kSlowUs = 50;
  constexpr std::int64_t kLateUs = 100;
  LaunchCounts counts;
  for (const Event& event : rank.events) {
    if (!isAmong(kCountedLaunches, event))
      continue;
    const std::int64_t call = event.call->end - event.call->begin;
    const std::int64_t delay = std::max<std::int64_t>(event.begin - event.call->end, 0);
    ++counts.count;
    counts.callUs += call;
    counts.eventUs += event.length();
    counts.delayUs += delay;
    counts.shorter += event.length() < call ? 1 : 0;
    counts.slowCalls += call > kSlowUs ? 1 : 0;
    counts.late += delay > kLateUs ? 1 : 0;
  }
  return counts;
}

}  // namespace sonde::engine::hta
