#include "analysis/engine/graph/lane_nodes.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <unordered_map>

namespace sonde::engine::graph {
namespace {

using waits::Wait;

// When the thread had last recorded the end of something in (from, until]; `from` if never.
std::int64_t lastEndIn(const std::vector<std::int64_t>& ends,
                       std::int64_t from,
                       std::int64_t until) {
  const auto behind = std::upper_bound(ends.begin(), ends.end(), until);
  return behind == ends.begin() ? from : std::max(from, *(behind - 1));
}

class Resumes {
 public:
  Resumes(waits::Waits& waits, const waits::Lanes& lanes, std::int64_t& early)
      : waits_(waits), early_(early), ends_(lanes.count, nullptr) {
    for (const auto& [id, facts] : lanes.threads)
      ends_[facts.lane] = &facts.ends;
  }

  std::vector<Resume> find() {
    addWaits();
    addMeetings();
    std::sort(found_.begin(), found_.end(), [](const Resume& a, const Resume& b) {
      return std::tie(a.lane, a.atNs, a.idleFromNs) < std::tie(b.lane, b.atNs, b.idleFromNs);
    });
    separate();
    return std::move(found_);
  }

 private:
  // Requires: begin <= end.
  void add(LaneIndex lane,
           std::int64_t begin,
           std::int64_t end,
           std::int64_t ready,
           const Resume& what) {
    if (ready > end) {
      ++early_;
      return;
    }
    if (begin == Wait::kStart) {
      found_.push_back({lane, end, end, what.firstWait, what.lastWait, what.meeting});
      return;
    }
    const std::int64_t at = std::max(begin, ready);
    found_.push_back({lane,
                      lastEndIn(*ends_[lane], begin, at),
                      at,
                      what.firstWait,
                      what.lastWait,
                      what.meeting});
  }

  void addWaits() {
    std::vector<Wait>& all = waits_.waits;
    std::sort(all.begin(), all.end(), [](const Wait& a, const Wait& b) {
      return std::tie(a.lane, a.begin, a.end) < std::tie(b.lane, b.begin, b.end);
    });
    for (std::uint32_t first = 0; first < all.size();) {
      std::uint32_t last = first;
      std::int64_t ready = std::numeric_limits<std::int64_t>::min();
      for (; last < all.size() && all[last].lane == all[first].lane &&
             all[last].begin == all[first].begin && all[last].end == all[first].end;
           ++last)
        ready = std::max(ready, all[last].wakerNs + all[last].lagNs);
      if (ends_[all[first].lane] != nullptr)
        add(all[first].lane,
            all[first].begin,
            all[first].end,
            std::min(ready, all[first].end),
            {0, 0, 0, first, last, kNoMeeting});
      first = last;
    }
  }

  void addMeetings() {
    for (std::uint32_t i = 0; i < waits_.meetings.size(); ++i) {
      const std::int64_t ready = lastArrivalNs(waits_.meetings[i]);
      for (const waits::Meeting::Waiting& each : waits_.meetings[i].waiting)
        if (ends_[each.lane] != nullptr)
          add(each.lane, each.begin, each.end, ready, {0, 0, 0, 0, 0, i});
    }
  }

  // A thread is idle in one wait at a time: the one that ends first has the time before its end.
  void separate() {
    for (std::size_t i = 1; i < found_.size(); ++i)
      if (found_[i].lane == found_[i - 1].lane)
        found_[i].idleFromNs =
            std::min(found_[i].atNs, std::max(found_[i].idleFromNs, found_[i - 1].atNs));
  }

  waits::Waits& waits_;
  std::int64_t& early_;
  std::vector<const std::vector<std::int64_t>*> ends_;  // by lane; nullptr: a stream
  std::vector<Resume> found_;
};

}  // namespace

NodeIndex LaneNodes::add(NodeKind kind,
                         std::int64_t beginNs,
                         std::int64_t endNs,
                         std::int64_t row) {
  return builder_.addNode(
      static_cast<LaneIndex>(first_.size() - 1), kind, beginNs, endNs - beginNs, row);
}

std::pair<NodeIndex, NodeIndex> LaneNodes::rangeOf(LaneIndex lane) const {
  const NodeIndex end = lane + 1 < first_.size() ? first_[lane + 1]
                                                 : static_cast<NodeIndex>(builder_.soFar().nodes());
  return {first_[lane], end};
}

NodeIndex LaneNodes::endedBy(LaneIndex lane, std::int64_t ns) const {
  auto [low, high] = rangeOf(lane);
  const NodeIndex first = low;
  while (low < high) {
    const NodeIndex middle = low + (high - low) / 2;
    if (builder_.soFar().endNs(middle) <= ns)
      low = middle + 1;
    else
      high = middle;
  }
  return low == first ? kNoNode : low - 1;
}

NodeIndex LaneNodes::beginsFrom(LaneIndex lane, std::int64_t ns) const {
  auto [low, high] = rangeOf(lane);
  const NodeIndex end = high;
  while (low < high) {
    const NodeIndex middle = low + (high - low) / 2;
    if (builder_.soFar().beginNs[middle] < ns)
      low = middle + 1;
    else
      high = middle;
  }
  return low == end ? kNoNode : low;
}

std::int64_t lastArrivalNs(const waits::Meeting& meeting) {
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (const waits::Meeting::Arrival& each : meeting.arrivals)
    last = std::max(last, each.at);
  return last;
}

std::vector<Resume> resumesOf(waits::Waits& waits, const waits::Lanes& lanes, std::int64_t& early) {
  return Resumes(waits, lanes, early).find();
}

}  // namespace sonde::engine::graph
