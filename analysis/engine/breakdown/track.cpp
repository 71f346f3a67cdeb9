#include "analysis/engine/breakdown/track.h"

#include <queue>

#include <algorithm>
#include <functional>
#include <utility>

namespace sonde::engine::breakdown {

std::vector<Track> tracksOf(std::vector<Span> spans) {
  const auto begins = [](const Span& a, const Span& b) { return a.begin < b.begin; };
  if (!std::is_sorted(spans.begin(), spans.end(), begins))
    std::stable_sort(spans.begin(), spans.end(), begins);
  std::vector<Track> tracks;
  // The track that becomes free first, and when.
  using Free = std::pair<std::int64_t, std::size_t>;
  std::priority_queue<Free, std::vector<Free>, std::greater<>> free;
  for (const Span& span : spans) {
    if (span.end <= span.begin)
      continue;
    std::size_t place = tracks.size();
    if (!free.empty() && free.top().first <= span.begin) {
      place = free.top().second;
      free.pop();
    } else {
      tracks.emplace_back();
    }
    tracks[place].add(span);
    free.emplace(span.end, place);
  }
  return tracks;
}

}  // namespace sonde::engine::breakdown
