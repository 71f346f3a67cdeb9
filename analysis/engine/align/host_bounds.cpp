#include "analysis/engine/align/host_bounds.h"

#include <algorithm>
#include <map>

namespace sonde::engine::align {
namespace {

// Finds which hosts are bounded by each other: there is a way of pairs from each to each other one.
class MutualGroups {
 public:
  MutualGroups(std::size_t hosts, const std::vector<HostBounds::Pair>& pairs)
      : onward_(hosts), back_(hosts), group_(hosts, kNone) {
    for (const auto& [from, to] : pairs) {
      onward_[from].push_back(to);
      back_[to].push_back(from);
    }
    std::vector<bool> seen(hosts, false);
    std::vector<HostIndex> order;
    for (HostIndex host = 0; host < hosts; ++host)
      if (!seen[host])
        listByFinish(host, seen, order);
    HostIndex groups = 0;
    for (auto host = order.rbegin(); host != order.rend(); ++host)
      if (group_[*host] == kNone)
        markGroup(*host, groups++);
  }

  bool areMutual(HostIndex one, HostIndex other) const { return group_[one] == group_[other]; }

 private:
  static constexpr HostIndex kNone = static_cast<HostIndex>(-1);

  // Kosaraju's algorithm, without recursion.
  void listByFinish(HostIndex root, std::vector<bool>& seen, std::vector<HostIndex>& order) const {
    std::vector<std::pair<HostIndex, std::size_t>> open{{root, 0}};
    seen[root] = true;
    while (!open.empty()) {
      const HostIndex host = open.back().first;
      const std::size_t next = open.back().second++;
      if (next == onward_[host].size()) {
        order.push_back(host);
        open.pop_back();
      } else if (const HostIndex to = onward_[host][next]; !seen[to]) {
        seen[to] = true;
        open.emplace_back(to, 0);
      }
    }
  }
  void markGroup(HostIndex root, HostIndex group) {
    std::vector<HostIndex> open{root};
    group_[root] = group;
    while (!open.empty()) {
      const HostIndex host = open.back();
      open.pop_back();
      for (const HostIndex from : back_[host])
        if (group_[from] == kNone) {
          group_[from] = group;
          open.push_back(from);
        }
    }
  }

  std::vector<std::vector<HostIndex>> onward_;
  std::vector<std::vector<HostIndex>> back_;
  std::vector<HostIndex> group_;
};

}  // namespace

void HostBounds::addMessage(HostIndex from,
                            HostIndex to,
                            std::int64_t sentNs,
                            std::int64_t receivedNs) {
  if (from == to)
    return;
  ofMessages_[keyOf(from, to)].add({sentNs, receivedNs - sentNs});
  ++messages_[from];
  ++messages_[to];
}

void HostBounds::addArrival(HostIndex from,
                            HostIndex to,
                            std::int64_t arrivedNs,
                            std::int64_t leftNs) {
  if (from != to)
    ofArrivals_[keyOf(from, to)].add({arrivedNs, leftNs - arrivedNs});
}

void HostBounds::addTogether(HostIndex one,
                             HostIndex other,
                             std::int64_t oneNs,
                             std::int64_t otherNs) {
  if (one != other)
    together_[keyOf(one, other)].add({oneNs, otherNs - oneNs});
}

std::vector<HostBounds::PairBounds> HostBounds::pairs() {
  std::map<Pair, std::vector<Bound>> found;
  std::vector<Pair> connected;
  const auto keep = [&](Key key, const std::vector<Bound>& bounds) {
    std::vector<Bound>& all = found[pairOf(key)];
    all.insert(all.end(), bounds.begin(), bounds.end());
  };
  for (auto& [key, envelope] : ofMessages_) {
    keep(key, envelope.bounds());
    connected.push_back(pairOf(key));
  }
  for (auto& [key, envelope] : ofArrivals_)
    keep(key, envelope.bounds());
  const MutualGroups groups(hosts(), connected);
  for (const auto& [key, differences] : together_) {
    const auto [one, other] = pairOf(key);
    if (groups.areMutual(one, other))
      continue;
    for (const EndEstimate& each : differences.estimates()) {
      found[{one, other}].push_back({each.oneNs, each.laterNs + each.spreadNs});
      found[{other, one}].push_back({each.oneNs + each.laterNs, each.spreadNs - each.laterNs});
    }
  }
  std::vector<PairBounds> pairs;
  for (auto& [pair, bounds] : found) {
    std::sort(bounds.begin(), bounds.end(), [](const Bound& a, const Bound& b) {
      return a.sentNs < b.sentNs;
    });
    pairs.push_back({pair.first, pair.second, std::move(bounds)});
  }
  return pairs;
}

}  // namespace sonde::engine::align
