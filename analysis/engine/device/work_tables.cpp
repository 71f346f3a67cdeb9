#include "analysis/engine/device/work_tables.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace sonde::engine::device {
namespace {

using metrics::Intervals;

template <typename Use>
void eachIn(const DeviceWork& device, const Intervals& windows, Use use) {
  for (const StreamWork& stream : device.streams)
    for (const metrics::Interval& window : windows) {
      auto at =
          std::lower_bound(stream.work.begin(),
                           stream.work.end(),
                           window.begin,
                           [](const Work& work, std::int64_t begin) { return work.begin < begin; });
      for (; at != stream.work.end() && at->begin < window.end; ++at)
        use(*at);
    }
}

double shareOf(std::int64_t ns, const Intervals& windows) {
  const std::int64_t all = metrics::totalLength(windows);
  return all > 0 ? static_cast<double>(ns) / static_cast<double>(all) : 0;
}

template <typename Row, typename Total>
void sortByTotal(std::vector<Row>& rows, Total total) {
  std::stable_sort(
      rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return total(a) > total(b); });
}

double rate(std::int64_t bytes, std::int64_t ns) {
  return ns > 0 ? static_cast<double>(bytes) * 1e9 / static_cast<double>(ns) : 0;
}

struct Copies {
  std::vector<std::int64_t> ns;
  std::vector<double> rates;
  std::int64_t bytes = 0;
  std::int64_t nsWithBytes = 0;

  void add(const Work& work) {
    const std::int64_t took = work.end - work.begin;
    ns.push_back(took);
    if (!work.bytes)
      return;
    bytes += *work.bytes;
    nsWithBytes += took;
    if (took > 0)
      rates.push_back(rate(*work.bytes, took));
  }
};

struct Launches {
  std::set<std::int64_t> calls;
  std::vector<std::int64_t> callNs;
  std::vector<std::int64_t> workNs;
  std::vector<std::int64_t> delayNs;
  std::int64_t shorter = 0;

  void add(const Work& work) {
    const std::int64_t call = work.launch->end - work.launch->begin;
    if (calls.insert(work.launch->sliceId).second)
      callNs.push_back(call);
    workNs.push_back(work.end - work.begin);
    delayNs.push_back(std::max<std::int64_t>(work.begin - work.launch->end, 0));
    shorter += workNs.back() < call ? 1 : 0;
  }
};

std::int64_t above(const std::vector<std::int64_t>& values, std::int64_t limit) {
  return std::count_if(
      values.begin(), values.end(), [&](std::int64_t value) { return value > limit; });
}

}  // namespace

std::vector<KernelRow> kernelsIn(const DeviceWork& device, const Intervals& windows) {
  std::map<std::pair<std::int64_t, WorkKind>, std::vector<std::int64_t>> byName;
  eachIn(device, windows, [&](const Work& work) {
    if (work.kind != WorkKind::Copy)
      byName[{work.nameId, work.kind}].push_back(work.end - work.begin);
  });
  std::vector<KernelRow> rows;
  rows.reserve(byName.size());
  for (auto& [key, durations] : byName) {
    const Spread ns = spreadOf(std::move(durations));
    rows.push_back({key.first, key.second, ns, shareOf(ns.total, windows)});
  }
  sortByTotal(rows, [](const KernelRow& row) { return row.ns.total; });
  return rows;
}

std::vector<CopyRow> copiesIn(const DeviceWork& device, const Intervals& windows) {
  std::map<std::pair<std::string, std::optional<bool>>, Copies> byKind;
  eachIn(device, windows, [&](const Work& work) {
    if (work.kind == WorkKind::Copy)
      byKind[{work.copyKind, work.pinned}].add(work);
  });
  std::vector<CopyRow> rows;
  rows.reserve(byKind.size());
  for (auto& [key, copies] : byKind) {
    CopyRow row;
    std::tie(row.kind, row.pinned) = key;
    row.ns = spreadOf(std::move(copies.ns));
    row.share = shareOf(row.ns.total, windows);
    row.bytes = copies.bytes;
    if (copies.nsWithBytes > 0)
      row.bytesPerSecond = rate(copies.bytes, copies.nsWithBytes);
    if (!copies.rates.empty()) {
      row.p50BytesPerSecond = metrics::median(copies.rates);
      row.maxBytesPerSecond = *std::max_element(copies.rates.begin(), copies.rates.end());
    }
    rows.push_back(std::move(row));
  }
  sortByTotal(rows, [](const CopyRow& row) { return row.ns.total; });
  return rows;
}

std::vector<LaunchRow> launchesIn(const DeviceWork& device, const Intervals& windows) {
  std::map<std::int64_t, Launches> byCall;
  eachIn(device, windows, [&](const Work& work) {
    if (work.launch)
      byCall[work.launch->nameId].add(work);
  });
  std::vector<LaunchRow> rows;
  rows.reserve(byCall.size());
  for (auto& [name, launches] : byCall)
    rows.push_back({name,
                    spreadOf(launches.callNs),
                    spreadOf(launches.workNs),
                    spreadOf(launches.delayNs),
                    launches.shorter,
                    above(launches.callNs, kSlowCallNs),
                    above(launches.delayNs, kLateWorkNs)});
  sortByTotal(rows, [](const LaunchRow& row) { return row.callNs.total; });
  return rows;
}

}  // namespace sonde::engine::device
