#include "analysis/engine/device/host_costs.h"

#include "analysis/store/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace sonde::engine::device {
namespace {

using metrics::Interval;
using store::Statement;

// The waiting calls of a process by begin. ?1: process; ?2 to ?3: window.
std::string waitingSql() {
  return fmt::format(
      "SELECT s.start_ns, n.text, s.dur_ns FROM thread t CROSS JOIN slice s ON s.thread_id = t.id "
      "JOIN string n ON n.id = s.name_id WHERE t.process_id = ?1 AND s.kind = 'api' AND s.start_ns "
      ">= ?2 AND s.start_ns < ?3 AND s.dur_ns IS NOT NULL AND {}",
      kIsWaitingCall);
}
constexpr std::string_view kGraphSql =
    "SELECT s.start_ns, n.text, s.dur_ns, s.id FROM thread t CROSS JOIN slice s ON s.thread_id = "
    "t.id JOIN "
    "string n ON n.id = s.name_id WHERE t.process_id = ?1 AND s.kind = 'api' AND s.start_ns >= ?2 "
    "AND s.start_ns < ?3 AND s.dur_ns IS NOT NULL AND n.text GLOB '*GraphLaunch*'";
constexpr std::string_view kOperatorSql =
    "SELECT s.start_ns, n.text, s.dur_ns, s.id, s.parent_id FROM thread t CROSS JOIN slice s ON "
    "s.thread_id = "
    "t.id JOIN string n ON n.id = s.name_id WHERE t.process_id = ?1 AND s.kind = 'operator' AND "
    "s.start_ns >= ?2 AND s.start_ns < ?3 AND s.dur_ns IS NOT NULL";

class Costs {
 public:
  Costs(const store::Database& trace,
        std::int64_t processId,
        const std::vector<DeviceWork>& devices,
        const metrics::Intervals& windows)
      : trace_(trace), processId_(processId), devices_(devices), windows_(windows) {}

  Result<HostCosts> read() {
    HostCosts costs;
    SONDE_TRY(readWaiting(costs.waiting));
    SONDE_TRY(readGraphs(costs.graphs));
    SONDE_TRY(readOperators(costs.operators));
    return costs;
  }

 private:
  template <typename Use>
  Result<void> each(std::string_view sql, Use use) {
    if (windows_.empty())
      return {};
    SONDE_TRY_ASSIGN(Statement rows, trace_.prepare(sql));
    rows.bindAll(processId_, windows_.front().begin, windows_.back().end);
    while (true) {
      SONDE_TRY_ASSIGN(const bool row, rows.step());
      if (!row)
        return {};
      if (metrics::holds(windows_, rows.integer(0)))
        use(rows);
    }
  }
  template <typename Use>
  void eachWork(Use use) {
    for (const DeviceWork& device : devices_)
      for (const StreamWork& stream : device.streams)
        for (const Work& work : stream.work)
          use(work);
  }
  double shareOf(std::int64_t ns) const {
    const std::int64_t all = metrics::totalLength(windows_);
    return all > 0 ? static_cast<double>(ns) / static_cast<double>(all) : 0;
  }

  Result<void> readWaiting(std::vector<WaitingCallRow>& rows);
  Result<void> readGraphs(std::vector<GraphLaunchRow>& rows);
  Result<void> readOperators(std::vector<OperatorRow>& rows);
  metrics::Intervals busyTime() const;

  const store::Database& trace_;
  std::int64_t processId_;
  const std::vector<DeviceWork>& devices_;
  const metrics::Intervals& windows_;
};

metrics::Intervals Costs::busyTime() const {
  metrics::Intervals busy;
  for (const DeviceWork& device : devices_)
    for (const Activity& activity : activityOf(device))
      busy.push_back(activity.time);
  return metrics::normalise(std::move(busy));
}

// The part of disjoint ascending intervals that lies in `time`, in ns.
std::int64_t lengthIn(const metrics::Intervals& busy, Interval time) {
  std::int64_t ns = 0;
  auto at = std::lower_bound(
      busy.begin(), busy.end(), time.begin, [](const Interval& each, std::int64_t begin) {
        return each.end <= begin;
      });
  for (; at != busy.end() && at->begin < time.end; ++at)
    ns += std::min(at->end, time.end) - std::max(at->begin, time.begin);
  return ns;
}

Result<void> Costs::readWaiting(std::vector<WaitingCallRow>& rows) {
  const metrics::Intervals busy = busyTime();
  struct Calls {
    std::vector<std::int64_t> ns;
    std::int64_t busyNs = 0;
  };
  std::map<std::string, Calls, std::less<>> byName;
  SONDE_TRY(each(waitingSql(), [&](const Statement& row) {
    Calls& calls = byName[std::string(row.text(1))];
    const std::int64_t took = std::max<std::int64_t>(row.integer(2), 0);
    calls.ns.push_back(took);
    calls.busyNs += lengthIn(busy, {row.integer(0), row.integer(0) + took});
  }));
  for (auto& [name, calls] : byName) {
    const Spread ns = spreadOf(std::move(calls.ns));
    rows.push_back({name, ns, calls.busyNs, shareOf(ns.total)});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const WaitingCallRow& a, const WaitingCallRow& b) {
    return a.ns.total > b.ns.total;
  });
  return {};
}

Result<void> Costs::readGraphs(std::vector<GraphLaunchRow>& rows) {
  struct Launched {
    std::string call;
    std::int64_t work = 0;
    Interval span{};
  };
  std::unordered_map<std::int64_t, Launched> launches;
  std::map<std::string, std::vector<std::int64_t>> calls;
  SONDE_TRY(each(kGraphSql, [&](const Statement& row) {
    launches[row.integer(3)].call = row.text(1);
    calls[std::string(row.text(1))].push_back(std::max<std::int64_t>(row.integer(2), 0));
  }));
  if (launches.empty())
    return {};
  eachWork([&](const Work& work) {
    const auto launch = work.launch ? launches.find(work.launch->sliceId) : launches.end();
    if (launch == launches.end())
      return;
    Interval& span = launch->second.span;
    const bool isFirst = launch->second.work++ == 0;
    span.begin = isFirst ? work.begin : std::min(span.begin, work.begin);
    span.end = isFirst ? work.end : std::max(span.end, work.end);
  });
  for (auto& [name, durations] : calls) {
    GraphLaunchRow& row = rows.emplace_back();
    row.call = name;
    row.callNs = spreadOf(std::move(durations));
    for (const auto& [id, launched] : launches) {
      if (launched.call != name)
        continue;
      row.work += launched.work;
      row.deviceNs += launched.span.end - launched.span.begin;
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const GraphLaunchRow& a, const GraphLaunchRow& b) {
    return a.callNs.total > b.callNs.total;
  });
  return {};
}

// Collects rows of operators from their calls.
class OperatorRows {
 public:
  // `row`: of kOperatorSql.
  void addCall(const Statement& row) {
    const auto [name, isNew] = byName_.try_emplace(std::string(row.text(1)), rows_.size());
    if (isNew) {
      rows_.emplace_back().name = name->first;
      durations_.emplace_back();
    }
    const std::int64_t took = std::max<std::int64_t>(row.integer(2), 0);
    durations_[name->second].push_back(took);
    calls_[row.integer(3)] = {name->second, took, row.integer(4)};
  }
  void addWork(const Work& work) {
    const auto call = calls_.find(work.scopeId);
    if (call == calls_.end())
      return;
    ++rows_[call->second.row].work;
    rows_[call->second.row].deviceNs += work.end - work.begin;
  }
  // Ordered by total, longest first; shares are not set yet.
  std::vector<OperatorRow> finish() {
    for (const auto& [id, call] : calls_) {
      rows_[call.row].selfNs += call.ns;
      if (const auto around = calls_.find(call.parent); around != calls_.end())
        rows_[around->second.row].selfNs -= call.ns;
    }
    for (std::size_t row = 0; row < rows_.size(); ++row)
      rows_[row].ns = spreadOf(std::move(durations_[row]));
    std::stable_sort(rows_.begin(), rows_.end(), [](const OperatorRow& a, const OperatorRow& b) {
      return a.ns.total > b.ns.total;
    });
    return std::move(rows_);
  }

 private:
  struct Called {
    std::size_t row;
    std::int64_t ns;
    std::int64_t parent;
  };
  std::vector<OperatorRow> rows_;
  std::vector<std::vector<std::int64_t>> durations_;  // of each row
  std::map<std::string, std::size_t, std::less<>> byName_;
  std::unordered_map<std::int64_t, Called> calls_;  // by slice
};

Result<void> Costs::readOperators(std::vector<OperatorRow>& rows) {
  OperatorRows operators;
  SONDE_TRY(each(kOperatorSql, [&](const Statement& row) { operators.addCall(row); }));
  eachWork([&](const Work& work) { operators.addWork(work); });
  rows = operators.finish();
  for (OperatorRow& row : rows)
    row.share = shareOf(row.selfNs);
  return {};
}

}  // namespace

Result<HostCosts> hostCosts(const store::Database& trace,
                            std::int64_t processId,
                            const std::vector<DeviceWork>& devices,
                            const metrics::Intervals& windows) {
  return Costs(trace, processId, devices, windows).read();
}

}  // namespace sonde::engine::device
