#include "analysis/engine/align/common_frame.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace sonde::engine::align {
namespace {

constexpr std::int64_t kNoBound = std::numeric_limits<std::int64_t>::max();

std::int64_t tightest(const HostBounds::PairBounds& pair) {
  std::int64_t least = kNoBound;
  for (const Bound& bound : pair.bounds)
    least = std::min(least, bound.apartNs);
  return least;
}

// Finds a shift for each host along the ways from the reference.
class Shifts {
 public:
  Shifts(std::size_t hosts, const std::vector<HostBounds::PairBounds>& pairs)
      : neighbours_(hosts), shifts_(hosts) {
    for (const auto& pair : pairs) {
      tightest_[{pair.from, pair.to}] = tightest(pair);
      neighbours_[pair.from].push_back(pair.to);
      neighbours_[pair.to].push_back(pair.from);
    }
  }

  std::vector<std::optional<std::int64_t>> find() {
    std::vector<HostIndex> open{0};
    shifts_[0] = 0;
    for (std::size_t next = 0; next < open.size(); ++next) {
      const HostIndex host = open[next];
      for (const HostIndex other : neighbours_[host])
        if (!shifts_[other]) {
          shifts_[other] = *shifts_[host] - behind(host, other);
          open.push_back(other);
        }
    }
    return std::move(shifts_);
  }

 private:
  // How far the clock of `host` is behind that of `other`, roughly.
  std::int64_t behind(HostIndex host, HostIndex other) const {
    const auto onward = tightest_.find({host, other});
    const auto back = tightest_.find({other, host});
    if (onward == tightest_.end())
      return -back->second;
    if (back == tightest_.end())
      return onward->second;
    return onward->second / 2 - back->second / 2;
  }

  std::map<HostBounds::Pair, std::int64_t> tightest_;
  std::vector<std::vector<HostIndex>> neighbours_;
  std::vector<std::optional<std::int64_t>> shifts_;
};

}  // namespace

CommonFrame frameOf(std::size_t hosts, const std::vector<HostBounds::PairBounds>& pairs) {
  const auto shifts = Shifts(hosts, pairs).find();
  CommonFrame frame;
  for (const auto& shift : shifts)
    frame.shiftNs.push_back(shift.value_or(0));
  std::int64_t first = kNoBound;
  std::int64_t last = -kNoBound;
  for (const auto& pair : pairs)
    if (shifts[pair.from]) {
      first = std::min(first, pair.bounds.front().sentNs + *shifts[pair.from]);
      last = std::max(last, pair.bounds.back().sentNs + *shifts[pair.from]);
    }
  if (first > last)
    return frame;
  frame.originNs = first + (last - first) / 2;
  frame.halfSpan = static_cast<double>(last - first) / 2;
  for (const auto& pair : pairs) {
    if (!shifts[pair.from])
      continue;
    FramedPair& framed = frame.pairs.emplace_back(FramedPair{pair.from, pair.to, {}});
    const std::int64_t between = *shifts[pair.to] - *shifts[pair.from];
    for (const Bound& bound : pair.bounds)
      framed.bounds.push_back(
          {static_cast<double>(bound.sentNs + *shifts[pair.from] - frame.originNs),
           static_cast<double>(bound.apartNs + between)});
  }
  return frame;
}

}  // namespace sonde::engine::align
