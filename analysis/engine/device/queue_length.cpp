#include "analysis/engine/device/queue_length.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace sonde::engine::device {
namespace {

using Changes = std::vector<std::pair<std::int64_t, int>>;  // instant, and change of the length

Changes changesOf(const StreamWork& stream,
                  const metrics::Intervals& windows,
                  std::int64_t& launched) {
  Changes changes;
  for (const Work& work : stream.work) {
    if (!work.launch)
      continue;
    const metrics::Intervals queued = metrics::clip(windows, {work.launch->begin, work.begin});
    launched += queued.empty() ? 0 : 1;
    for (const auto& [from, to] : queued) {
      changes.emplace_back(from, 1);
      changes.emplace_back(to, -1);
    }
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

QueueLength queueIn(const StreamWork& stream, const metrics::Intervals& windows) {
  QueueLength queue;
  queue.windowNs = metrics::totalLength(windows);
  if (queue.windowNs == 0)
    return queue;
  std::map<std::int64_t, std::int64_t> nsByLength;
  std::int64_t length = 0;
  std::int64_t since = 0;
  std::int64_t counted = 0;
  for (const auto& [at, change] : changesOf(stream, windows, queue.launched)) {
    if (length > 0 && at > since) {
      nsByLength[length] += at - since;
      counted += at - since;
    }
    since = at;
    length += change;
  }
  if (queue.windowNs > counted)
    nsByLength[0] += queue.windowNs - counted;
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
