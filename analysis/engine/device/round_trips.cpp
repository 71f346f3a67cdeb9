#include "analysis/engine/device/round_trips.h"

#include <algorithm>
#include <map>

namespace sonde::engine::device {
namespace {

constexpr std::string_view kToHost = "device_to_host";
constexpr std::string_view kToDevice = "host_to_device";

std::vector<const Work*> hostCopiesOf(const DeviceWork& device) {
  std::vector<const Work*> copies;
  for (const StreamWork& stream : device.streams)
    for (const Work& work : stream.work)
      if (work.kind == WorkKind::Copy && (work.copyKind == kToHost || work.copyKind == kToDevice))
        copies.push_back(&work);
  std::stable_sort(copies.begin(), copies.end(), [](const Work* a, const Work* b) {
    return a->begin < b->begin;
  });
  return copies;
}

// Joins the copies of one iteration, by begin.
class Trips {
 public:
  Trips(RoundTrips& found, std::int64_t minBytes) : found_(found), minBytes_(minBytes) {}

  void add(const Work& copy) {
    ++found_.copies;
    if (!copy.bytes) {
      ++found_.unsized;
      return;
    }
    if (*copy.bytes < minBytes_)
      return;
    std::vector<const Work*>& away = away_[*copy.bytes];
    if (copy.copyKind == kToHost)
      away.push_back(&copy);
    else if (!away.empty() && away.back()->end <= copy.begin)
      close(away, copy);
  }

  bool any() const noexcept { return any_; }

 private:
  void close(std::vector<const Work*>& away, const Work& back) {
    const std::int64_t ns = away.back()->end - away.back()->begin + back.end - back.begin;
    away.pop_back();
    any_ = true;
    ++found_.trips;
    found_.bytes += *back.bytes;
    found_.ns += ns;
    if (*back.bytes > found_.largestBytes) {
      found_.largestBytes = *back.bytes;
      found_.scopeId = back.scopeId;
    }
  }

  RoundTrips& found_;
  std::int64_t minBytes_;
  std::map<std::int64_t, std::vector<const Work*>> away_;  // to the host, by size
  bool any_ = false;
};

}  // namespace

RoundTrips roundTripsIn(const DeviceWork& device,
                        const std::vector<metrics::IterationTime>& iterations,
                        std::int64_t minBytes) {
  RoundTrips found;
  const std::vector<const Work*> copies = hostCopiesOf(device);
  for (const metrics::IterationTime& iteration : iterations) {
    const auto first = std::lower_bound(
        copies.begin(), copies.end(), iteration.startNs, [](const Work* copy, std::int64_t ns) {
          return copy->begin < ns;
        });
    Trips trips(found, minBytes);
    for (auto copy = first;
         copy != copies.end() && (*copy)->begin < iteration.startNs + iteration.durNs;
         ++copy)
      trips.add(**copy);
    found.iterations += trips.any() ? 1 : 0;
  }
  return found;
}

}  // namespace sonde::engine::device
