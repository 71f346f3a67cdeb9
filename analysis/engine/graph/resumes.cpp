#include "analysis/engine/graph/resumes.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace sonde::engine::graph {
namespace {

using waits::Wait;

// When the thread had last recorded the end of something in (from, until); `from` if never. The
// wait itself may end at `until`.
std::int64_t lastEndIn(const std::vector<std::int64_t>& ends,
                       std::int64_t from,
                       std::int64_t until) {
  const auto behind = std::lower_bound(ends.begin(), ends.end(), until);
  return behind == ends.begin() ? from : std::max(from, *(behind - 1));
}

class Resumes {
 public:
  Resumes(waits::Waits& waits, const waits::Lanes& lanes)
      : waits_(waits), ends_(lanes.count, nullptr) {
    for (const auto& [id, facts] : lanes.threads)
      ends_[facts.lane] = &facts.ends;
  }

  std::vector<Resume> find() {
    addWaits();
    assumeLags();
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
      waits_.early.add(ready - end);
      return;
    }
    Resume resume = what;
    resume.lane = lane;
    resume.atNs = begin == Wait::kStart ? end : std::max(begin, ready);
    if (what.meeting == kNoMeeting && isWokenByThreads(what) && begin != Wait::kStart)
      passLag(resume, end);
    resume.hasWaited = begin < resume.atNs;
    resume.idleFromNs = begin == Wait::kStart ? end : lastEndIn(*ends_[lane], begin, resume.atNs);
    found_.push_back(resume);
  }

  bool isWokenByThreads(const Resume& what) const {
    for (std::uint32_t i = what.firstWait; i < what.lastWait; ++i)
      if (ends_[waits_.waits[i].waker] == nullptr)
        return false;
    return true;
  }

  // A message on its way, and a thread that wakes up, take their time also while the one who needs
  // it is busy. So the thread goes on at the end of its wait, unless it did something before.
  void passLag(Resume& resume, std::int64_t end) const {
    const std::vector<std::int64_t>& ends = *ends_[resume.lane];
    const auto next = std::upper_bound(ends.begin(), ends.end(), resume.atNs);
    if (next != ends.end() && *next < end)
      return;
    resume.lagNs = end - resume.atNs;
    resume.atNs = end;
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
            {.firstWait = first, .lastWait = last});
      first = last;
    }
  }

  void addMeetings() {
    for (std::uint32_t i = 0; i < waits_.meetings.size(); ++i) {
      const std::int64_t ready = lastArrivalNs(waits_.meetings[i]);
      for (const waits::Meeting::Waiting& each : waits_.meetings[i].waiting)
        if (ends_[each.lane] != nullptr)
          add(each.lane, each.begin, each.end, ready, {.meeting = i});
    }
  }

  // Messages that had come before their receiver asked for them took as long on their way as most
  // others of the same two threads: 90 % of those that were waited for took this long.
  void assumeLags() {
    using Pair = std::pair<LaneIndex, LaneIndex>;
    std::map<Pair, std::vector<std::int64_t>> lags;
    const auto pairOf = [this](const Resume& each) {
      return Pair(waits_.waits[each.firstWait].waker, each.lane);
    };
    const auto isByThread = [this](const Resume& each) {
      return ends_[waits_.waits[each.firstWait].waker] != nullptr;
    };
    for (const Resume& each : found_)
      if (each.hasWaited && isByThread(each))
        lags[pairOf(each)].push_back(each.lagNs);
    for (auto& [pair, all] : lags)
      std::nth_element(
          all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 10), all.end());
    for (Resume& each : found_) {
      if (each.hasWaited || !isByThread(each))
        continue;
      const auto known = lags.find(pairOf(each));
      if (known == lags.end())
        continue;
      const std::int64_t passed = each.atNs - waits_.waits[each.firstWait].wakerNs;
      each.lagNs = std::min(known->second[known->second.size() / 10], passed);
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
  std::vector<const std::vector<std::int64_t>*> ends_;  // by lane; nullptr: a stream
  std::vector<Resume> found_;
};

}  // namespace

std::int64_t lastArrivalNs(const waits::Meeting& meeting) {
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (const waits::Meeting::Arrival& each : meeting.arrivals)
    last = std::max(last, each.at);
  return last;
}

std::vector<Resume> resumesOf(waits::Waits& waits, const waits::Lanes& lanes) {
  return Resumes(waits, lanes).find();
}

}  // namespace sonde::engine::graph
