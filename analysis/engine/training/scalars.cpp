#include "analysis/engine/training/scalars.h"

#include "analysis/store/each_row.h"
#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <unordered_map>

namespace sonde::engine::training {
namespace {

using metrics::RankProcess;
using store::Statement;

struct ValueRow {
  std::int64_t processId = 0;
  std::int64_t pid = 0;
  std::optional<std::int64_t> iteration;
  std::optional<double> value;
  std::int64_t tsNs = 0;
  std::int64_t durNs = 0;

  SONDE_COLUMNS(processId, pid, iteration, value, tsNs, durNs)
};

// A rate belongs to its iteration, whose time it has.
constexpr std::string_view kAmounts =
    "SELECT process_id, (SELECT pid FROM process p WHERE p.id = process_id) AS pid, number AS "
    "iteration, 1e9 * {0} / dur_ns AS value, start_ns AS ts_ns, dur_ns FROM v_iteration WHERE {0} "
    "NOTNULL AND dur_ns > 0 ORDER BY process_id, start_ns";
constexpr std::string_view kValues =
    "SELECT process_id, (SELECT pid FROM process p WHERE p.id = process_id) AS pid, iteration, "
    "value, ts_ns, 0 AS dur_ns FROM v_scalar WHERE name = ?1 ORDER BY process_id, ts_ns";

// Collects the values of processes.
class SeriesOf {
 public:
  SeriesOf(const std::vector<RankProcess>& ranks, IterationSpans spans) : spans_(std::move(spans)) {
    for (const RankProcess& rank : ranks)
      ranks_[rank.processId] = &rank;
  }

  void add(const ValueRow& row) {
    if (all_.empty() || row.processId != last_)
      begin(row);
    last_ = row.processId;
    ScalarSeries& series = all_.back();
    ScalarPoint point;
    point.iteration = row.iteration.value_or(static_cast<std::int64_t>(series.points.size()));
    point.value = row.value.value_or(std::numeric_limits<double>::quiet_NaN());
    point.time = {row.tsNs, row.tsNs + row.durNs};
    if (row.iteration && row.durNs == 0)
      point.time = spanOf(spans_, row.processId, *row.iteration, row.tsNs).value_or(point.time);
    series.points.push_back(point);
  }
  std::vector<ScalarSeries> finish() { return std::move(all_); }

 private:
  void begin(const ValueRow& row) {
    ScalarSeries& series = all_.emplace_back();
    const auto found = ranks_.find(row.processId);
    series.process =
        found == ranks_.end() ? fmt::format("process {}", row.pid) : found->second->name;
    if (found != ranks_.end())
      series.rank = found->second->rank;
  }

  IterationSpans spans_;
  std::unordered_map<std::int64_t, const RankProcess*> ranks_;
  std::vector<ScalarSeries> all_;
  std::int64_t last_ = 0;
};

}  // namespace

Result<IterationSpans> iterationSpans(const store::Database& trace) {
  IterationSpans spans;
  SONDE_TRY(store::forEachRow(
      trace,
      "SELECT process_id, number, start_ns, coalesce(dur_ns, 0) FROM v_iteration ORDER BY start_ns",
      [&](const Statement& row) -> Result<void> {
        SONDE_TRY_ASSIGN(const metrics::Interval time,
                         metrics::intervalOf(row.integer(2), row.integer(3)));
        spans[{row.integer(0), row.integer(1)}].push_back(time);
        return {};
      }));
  return spans;
}

std::optional<metrics::Interval> spanOf(const IterationSpans& spans,
                                        std::int64_t processId,
                                        std::int64_t number,
                                        std::int64_t ns) {
  const auto found = spans.find({processId, number});
  if (found == spans.end())
    return std::nullopt;
  const std::vector<metrics::Interval>& times = found->second;
  const auto after =
      std::upper_bound(times.begin(), times.end(), ns, [](std::int64_t at, const auto& time) {
        return at < time.begin;
      });
  return after == times.begin() ? times.front() : *std::prev(after);
}

Result<std::vector<std::string>> scalarNames(const store::Database& trace) {
  std::vector<std::string> names;
  SONDE_TRY(store::forEachRow(
      trace,
      "SELECT n.text FROM scalar s JOIN string n ON n.id = s.name_id GROUP BY n.id "
      "ORDER BY count(*) DESC, n.text",
      [&](const Statement& row) -> Result<void> {
        names.emplace_back(row.text(0));
        return {};
      }));
  SONDE_TRY_ASSIGN(
      const std::int64_t samples,
      trace.queryInteger("SELECT EXISTS (SELECT 1 FROM iteration WHERE samples NOTNULL)"));
  SONDE_TRY_ASSIGN(
      const std::int64_t tokens,
      trace.queryInteger("SELECT EXISTS (SELECT 1 FROM iteration WHERE tokens NOTNULL)"));
  if (samples != 0)
    names.emplace_back(kSamplesPerSecond);
  if (tokens != 0)
    names.emplace_back(kTokensPerSecond);
  return names;
}

Result<std::vector<ScalarSeries>> scalarSeries(const store::Database& trace,
                                               const std::vector<RankProcess>& ranks,
                                               const std::string& name) {
  SONDE_TRY_ASSIGN(IterationSpans spans, iterationSpans(trace));
  SeriesOf series(ranks, std::move(spans));
  const auto add = [&](const ValueRow& row) { series.add(row); };
  if (name == kSamplesPerSecond || name == kTokensPerSecond) {
    const char* const column = name == kSamplesPerSecond ? "samples" : "tokens";
    SONDE_TRY(store::forEach<ValueRow>(trace, fmt::format(fmt::runtime(kAmounts), column), add));
  } else {
    SONDE_TRY_ASSIGN(Statement rows, trace.prepare(kValues));
    rows.bindAll(name);
    SONDE_TRY(store::forEach<ValueRow>(rows, add));
  }
  return series.finish();
}

Result<std::vector<ScalarSeries>> iterationSeries(const store::Database& trace,
                                                  const std::vector<RankProcess>& ranks) {
  std::unordered_map<std::int64_t, metrics::Interval> times;  // by the iteration's id
  SONDE_TRY(store::forEachRow(trace,
                              "SELECT id, start_ns, dur_ns FROM v_iteration WHERE dur_ns NOTNULL",
                              [&](const Statement& row) -> Result<void> {
                                SONDE_TRY_ASSIGN(
                                    times[row.integer(0)],
                                    metrics::intervalOf(row.integer(1), row.integer(2)));
                                return {};
                              }));
  std::vector<ScalarSeries> all;
  for (const RankProcess& rank : ranks) {
    ScalarSeries series{rank.name, rank.rank, {}};
    for (const metrics::IterationTime& each : rank.iterations)
      if (const auto found = times.find(each.id); found != times.end())
        series.points.push_back({each.number, static_cast<double>(each.durNs), found->second});
    if (!series.points.empty())
      all.push_back(std::move(series));
  }
  return all;
}

}  // namespace sonde::engine::training
