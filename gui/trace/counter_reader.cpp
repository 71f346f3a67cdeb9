#include "gui/trace/counter_reader.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sonde::gui {
namespace {

constexpr int kBucket = 8;  // values summed up in one point of a summary
constexpr int kSamplesBetweenLooks = 4096;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr const char* kSamples =
    "SELECT ts_ns, value FROM sample WHERE counter_id = ?1 AND ts_ns >= ?2 AND ts_ns <= ?3 "
    "ORDER BY ts_ns";

double valueOf(const store::Statement& row) {
  return row.columnType(1) == store::ColumnType::Null ? kNan : row.real(1);
}

void join(CurvePoint& point, const CurvePoint& later) {
  point.min = std::fmin(point.min, later.min);
  point.max = std::fmax(point.max, later.max);
  point.last = later.last;
}

// Joins the values that begin in one pixel.
class Columns {
 public:
  Columns(const engine::align::HostClock& clock, const WindowRequest& request, Curve& curve)
      : clock_(clock), request_(request), curve_(curve) {}

  void add(CurvePoint point) {
    point.startNs = clock_.toJob(point.startNs);
    const double pixel = std::floor(static_cast<double>(point.startNs - request_.beginNs) /
                                    std::max(request_.nsPerPixel, 1.0));
    if (!curve_.points.empty() && pixel == pixel_)
      join(curve_.points.back(), point);
    else
      curve_.points.push_back(point);
    pixel_ = pixel;
  }

 private:
  const engine::align::HostClock& clock_;
  const WindowRequest& request_;
  Curve& curve_;
  double pixel_ = 0;
};

}  // namespace

template <typename Visit>
void CounterReader::Values::add(std::int64_t ns, double value, Visit visit) {
  if (!isTotal_) {
    visit(ns, value);
    return;
  }
  const CounterPoint now{ns, value};
  if (before_ && ns > before_->ns)
    visit(before_->ns, (isShare_ ? 100 : 1) * engine::counters::rateOf(*before_, now, isShare_));
  before_ = now;
}

CounterReader::Values CounterReader::valuesOf(const TrackInfo& track) {
  return {track.counter->isTotal, track.counter->unit == u"%"};
}

void CounterReader::addValue(Summary& summary, std::int64_t startNs, double value) {
  const CurvePoint point{startNs, value, value, value};
  summary.low = std::fmin(summary.low, value);
  summary.high = std::fmax(summary.high, value);
  if (summary.buckets.empty() || summary.inLast == kBucket) {
    summary.buckets.push_back(point);
    summary.inLast = 1;
    return;
  }
  join(summary.buckets.back(), point);
  ++summary.inLast;
}

Result<const CounterReader::Summary*> CounterReader::summaryOf(const store::Database& trace,
                                                               const TrackInfo& track,
                                                               const Cancellation& cancellation) {
  Summary& kept = summaries_.try_emplace(track.id, valuesOf(track)).first->second;
  if (kept.isComplete)
    return &kept;
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
  SONDE_TRY_ASSIGN(auto rows, trace.prepare(kSamples));
  rows.bindAll(track.id,
               kept.readUntilNs == kNone ? kNone : kept.readUntilNs + 1,
               std::numeric_limits<std::int64_t>::max());
  for (int read = 1;; ++read) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      break;
    const std::int64_t ns = rows.integer(0);
    if (read % kSamplesBetweenLooks == 0 && ns > kept.readUntilNs && cancellation.requested())
      return cancelled();
    kept.readUntilNs = ns;
    kept.values.add(
        ns, valueOf(rows), [&](std::int64_t start, double value) { addValue(kept, start, value); });
  }
  kept.isComplete = true;
  return &kept;
}

Result<Curve> CounterReader::read(const store::Database& trace,
                                  const TrackInfo& track,
                                  const engine::align::HostClock& clock,
                                  const WindowRequest& request,
                                  const Cancellation& cancellation) {
  SONDE_TRY_ASSIGN(const Summary* const summary, summaryOf(trace, track, cancellation));
  const std::vector<CurvePoint>& buckets = summary->buckets;
  Curve curve;
  curve.low = summary->low;
  curve.high = summary->high;
  curve.endNs = buckets.empty() ? 0 : clock.toJob(summary->readUntilNs);
  const auto startsBefore = [](std::int64_t ns, const CurvePoint& bucket) {
    return ns < bucket.startNs;
  };
  auto at =
      std::upper_bound(buckets.begin(), buckets.end(), clock.toHost(request.beginNs), startsBefore);
  at = at == buckets.begin() ? at : std::prev(at);
  const auto last = std::upper_bound(at, buckets.end(), clock.toHost(request.endNs), startsBefore);
  const auto endOfBucket = [&](auto bucket) {
    return std::next(bucket) == buckets.end() ? summary->readUntilNs : std::next(bucket)->startNs;
  };
  const auto isShort = [&](auto bucket) {
    return static_cast<double>(endOfBucket(bucket) - bucket->startNs) <= request.nsPerPixel;
  };
  Columns columns(clock, request, curve);
  const auto add = [&](std::int64_t start, double value) {
    columns.add({start, value, value, value});
  };
  SONDE_TRY_ASSIGN(auto rows, trace.prepare(kSamples));
  while (at != last) {
    if (isShort(at)) {
      columns.add(*at++);
      continue;
    }
    // These buckets are wider than a pixel, so their samples are not many more than the pixels.
    const auto first = at;
    while (at != last && !isShort(at))
      ++at;
    const bool isInclusive = track.counter->isTotal || at == buckets.end();
    rows.reset();
    rows.bindAll(track.id, first->startNs, endOfBucket(std::prev(at)) - (isInclusive ? 0 : 1));
    Values values = valuesOf(track);
    while (true) {
      SONDE_TRY_ASSIGN(const bool row, rows.step());
      if (!row)
        break;
      values.add(rows.integer(0), valueOf(rows), add);
    }
    if (cancellation.requested())
      return cancelled();
  }
  return curve;
}

}  // namespace sonde::gui
