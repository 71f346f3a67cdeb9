#include "analysis/engine/roofline/counted_points.h"

#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

namespace sonde::engine::roofline {
namespace {

struct MetricRow {
  std::string device;
  std::string operation;
  std::string name;
  double mean = 0;
  std::int64_t count = 0;
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;

  SONDE_COLUMNS(device, operation, name, mean, count, startNs, endNs)
};
// `{}`: which stretches count. The mean over the operation's instances of each metric's sum over an
// instance's stretches.
constexpr std::string_view kMetrics =
    "SELECT device, operation, name, avg(value) AS mean, count(*) AS count, min(begin) AS "
    "start_ns, "
    "max(end) AS end_ns FROM (SELECT coalesce(d.name, 'device') AS device, m.operation, m.name, "
    "sum(m.value) AS value, min(m.start_ns) AS begin, min(m.start_ns) + sum(m.dur_ns) AS end FROM "
    "v_device_metric m LEFT JOIN device d ON d.id = m.device_id WHERE m.name GLOB '*.sum' AND "
    "m.value NOTNULL AND {} GROUP BY m.rank, m.slice_id, m.name, d.name) GROUP BY device, "
    "operation, name";

std::string metricsSql(const std::optional<metrics::Interval>& within) {
  return fmt::format(
      fmt::runtime(kMetrics),
      within ? fmt::format(
                   "m.start_ns < {} AND m.start_ns + m.dur_ns > {}", within->end, within->begin)
             : "1");
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Operations of one count. Instructions of half precision count twice, as packed ones; those that
// multiply and add have two operations.
double flopsOf(std::string_view metric) {
  if (metric.ends_with("_hfma_pred_on.sum"))
    return 4;
  if (metric.ends_with("_ffma_pred_on.sum") || metric.ends_with("_dfma_pred_on.sum"))
    return 2;
  if (contains(metric, "_op_h") && metric.ends_with("_pred_on.sum"))
    return 2;
  if ((contains(metric, "_op_f") || contains(metric, "_op_d")) && metric.ends_with("_pred_on.sum"))
    return 1;
  return metric.starts_with("sm__ops_path_tensor_") ? 1 : 0;
}

}  // namespace

Result<std::vector<CountedPoint>> countedPoints(const store::Database& trace,
                                                const std::optional<metrics::Interval>& within) {
  std::map<std::pair<std::string, std::string>, CountedPoint> found;
  SONDE_TRY(store::forEach<MetricRow>(trace, metricsSql(within), [&](const MetricRow& row) {
    CountedPoint& counted = found[{row.device, row.operation}];
    counted.device = row.device;
    RooflinePoint& point = counted.point;
    point.isCounted = true;
    point.operation = row.operation;
    point.flops += flopsOf(row.name) * row.mean;
    if (row.name.starts_with("dram__bytes_"))
      point.bytes += row.mean;
    if (row.name.starts_with("sm__ops_path_tensor_") && row.mean > 0)
      counted.usesTensorCores = true;
    if (row.name != "gpu__time_duration.sum")
      return;
    point.ns += row.mean;
    point.count = row.count;
    point.longest = {row.startNs, row.endNs};
  }));
  std::vector<CountedPoint> points;
  for (auto& [key, counted] : found) {
    RooflinePoint& point = counted.point;
    if (!(point.ns > 0) || !(point.bytes > 0))
      continue;
    // Sums over the instances, as in other points.
    const auto count = static_cast<double>(point.count);
    point.ns *= count;
    point.flops *= count;
    point.bytes *= count;
    points.push_back(std::move(counted));
  }
  return points;
}

}  // namespace sonde::engine::roofline
