#include "analysis/engine/device/queue_length.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace sonde::engine::device {
namespace {

using Changes = std::vector<std::pair<std::int64_t, int>>;  // instant, by how many

Changes changesOf(const StreamWork& stream, metrics::Interval window, std::int64_t& launched) {
  Changes changes;
  for (const Work& work : stream.work) {
    if (!work.launch)
      continue;
    const std::int64_t from = std::max(work.launch->begin, window.begin);
    const std::int64_t to = std::min(work.begin, window.end);
    if (from >= to)
      continue;
    ++launched;
    changes.emplace_back(from, 1);
    changes.emplace_back(to, -1);
  }
  std::sort(changes.begin(), changes.end());
  return changes;
}

std::int64_t lengthAt(const std::map<std::int64_t, std::int64_t>& nsByLength, double fraction) {
  double total = 0;
  for (const auto& [length, ns] : nsByLength)
    total += static_cast<double>(ns);
  double until = 0;
  for (const auto& [length, ns] : nsByLength) {
    until += static_cast<double>(ns);
    if (until >= fraction * total)
      return length;
  }
  return nsByLength.empty() ? 0 : nsByLength.rbegin()->first;
}

}  // namespace

QueueLength queueIn(const StreamWork& stream, metrics::Interval window) {
  QueueLength queue;
  queue.windowNs = std::max<std::int64_t>(window.end - window.begin, 0);
  if (queue.windowNs == 0)
    return queue;
  std::map<std::int64_t, std::int64_t> nsByLength;
  std::int64_t length = 0;
  std::int64_t since = window.begin;
  for (const auto& [at, change] : changesOf(stream, window, queue.launched)) {
    if (at > since)
      nsByLength[length] += at - since;
    since = at;
    length += change;
  }
  if (window.end > since)
    nsByLength[length] += window.end - since;
  double sum = 0;
  for (const auto& [held, ns] : nsByLength) {
    sum += static_cast<double>(held) * static_cast<double>(ns);
    queue.fullNs += held >= kFullQueue ? ns : 0;
  }
  queue.mean = sum / static_cast<double>(queue.windowNs);
  queue.p50 = lengthAt(nsByLength, 0.5);
  queue.p95 = lengthAt(nsByLength, 0.95);
  queue.p99 = lengthAt(nsByLength, 0.99);
  queue.max = nsByLength.rbegin()->first;
  return queue;
}

}  // namespace sonde::engine::device
