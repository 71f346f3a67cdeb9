#include "analysis/engine/training/tensors.h"

#include "analysis/engine/training/scalars.h"
#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace sonde::engine::training {
namespace {

struct NameRow {
  std::int64_t processId = 0;
  std::int64_t pid = 0;
  std::string collection;
  std::string name;
  std::int64_t count = 0;
  std::int64_t elements = 0;

  SONDE_COLUMNS(processId, pid, collection, name, count, elements)
};
constexpr std::string_view kNames =
    "SELECT t.process_id, p.pid, t.collection, n.text AS name, count(*) AS count, max(t.elements) "
    "AS elements FROM tensor t JOIN process p ON p.id = t.process_id JOIN string n ON n.id = "
    "t.name_id GROUP BY t.process_id, t.collection, t.name_id ORDER BY p.rank IS NULL, p.rank, "
    "p.id, t.collection, n.text";

struct TensorRow {
  std::int64_t id = 0;
  std::optional<std::int64_t> iteration;
  std::int64_t tsNs = 0;
  std::optional<double> minimum;
  std::optional<double> maximum;
  std::optional<double> mean;
  std::optional<double> l2;
  std::optional<double> p01;
  std::optional<double> p99;
  std::int64_t elements = 0;
  std::int64_t notFinite = 0;

  SONDE_COLUMNS(id, iteration, tsNs, minimum, maximum, mean, l2, p01, p99, elements, notFinite)
};
constexpr std::string_view kPoints =
    "SELECT rowid AS id, iteration, ts_ns, minimum, maximum, mean, l2, p01, p99, elements, nans + "
    "infs AS not_finite FROM tensor WHERE process_id = ?1 AND collection = ?2 AND name_id = "
    "(SELECT id FROM string WHERE text = ?3) ORDER BY ts_ns";

struct BinRow {
  std::int64_t id = 0;
  double begin = 0;
  double elements = 0;

  SONDE_COLUMNS(id, begin, elements)
};
constexpr std::string_view kBins =
    "SELECT t.rowid AS id, json_extract(e.value, '$[0]') AS begin, json_extract(e.value, '$[1]') "
    "AS elements FROM tensor t JOIN json_each(iif(json_valid(t.histogram), t.histogram, '[]')) e "
    "WHERE t.process_id = ?1 AND t.collection = ?2 AND t.name_id = (SELECT id FROM string WHERE "
    "text = ?3) AND e.type = 'array' ORDER BY t.rowid, e.key";

double orNan(const std::optional<double>& value) {
  return value.value_or(std::numeric_limits<double>::quiet_NaN());
}

TensorPoint pointOf(const TensorRow& row) {
  TensorPoint point;
  point.iteration = row.iteration.value_or(-1);
  point.time = {row.tsNs, row.tsNs};
  point.minimum = orNan(row.minimum);
  point.maximum = orNan(row.maximum);
  point.mean = orNan(row.mean);
  point.l2 = orNan(row.l2);
  point.p01 = orNan(row.p01);
  point.p99 = orNan(row.p99);
  point.elements = row.elements;
  point.notFinite = row.notFinite;
  return point;
}

bool isDamaged(const std::vector<TensorBin>& histogram) {
  for (std::size_t at = 1; at < histogram.size(); ++at)
    if (!(histogram[at - 1].begin <= histogram[at].begin) || histogram[at - 1].elements < 0)
      return true;
  return histogram.size() < 2;
}

// Spreads each bin's elements evenly over its width. Elements outside of the axis are left out.
std::vector<double> rebinned(const TensorPoint& point, const Ridges& axis, std::size_t bins) {
  std::vector<double> density(bins, 0);
  const double width = (axis.high - axis.low) / static_cast<double>(bins);
  double all = 0;
  for (const TensorBin& bin : point.histogram)
    all += bin.elements;
  const auto placeOf = [&](double value) {
    return std::clamp(static_cast<std::ptrdiff_t>(std::floor((value - axis.low) / width)),
                      std::ptrdiff_t{0},
                      static_cast<std::ptrdiff_t>(bins) - 1);
  };
  for (std::size_t at = 0; at + 1 < point.histogram.size(); ++at) {
    const double begin = point.histogram[at].begin;
    const double end = point.histogram[at + 1].begin;
    const double share = all > 0 ? point.histogram[at].elements / all : 0;
    if (end < axis.low || begin > axis.high || !(share > 0))
      continue;
    if (!(end > begin)) {
      density[static_cast<std::size_t>(placeOf(begin))] += share;
      continue;
    }
    for (auto place = placeOf(begin); place <= placeOf(end); ++place) {
      const double from = axis.low + static_cast<double>(place) * width;
      const double common = std::min(end, from + width) - std::max(begin, from);
      if (common > 0)
        density[static_cast<std::size_t>(place)] += share * common / (end - begin);
    }
  }
  return density;
}

}  // namespace

Result<std::vector<TensorName>> tensorNames(const store::Database& trace,
                                            const std::vector<metrics::RankProcess>& ranks) {
  std::unordered_map<std::int64_t, const metrics::RankProcess*> known;
  for (const metrics::RankProcess& rank : ranks)
    known[rank.processId] = &rank;
  std::vector<TensorName> names;
  const auto add = [&](const NameRow& row) {
    TensorName& name = names.emplace_back(TensorName{row.processId,
                                                     fmt::format("process {}", row.pid),
                                                     {},
                                                     row.collection,
                                                     row.name,
                                                     row.count,
                                                     row.elements});
    if (const auto rank = known.find(row.processId); rank != known.end()) {
      name.process = rank->second->name;
      name.rank = rank->second->rank;
    }
  };
  SONDE_TRY(store::forEach<NameRow>(trace, kNames, add));
  return names;
}

Result<std::vector<TensorPoint>> tensorPoints(const store::Database& trace, const TensorName& of) {
  SONDE_TRY_ASSIGN(const IterationSpans spans, iterationSpans(trace));
  std::vector<TensorPoint> points;
  std::unordered_map<std::int64_t, std::size_t> places;  // by row
  SONDE_TRY_ASSIGN(store::Statement rows, trace.prepare(kPoints));
  rows.bindAll(of.processId, of.collection, of.name);
  SONDE_TRY(store::forEach<TensorRow>(rows, [&](const TensorRow& row) {
    places[row.id] = points.size();
    TensorPoint& point = points.emplace_back(pointOf(row));
    point.time = spanOf(spans, of.processId, point.iteration, row.tsNs).value_or(point.time);
  }));
  SONDE_TRY_ASSIGN(store::Statement bins, trace.prepare(kBins));
  bins.bindAll(of.processId, of.collection, of.name);
  SONDE_TRY(store::forEach<BinRow>(bins, [&](const BinRow& row) {
    points[places.at(row.id)].histogram.push_back({row.begin, row.elements});
  }));
  for (TensorPoint& point : points)
    if (isDamaged(point.histogram))
      point.histogram.clear();
  return points;
}

Ridges ridgesOf(const std::vector<TensorPoint>& points, std::size_t most, std::size_t bins) {
  std::vector<std::size_t> with;
  Ridges ridges;
  ridges.low = std::numeric_limits<double>::infinity();
  ridges.high = -ridges.low;
  for (std::size_t at = 0; at < points.size(); ++at) {
    if (points[at].histogram.empty() || !std::isfinite(points[at].p01) ||
        !std::isfinite(points[at].p99))
      continue;
    with.push_back(at);
    ridges.low = std::min(ridges.low, points[at].p01);
    ridges.high = std::max(ridges.high, points[at].p99);
  }
  if (with.empty() || most == 0)
    return {};
  // All elements may be equal.
  const double least = std::max(std::abs(ridges.low), std::abs(ridges.high)) * 1e-6 + 1e-30;
  const double margin = std::max((ridges.high - ridges.low) * 0.05, least);
  ridges.low -= margin;
  ridges.high += margin;
  const std::size_t count = std::min(with.size(), most);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = count == 1 ? 0 : i * (with.size() - 1) / (count - 1);
    ridges.points.push_back(with[at]);
    ridges.density.push_back(rebinned(points[with[at]], ridges, bins));
  }
  return ridges;
}

}  // namespace sonde::engine::training
