#include "analysis/engine/whatif/thread_spans.h"

#include <algorithm>

namespace sonde::engine::whatif {

void ThreadSpans::join() {
  for (auto& [lane, spans] : spans_) {
    std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
      return a.beginNs < b.beginNs;
    });
    std::size_t kept = 0;
    for (const Span& each : spans) {
      if (kept > 0 && each.beginNs < spans[kept - 1].endNs)
        spans[kept - 1].endNs = std::max(spans[kept - 1].endNs, each.endNs);
      else
        spans[kept++] = each;
    }
    spans.resize(kept);
  }
}

const std::vector<Span>& ThreadSpans::of(graph::LaneIndex lane) const {
  static const std::vector<Span> kNone;
  const auto found = spans_.find(lane);
  return found == spans_.end() ? kNone : found->second;
}

bool ThreadSpans::contains(graph::LaneIndex lane, std::int64_t ns) const {
  const std::vector<Span>& all = of(lane);
  const auto after =
      std::upper_bound(all.begin(), all.end(), ns, [](std::int64_t at, const Span& each) {
        return at < each.beginNs;
      });
  return after != all.begin() && ns < (after - 1)->endNs;
}

ThreadSpans ThreadSpans::with(const ThreadSpans& other) const {
  ThreadSpans both;
  for (const auto& [lane, spans] : spans_) {
    auto next = other.of(lane).begin();
    const auto end = other.of(lane).end();
    for (const Span& each : spans) {
      while (next != end && next->endNs <= each.beginNs)
        ++next;
      for (auto at = next; at != end && at->beginNs < each.endNs; ++at)
        both.add(lane, {std::max(each.beginNs, at->beginNs), std::min(each.endNs, at->endNs)});
    }
  }
  return both;
}

}  // namespace sonde::engine::whatif
