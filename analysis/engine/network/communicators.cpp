#include "analysis/engine/network/communicators.h"

#include "analysis/engine/intervals/time_range.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace sonde::engine::network {

using device::CollectiveRow;
using device::JoinedCollective;

namespace {

using CollectiveKind = std::tuple<std::string, std::int64_t, std::optional<std::int64_t>>;

struct OfKind {
  std::int64_t count = 0;
  metrics::Interval longest{};
};

// From the first arrival to the last end.
metrics::Interval timeOf(const JoinedCollective& collective) {
  return {collective.firstArrivalNs(), collective.lastEndNs()};
}

std::map<CollectiveKind, OfKind> countKinds(const std::vector<JoinedCollective>& collectives) {
  std::map<CollectiveKind, OfKind> kinds;
  for (const JoinedCollective& each : collectives) {
    OfKind& kind = kinds[{each.op, each.size, each.bytes}];
    ++kind.count;
    const metrics::Interval time = timeOf(each);
    if (time.end - time.begin >= kind.longest.end - kind.longest.begin)
      kind.longest = time;
  }
  return kinds;
}

}  // namespace

std::vector<CommunicatorRow> communicatorRows(const std::vector<JoinedCollective>& collectives,
                                              const std::optional<metrics::Interval>& within) {
  std::map<std::string, std::vector<JoinedCollective>> groups;
  for (const JoinedCollective& each : collectives)
    if (each.op != "send" && each.op != "receive" && metrics::sharesTime(timeOf(each), within))
      groups[each.group].push_back(each);
  std::vector<CommunicatorRow> rows;
  std::int64_t totalNs = 0;
  for (const auto& [group, own] : groups) {
    const auto kinds = countKinds(own);
    for (CollectiveRow& row : device::collectiveRows(own)) {
      totalNs += row.ns.total;
      const OfKind& kind = kinds.at({row.op, row.size, row.bytes});
      rows.push_back({group, std::move(row), kind.count, kind.longest});
    }
  }
  if (totalNs > 0)
    for (CommunicatorRow& each : rows)
      each.row.share = static_cast<double>(each.row.ns.total) / static_cast<double>(totalNs);
  std::stable_sort(
      rows.begin(), rows.end(), [](const CommunicatorRow& a, const CommunicatorRow& b) {
        return a.row.ns.total > b.row.ns.total;
      });
  return rows;
}

}  // namespace sonde::engine::network
