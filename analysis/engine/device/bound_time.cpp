#include "analysis/engine/device/bound_time.h"

#include "analysis/engine/device/device_time.h"
#include "analysis/engine/device/host_costs.h"
#include "analysis/engine/metrics/throughput.h"
#include "analysis/store/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde::engine::device {
namespace {

using metrics::Interval;
using metrics::Intervals;
using store::Statement;

// ?1 process; ?2 and ?3: the window.
std::string callSql() {
  return fmt::format(
      "SELECT s.thread_id, s.kind = 'backward', s.start_ns, s.start_ns + s.dur_ns FROM thread t "
      "CROSS JOIN slice s ON s.thread_id = t.id JOIN string n ON n.id = s.name_id WHERE "
      "t.process_id = ?1 AND s.dur_ns > 0 AND s.start_ns < ?3 AND s.start_ns + s.dur_ns > ?2 AND "
      "(s.kind = 'backward' OR (s.kind = 'api' AND {}))",
      kIsWaitingCall);
}

struct HostWaits {
  bool known = false;
  Intervals blocked;  // normal form
};

Result<bool> hasCalls(const store::Database& trace, std::int64_t processId) {
  SONDE_TRY_ASSIGN(
      Statement calls,
      trace.prepare("SELECT 1 FROM thread t CROSS JOIN slice s ON s.thread_id = t.id JOIN string n "
                    "ON n.id = s.name_id WHERE t.process_id = ?1 AND s.kind = 'api' AND (n.text "
                    "GLOB 'cu*' OR n.text GLOB 'hip*') LIMIT 1"));
  return calls.bindAll(processId).step();
}

Result<HostWaits> readWaits(const store::Database& trace, const metrics::RankProcess& rank) {
  HostWaits waits;
  SONDE_TRY_ASSIGN(waits.known, hasCalls(trace, rank.processId));
  if (!waits.known)
    return waits;
  SONDE_TRY_ASSIGN(const std::vector<std::int64_t> driving, metrics::iterationThreads(trace, rank));
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare(callSql()));
  rows.bindAll(rank.processId, rank.window.begin, rank.window.end);
  Intervals own;
  Intervals others;
  Intervals backwards;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      break;
    const bool drives = std::binary_search(driving.begin(), driving.end(), rows.integer(0));
    const Interval time{rows.integer(2), rows.integer(3)};
    if (rows.integer(1) == 0)
      (drives ? own : others).push_back(time);
    else if (drives)
      backwards.push_back(time);
  }
  waits.blocked = unite(
      metrics::normalise(std::move(own)),
      intersect(metrics::normalise(std::move(others)), metrics::normalise(std::move(backwards))));
  return waits;
}

// Joins the device with this name to a process that uses it.
constexpr std::string_view kDevice =
    "JOIN device d ON d.id = r.device_id AND d.kind || ' ' || d.ordinal = ?2 WHERE r.process_id = "
    "?1";

Result<std::optional<double>> readFilled(const store::Database& trace,
                                         const metrics::RankProcess& rank,
                                         const std::string& device) {
  SONDE_TRY_ASSIGN(
      Statement rows,
      trace.prepare(fmt::format("SELECT k.start_ns, k.start_ns + k.dur_ns, k.grid_x * k.grid_y * "
                                "k.grid_z, d.multiprocessors, coalesce(d.name, '') FROM stream r "
                                "JOIN kernel k ON k.stream_id = r.id {} AND k.dur_ns > 0 AND "
                                "k.grid_x > 0 AND k.grid_y > 0 AND k.grid_z > 0",
                                kDevice)));
  rows.bindAll(rank.processId, device);
  std::vector<Grid> grids;
  std::optional<std::int64_t> multiprocessors;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      break;
    grids.push_back({{rows.integer(0), rows.integer(1)}, rows.integer(2)});
    if (grids.size() == 1)
      multiprocessors =
          rows.isNull(3) ? metrics::multiprocessorsOf(rows.text(4)) : rows.optionalInteger(3);
  }
  if (multiprocessors.value_or(0) <= 0)
    return std::optional<double>();
  return filledAtMost(grids, *multiprocessors, metrics::countedOf(rank));
}

Result<SampledMean> readSampled(const store::Database& trace,
                                const metrics::RankProcess& rank,
                                const std::string& device) {
  SONDE_TRY_ASSIGN(
      Statement rows,
      trace.prepare(fmt::format(
          "SELECT x.ts_ns, x.value FROM counter c JOIN string n ON n.id = c.name_id JOIN sample x "
          "ON x.counter_id = c.id WHERE n.text = 'GPU busy' AND x.value IS NOT NULL AND "
          "c.device_id IN (SELECT d.id FROM stream r {}) ORDER BY x.ts_ns",
          kDevice)));
  rows.bindAll(rank.processId, device);
  std::vector<SampledShare> samples;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return meanOf(samples, metrics::countedOf(rank));
    samples.push_back({rows.integer(0), rows.real(1)});
  }
}

void addActivity(const DeviceWork& device,
                 const HostWaits& waits,
                 const Intervals& counted,
                 BoundTime& time) {
  const std::vector<Activity> activity = activityOf(device);
  Intervals kernels;
  Intervals busy;
  for (const Activity& each : activity) {
    busy.push_back(each.time);
    if (each.set != setOf(WorkKind::Copy))
      kernels.push_back(each.time);
  }
  time.windowNs = totalLength(counted);
  time.kernelNs = totalLength(intersect(metrics::normalise(std::move(kernels)), counted));
  busy = intersect(metrics::normalise(std::move(busy)), counted);
  time.busyNs = totalLength(busy);
  time.hostKnown = waits.known;
  if (!waits.known)
    return;
  const Intervals blocked = intersect(waits.blocked, counted);
  time.boundNs = totalLength(intersect(busy, blocked));
  time.uselessNs = totalLength(blocked) - time.boundNs;
  time.overlapNs = time.busyNs - time.boundNs;
  time.hostNs = time.windowNs - time.busyNs - time.uselessNs;
}

}  // namespace

SampledMean meanOf(const std::vector<SampledShare>& samples, const Intervals& windows) {
  SampledMean mean;
  for (std::size_t at = 1; at < samples.size(); ++at) {
    const std::int64_t ns = totalLength(clip(windows, {samples[at - 1].ns, samples[at].ns}));
    mean.ns += ns;
    mean.value += samples[at].value * static_cast<double>(ns);
  }
  if (mean.ns > 0)
    mean.value /= static_cast<double>(mean.ns);
  return mean;
}

std::optional<double> filledAtMost(const std::vector<Grid>& grids,
                                   std::int64_t multiprocessors,
                                   const Intervals& windows) {
  // when, and the change of the number of blocks
  std::vector<std::pair<std::int64_t, std::int64_t>> edges;
  for (const Grid& grid : grids)
    for (const Interval& time : clip(windows, grid.time)) {
      edges.emplace_back(time.begin, grid.blocks);
      edges.emplace_back(time.end, -grid.blocks);
    }
  std::sort(edges.begin(), edges.end());
  double filled = 0;
  double length = 0;
  std::int64_t blocks = 0;
  for (std::size_t at = 0; at < edges.size(); ++at) {
    if (blocks > 0) {
      const auto ns = static_cast<double>(edges[at].first - edges[at - 1].first);
      const double share = static_cast<double>(blocks) / static_cast<double>(multiprocessors);
      filled += std::min(share, 1.0) * ns;
      length += ns;
    }
    blocks += edges[at].second;
  }
  return length > 0 ? std::optional(filled / length) : std::nullopt;
}

Result<std::vector<BoundTime>> boundTimes(const store::Database& trace,
                                          const metrics::RankProcess& rank,
                                          const std::vector<DeviceWork>& devices) {
  std::vector<BoundTime> times;
  if (devices.empty())
    return times;
  SONDE_TRY_ASSIGN(const HostWaits waits, readWaits(trace, rank));
  const Intervals counted = metrics::countedOf(rank);
  for (const DeviceWork& device : devices) {
    BoundTime& time = times.emplace_back();
    time.device = device.name;
    addActivity(device, waits, counted, time);
    SONDE_TRY_ASSIGN(time.filledAtMost, readFilled(trace, rank, device.name));
    SONDE_TRY_ASSIGN(const SampledMean sampled, readSampled(trace, rank, device.name));
    time.sampledNs = sampled.ns;
    if (sampled.ns > 0)
      time.sampledBusy = sampled.value;
  }
  return times;
}

}  // namespace sonde::engine::device
