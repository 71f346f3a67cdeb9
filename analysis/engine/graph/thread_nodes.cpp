#include "analysis/engine/graph/thread_nodes.h"

#include <algorithm>

namespace sonde::engine::graph {
namespace {

using Place = std::vector<Resume>::const_iterator;

// The resumes of one thread, while its time is passed.
class Passage {
 public:
  Passage(Place first, Place last) : next_(first), last_(last) {}

  // Whether the thread is idle in all of [begin, end). Requires: times do not decrease.
  bool isIdle(std::int64_t begin, std::int64_t end) {
    passTo(begin);
    return next_ != last_ && next_->idleFromNs <= begin && next_->atNs >= end;
  }

 private:
  void passTo(std::int64_t ns) {
    while (next_ != last_ && next_->atNs <= ns)
      ++next_;
  }

  Place next_;
  Place last_;
};

void sortUnique(std::vector<std::int64_t>& times) {
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
}

bool contains(const std::vector<std::int64_t>& times, std::int64_t ns) {
  return std::binary_search(times.begin(), times.end(), ns);
}

}  // namespace

ThreadNodes::ThreadNodes(LaneIndex lanes, const std::vector<Resume>& resumes)
    : resumes_(resumes), cuts_(lanes), needed_(lanes), marked_(lanes) {
  for (const Resume& each : resumes) {
    cuts_[each.lane].push_back(each.idleFromNs);
    cuts_[each.lane].push_back(each.atNs);
  }
}

void ThreadNodes::sortCuts(LaneIndex lane, std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t>& cuts = cuts_[lane];
  cuts.insert(cuts.end(), needed_[lane].begin(), needed_[lane].end());
  cuts.push_back(begin);
  cuts.push_back(end);
  std::erase_if(cuts, [&](std::int64_t ns) { return ns < begin || ns > end; });
  sortUnique(cuts);
  sortUnique(needed_[lane]);
  sortUnique(marked_[lane]);
}

void ThreadNodes::add(const waits::ThreadFacts& thread, LaneNodes& nodes) {
  if (thread.ends.empty())
    return;
  const std::int64_t end = thread.ends.back();
  std::int64_t begin = end;
  for (const waits::Outermost& each : thread.outermost)
    begin = std::min(begin, each.begin);
  sortCuts(thread.lane, begin, end);
  const auto byLane = [](const Resume& each, LaneIndex lane) { return each.lane < lane; };
  const Place first = std::lower_bound(resumes_.begin(), resumes_.end(), thread.lane, byLane);
  const Place last = std::lower_bound(first, resumes_.end(), thread.lane + 1, byLane);
  Passage passage(first, last);
  Place instant = first;
  const std::vector<std::int64_t>& cuts = cuts_[thread.lane];
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    if (i > 0 && !passage.isIdle(cuts[i - 1], cuts[i]))
      nodes.add(NodeKind::Host, cuts[i - 1], cuts[i]);
    while (instant != last && instant->atNs < cuts[i])
      ++instant;
    bool goesOn = false;
    for (Place each = instant; each != last && each->atNs == cuts[i]; ++each)
      goesOn = goesOn || each->hasWaited;
    if (goesOn && contains(needed_[thread.lane], cuts[i]))
      nodes.add(NodeKind::Host, cuts[i], cuts[i]);
    if (contains(marked_[thread.lane], cuts[i]))
      nodes.add(NodeKind::Host, cuts[i], cuts[i]);
  }
  cuts_[thread.lane] = {};
  needed_[thread.lane] = {};
  marked_[thread.lane] = {};
}

}  // namespace sonde::engine::graph
