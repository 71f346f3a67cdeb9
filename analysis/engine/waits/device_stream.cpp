#include "analysis/engine/waits/device_stream.h"

#include "analysis/engine/waits/waits.h"

#include <algorithm>

namespace sonde::engine::waits {
namespace {

// Keeps the latest time of each stream.
void addLatest(const StreamDone& done, std::vector<StreamDone>& into) {
  const auto known = std::find_if(
      into.begin(), into.end(), [&](const StreamDone& each) { return each.lane == done.lane; });
  if (known == into.end())
    into.push_back(done);
  else
    known->ns = std::max(known->ns, done.ns);
}

}  // namespace

std::int64_t DeviceStream::add(std::int64_t launch, std::int64_t begin, std::int64_t end) {
  const std::int64_t after = works_.empty() ? Wait::kStart : std::min(works_.back().until, begin);
  const std::int64_t until = works_.empty() ? end : std::max(works_.back().until, end);
  // A launch that another thread made meanwhile counts as earlier, as the stream saw it.
  launch = works_.empty() ? launch : std::max(works_.back().launch, launch);
  works_.push_back({launch, begin, after, until});
  return after;
}

void DeviceStream::addWait(std::int64_t ns, const std::vector<StreamDone>& what) {
  Pending pending{ns, {}};
  if (const Pending* const before = pendingAt(ns))
    pending.what = before->what;
  for (const StreamDone& each : what)
    addLatest(each, pending.what);
  pending_.push_back(std::move(pending));
}

std::optional<std::int64_t> DeviceStream::doneBefore(std::int64_t ns) const {
  const auto behind = firstAfter(ns);
  return behind == works_.begin() ? std::nullopt : std::optional((behind - 1)->until);
}

std::vector<StreamDone> DeviceStream::needsAt(std::int64_t ns) const {
  std::vector<StreamDone> needs;
  if (const Pending* const pending = pendingAt(ns))
    needs = pending->what;
  if (const auto done = doneBefore(ns))
    addLatest({lane_, *done}, needs);
  return needs;
}

const DeviceStream::Work* DeviceStream::nextAfter(std::int64_t ns) const {
  const auto behind = firstAfter(ns);
  return behind == works_.end() ? nullptr : &*behind;
}

std::optional<std::int64_t> DeviceStream::lastEndIn(std::int64_t after, std::int64_t until) const {
  const auto behind =
      std::upper_bound(works_.begin(), works_.end(), until, [](std::int64_t ns, const Work& work) {
        return ns < work.until;
      });
  if (behind == works_.begin() || (behind - 1)->until <= after)
    return std::nullopt;
  return (behind - 1)->until;
}

std::vector<DeviceStream::Work>::const_iterator DeviceStream::firstAfter(std::int64_t ns) const {
  return std::upper_bound(works_.begin(), works_.end(), ns, [](std::int64_t at, const Work& work) {
    return at < work.launch;
  });
}

const DeviceStream::Pending* DeviceStream::pendingAt(std::int64_t ns) const {
  const auto behind = std::upper_bound(
      pending_.begin(), pending_.end(), ns, [](std::int64_t at, const Pending& each) {
        return at < each.ns;
      });
  if (behind == pending_.begin())
    return nullptr;
  const auto work = firstAfter(ns);
  const bool isOver = work != works_.begin() && (work - 1)->launch > (behind - 1)->ns;
  return isOver ? nullptr : &*(behind - 1);
}

}  // namespace sonde::engine::waits
