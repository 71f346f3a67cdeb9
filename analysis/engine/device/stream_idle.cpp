#include "analysis/engine/device/stream_idle.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace sonde::engine::device {
namespace {

using metrics::Interval;

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

// When the event `record` was reached: the last end of the work its stream had been given by then.
class EventTimes {
 public:
  explicit EventTimes(const DeviceWork& device) {
    for (const StreamWork& stream : device.streams)
      add(stream);
  }

  std::int64_t reachedNs(const EventWait& wait) const {
    const auto stream = std::find_if(streams_.begin(), streams_.end(), [&](const Stream& each) {
      return each.id == wait.recordStream;
    });
    if (stream == streams_.end())
      return kNever;
    const auto after =
        std::upper_bound(stream->ends.begin(),
                         stream->ends.end(),
                         wait.recordedNs,
                         [](std::int64_t at, const End& end) { return at < end.launchedNs; });
    return after == stream->ends.begin() ? kNever : std::prev(after)->endNs;
  }

 private:
  struct End {
    std::int64_t launchedNs;
    std::int64_t endNs;  // of all work launched until then
  };
  struct Stream {
    std::int64_t id;
    std::vector<End> ends;
  };

  void add(const StreamWork& stream) {
    Stream& own = streams_.emplace_back(Stream{stream.streamId, {}});
    for (const Work& work : stream.work)
      if (work.launch)
        own.ends.push_back({work.launch->begin, work.end});
    std::sort(own.ends.begin(), own.ends.end(), [](const End& a, const End& b) {
      return a.launchedNs < b.launchedNs;
    });
    for (std::size_t at = 1; at < own.ends.size(); ++at)
      own.ends[at].endNs = std::max(own.ends[at].endNs, own.ends[at - 1].endNs);
  }

  std::vector<Stream> streams_;
};

// Assigns the time since the last assigned end to one cause after the other.
class Splitter {
 public:
  Splitter(const std::vector<Activity>& activity, std::vector<IdleSpan>& spans)
      : activity_(activity), spans_(spans) {}

  void begin(std::int64_t at) { from_ = at; }
  void until(std::int64_t at, std::int64_t limit, IdleCause cause) {
    const std::int64_t to = std::min(at, limit);
    if (to <= from_)
      return;
    spans_.push_back({{from_, to}, cause});
    from_ = to;
  }
  // Splits the time until `limit` by whether the device worked for other streams.
  void device(std::int64_t limit) {
    auto at = std::lower_bound(
        activity_.begin(), activity_.end(), from_, [](const Activity& each, std::int64_t begin) {
          return each.time.end <= begin;
        });
    for (; at != activity_.end() && at->time.begin < limit; ++at) {
      until(at->time.begin, limit, IdleCause::Gap);
      until(at->time.end, limit, IdleCause::Busy);
    }
    until(limit, limit, IdleCause::Gap);
  }

 private:
  const std::vector<Activity>& activity_;
  std::vector<IdleSpan>& spans_;
  std::int64_t from_ = 0;
};

// The waits for events that held a stream, and until when.
class Holds {
 public:
  Holds(const StreamWork& stream, const EventTimes& events) {
    for (const EventWait& wait : stream.waits) {
      const std::int64_t earlier = holds_.empty() ? kNever : holds_.back().untilNs;
      holds_.push_back({wait.calledNs, std::max(earlier, events.reachedNs(wait))});
    }
  }
  // The end of the hold on work launched at `launchedNs`.
  std::int64_t untilNs(std::int64_t launchedNs) const {
    const auto after = std::upper_bound(
        holds_.begin(), holds_.end(), launchedNs, [](std::int64_t at, const Hold& hold) {
          return at < hold.calledNs;
        });
    return after == holds_.begin() ? kNever : std::prev(after)->untilNs;
  }

 private:
  struct Hold {
    std::int64_t calledNs;
    std::int64_t untilNs;  // includes all waits before it
  };
  std::vector<Hold> holds_;
};

// Splits the gap before `work`, which ends at `until`.
void splitGap(Splitter& splitter, const Holds& holds, const Work& work, std::int64_t until) {
  if (!work.launch) {
    splitter.until(until, until, IdleCause::Unknown);
    return;
  }
  splitter.until(work.launch->begin, until, IdleCause::Host);
  splitter.until(work.launch->end, until, IdleCause::Launching);
  splitter.until(holds.untilNs(work.launch->begin), until, IdleCause::Event);
  splitter.device(until);
}

std::vector<IdleSpan> idleOfStream(const StreamWork& stream,
                                   const Holds& holds,
                                   const std::vector<Activity>& activity,
                                   Interval window) {
  std::vector<IdleSpan> spans;
  Splitter splitter(activity, spans);
  std::int64_t busyUntil = window.begin;
  for (const Work& work : stream.work) {
    const std::int64_t begin = std::min(work.begin, window.end);
    if (begin > busyUntil) {
      splitter.begin(busyUntil);
      splitGap(splitter, holds, work, begin);
    }
    busyUntil = std::max(busyUntil, std::min(work.end, window.end));
  }
  splitter.begin(busyUntil);
  splitter.until(window.end, window.end, IdleCause::NoMore);
  return spans;
}

}  // namespace

std::string_view word(IdleCause cause) noexcept {
  constexpr std::array<std::string_view, kIdleCauses> kWords = {
      "host", "launching", "event", "busy", "gap", "unknown", "no_more"};
  return kWords[static_cast<std::size_t>(cause)];
}

std::vector<std::vector<IdleSpan>> idleOf(const DeviceWork& device,
                                          const std::vector<Activity>& activity,
                                          Interval window) {
  const EventTimes events(device);
  std::vector<std::vector<IdleSpan>> spans;
  spans.reserve(device.streams.size());
  for (const StreamWork& stream : device.streams)
    spans.push_back(idleOfStream(stream, Holds(stream, events), activity, window));
  return spans;
}

std::int64_t StreamIdle::idleNs() const noexcept {
  return std::accumulate(causeNs.begin(), causeNs.end(), std::int64_t{0});
}

StreamIdle idleIn(const std::vector<IdleSpan>& spans, const metrics::Intervals& windows) {
  StreamIdle idle;
  idle.windowNs = metrics::totalLength(windows);
  for (const Interval& window : windows) {
    auto at = std::lower_bound(
        spans.begin(), spans.end(), window.begin, [](const IdleSpan& each, std::int64_t begin) {
          return each.time.end <= begin;
        });
    for (; at != spans.end() && at->time.begin < window.end; ++at)
      idle.causeNs[static_cast<std::size_t>(at->cause)] +=
          std::min(at->time.end, window.end) - std::max(at->time.begin, window.begin);
  }
  return idle;
}

}  // namespace sonde::engine::device
