#include "analysis/engine/device/collectives.h"

#include "analysis/model/words.h"
#include "analysis/store/statement.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

namespace sonde::engine::device {
namespace {

using store::Statement;

// A kernel's times are by its host's clock. The view has put its collective's times on the common
// clock, so this one shifts the kernel's by the same amount.
constexpr std::string_view kCallsSql =
    "SELECT c.job_key, c.seq, c.op, c.size, c.bytes, c.process_id, c.rank, c.start_ns + "
    "coalesce(k.start_ns - o.start_ns, 0), coalesce(k.dur_ns, c.dur_ns), coalesce(k.start_ns, "
    "o.start_ns), coalesce(o.root = g.position, 0) FROM v_collective c JOIN collective o ON o.id = "
    "c.id LEFT JOIN communicator g ON g.id = o.communicator_id LEFT JOIN kernel k ON k.id = "
    "c.kernel_id WHERE coalesce(k.dur_ns, c.dur_ns) IS NOT NULL ORDER BY 7 IS NULL, 7, 6, 8";

bool isPointToPoint(std::string_view op) noexcept {
  return op == "send" || op == "receive";
}

// When all ranks that this rank needs had arrived; at least itself. nullopt: some of them are not
// in the trace.
std::optional<std::int64_t> canGoOnFrom(const JoinedCollective& collective,
                                        const Arrival& rank,
                                        const Arrival* root) {
  using model::CollectiveNeeds;
  const CollectiveNeeds needs = model::needsOf(collective.op);
  const bool isRooted = needs == CollectiveNeeds::Root || needs == CollectiveNeeds::RootAll;
  if (needs == CollectiveNeeds::Nothing || (isRooted && root == nullptr))
    return std::nullopt;
  if (needs == CollectiveNeeds::Root)
    return std::max(rank.beginNs, root->beginNs);
  return needs == CollectiveNeeds::All || rank.isRoot ? collective.lastArrivalNs() : rank.beginNs;
}

void split(JoinedCollective& collective) {
  std::vector<Arrival>& all = collective.arrivals;
  const auto last =
      std::max_element(all.begin(), all.end(), [](const Arrival& a, const Arrival& b) {
        return a.beginNs < b.beginNs;
      });
  collective.last = static_cast<std::size_t>(last - all.begin());
  const auto root =
      std::find_if(all.begin(), all.end(), [](const Arrival& each) { return each.isRoot; });
  // Older files of torch.profiler have times in whole microseconds.
  constexpr std::int64_t kRoundingNs = 2'000;
  for (Arrival& arrival : all) {
    const auto from =
        canGoOnFrom(collective, arrival, root == all.end() ? nullptr : std::to_address(root));
    collective.isKnown &= from.has_value();
    collective.fits &= !from || arrival.endNs + kRoundingNs >= *from;
    const std::int64_t took = arrival.endNs - arrival.beginNs;
    arrival.waitNs = std::min(from.value_or(arrival.beginNs) - arrival.beginNs, took);
    arrival.transferNs = took - arrival.waitNs;
  }
  if (!collective.isSplit())
    for (Arrival& arrival : all)
      arrival.waitNs = arrival.transferNs = 0;
}

std::optional<std::int64_t> larger(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && b ? std::max(*a, *b) : a ? a : b;
}

// Bandwidth of one collective in bytes per second, over its transfer if all ranks' times are known.
std::optional<double> bandwidthOf(const JoinedCollective& collective) {
  std::int64_t ns = std::numeric_limits<std::int64_t>::max();
  if (collective.isWhole())
    ns = collective.longestTransferNs();
  else
    for (const Arrival& arrival : collective.arrivals)
      ns = std::min(ns, arrival.endNs - arrival.beginNs);
  if (!collective.bytes || *collective.bytes <= 0 || ns <= 0)
    return std::nullopt;
  return static_cast<double>(*collective.bytes) * 1e9 / static_cast<double>(ns);
}

struct Gathered {
  std::vector<std::int64_t> ns;
  std::vector<double> bandwidths;
  std::int64_t waitNs = 0;
  std::int64_t transferNs = 0;
  std::int64_t unfit = 0;
  bool allWhole = true;

  void add(const JoinedCollective& collective) {
    for (const Arrival& arrival : collective.arrivals) {
      ns.push_back(arrival.endNs - arrival.beginNs);
      waitNs += arrival.waitNs;
      transferNs += arrival.transferNs;
    }
    unfit += collective.isJoined() && !collective.isSplit() ? 1 : 0;
    allWhole = allWhole && collective.isWhole();
    if (const auto bandwidth = bandwidthOf(collective))
      bandwidths.push_back(*bandwidth);
  }
};

std::int64_t medianOf(std::vector<std::int64_t> values) {
  return spreadOf(std::move(values)).p50;
}

}  // namespace

std::int64_t JoinedCollective::firstArrivalNs() const noexcept {
  std::int64_t first = arrivals.front().beginNs;
  for (const Arrival& arrival : arrivals)
    first = std::min(first, arrival.beginNs);
  return first;
}

std::int64_t JoinedCollective::lastEndNs() const noexcept {
  std::int64_t end = arrivals.front().endNs;
  for (const Arrival& arrival : arrivals)
    end = std::max(end, arrival.endNs);
  return end;
}

std::int64_t JoinedCollective::firstEndNs() const noexcept {
  std::int64_t first = arrivals.front().endNs;
  for (const Arrival& arrival : arrivals)
    first = std::min(first, arrival.endNs);
  return first;
}

std::int64_t JoinedCollective::longestTransferNs() const noexcept {
  std::int64_t longest = 0;
  for (const Arrival& arrival : arrivals)
    longest = std::max(longest, arrival.transferNs);
  return longest;
}

bool JoinedCollective::isWhole() const noexcept {
  return isSplit() && static_cast<std::int64_t>(arrivals.size()) == size;
}

Result<std::vector<JoinedCollective>> readCollectives(const store::Database& trace) {
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare(kCallsSql));
  std::map<std::tuple<std::string, std::int64_t, std::string>, std::size_t> places;
  std::vector<JoinedCollective> collectives;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      break;
    const std::string op(rows.text(2));
    std::size_t place = collectives.size();
    if (!rows.isNull(1) && !isPointToPoint(op))
      place =
          places.try_emplace({std::string(rows.text(0)), rows.integer(1), op}, place).first->second;
    if (place == collectives.size())
      collectives.emplace_back();
    JoinedCollective& collective = collectives[place];
    collective.group = rows.text(0);
    collective.seq = rows.optionalInteger(1);
    collective.op = op;
    collective.size = std::max(collective.size, rows.integer(3));
    collective.bytes = larger(collective.bytes, rows.optionalInteger(4));
    Arrival& arrival = collective.arrivals.emplace_back();
    arrival.processId = rows.integer(5);
    arrival.rank = rows.optionalInteger(6);
    arrival.beginNs = rows.integer(7);
    arrival.endNs = arrival.beginNs + std::max<std::int64_t>(rows.integer(8), 0);
    arrival.hostBeginNs = rows.integer(9);
    arrival.isRoot = rows.integer(10) != 0;
  }
  for (JoinedCollective& collective : collectives)
    split(collective);
  std::stable_sort(collectives.begin(),
                   collectives.end(),
                   [](const JoinedCollective& a, const JoinedCollective& b) {
                     return a.firstArrivalNs() < b.firstArrivalNs();
                   });
  return collectives;
}

double busFactor(std::string_view op, std::int64_t ranks) noexcept {
  if (ranks < 2)
    return 1;
  const auto n = static_cast<double>(ranks);
  if (op == "allreduce")
    return 2 * (n - 1) / n;
  const bool sendsToAll = op == "allgather" || op == "reducescatter" || op == "alltoall" ||
                          op == "gather" || op == "scatter";
  return sendsToAll ? (n - 1) / n : 1;
}

std::vector<CollectiveRow> collectiveRows(const std::vector<JoinedCollective>& collectives) {
  std::map<std::tuple<std::string, std::int64_t, std::optional<std::int64_t>>, Gathered> groups;
  for (const JoinedCollective& collective : collectives)
    groups[{collective.op, collective.size, collective.bytes}].add(collective);
  std::vector<CollectiveRow> rows;
  std::int64_t totalNs = 0;
  for (auto& [key, group] : groups) {
    CollectiveRow& row = rows.emplace_back();
    std::tie(row.op, row.size, row.bytes) = key;
    row.ns = spreadOf(std::move(group.ns));
    totalNs += row.ns.total;
    row.waitNs = group.waitNs;
    row.transferNs = group.transferNs;
    row.unfit = group.unfit;
    row.fromTransfers = group.allWhole;
    if (group.bandwidths.empty())
      continue;
    row.algorithmBytesPerSecond = metrics::median(std::move(group.bandwidths));
    row.busBytesPerSecond = *row.algorithmBytesPerSecond * busFactor(row.op, row.size);
  }
  if (totalNs > 0)
    for (CollectiveRow& row : rows)
      row.share = static_cast<double>(row.ns.total) / static_cast<double>(totalNs);
  std::stable_sort(rows.begin(), rows.end(), [](const CollectiveRow& a, const CollectiveRow& b) {
    return a.ns.total > b.ns.total;
  });
  return rows;
}

ClockCheck checkClocks(const std::vector<JoinedCollective>& collectives) {
  std::vector<std::int64_t> ends;
  std::vector<std::int64_t> arrivals;
  for (const JoinedCollective& collective : collectives) {
    if (!collective.isJoined() || !model::isRendezvous(collective.op))
      continue;
    ends.push_back(collective.lastEndNs() - collective.firstEndNs());
    arrivals.push_back(collective.lastArrivalNs() - collective.firstArrivalNs());
  }
  ClockCheck check;
  check.collectives = static_cast<std::int64_t>(ends.size());
  check.endSpreadNs = medianOf(std::move(ends));
  check.arrivalSpreadNs = medianOf(std::move(arrivals));
  // Ends this close together count as simultaneous: eight ranks on one host leave within 7 µs, and
  // waking a thread takes some tens of µs.
  constexpr std::int64_t kTogetherNs = 100'000;
  check.agree = check.endSpreadNs <= kTogetherNs || check.endSpreadNs <= check.arrivalSpreadNs / 4;
  return check;
}

}  // namespace sonde::engine::device
