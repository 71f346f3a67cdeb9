#include "analysis/engine/metrics/stalls.h"

#include "analysis/engine/statistics/rank_test.h"
#include "analysis/engine/statistics/series.h"
#include "analysis/engine/statistics/statistics.h"
#include "analysis/store/statement.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace sonde::engine::metrics {
namespace {

using store::Statement;

constexpr std::size_t kWorst = 5;

// torch.profiler's name for the `data_load` of recordings.
constexpr std::string_view kStallSql =
    "SELECT s.thread_id, CASE WHEN s.kind IN ('operator', 'operation') THEN 'data_load' ELSE "
    "s.kind END, s.start_ns, s.start_ns + s.dur_ns FROM thread t CROSS JOIN slice s ON s.thread_id "
    "= t.id WHERE t.process_id = ?1 AND s.dur_ns > 0 AND s.start_ns < ?3 AND s.start_ns + s.dur_ns "
    "> ?2 AND (s.kind IN ('data_load', 'checkpoint', 'io', 'wait') OR (s.kind IN ('operator', "
    "'operation') AND s.name_id IN (SELECT id FROM string WHERE text GLOB "
    "'enumerate(DataLoader)*')))";

Result<StallRecord> readRecord(const store::Database& trace,
                               const RankProcess& rank,
                               const Clock& clock) {
  SONDE_TRY_ASSIGN(const std::vector<std::int64_t> threads, iterationThreads(trace, rank));
  StallRecord record;
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare(kStallSql));
  rows.bindAll(rank.processId, rank.window.begin, rank.window.end);
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return record;
    const std::string_view kind = rows.text(1);
    record.waitsKnown |= kind == "wait";
    const std::int64_t thread = rows.integer(0);
    if (!std::binary_search(threads.begin(), threads.end(), thread))
      continue;
    Intervals& into = kind == "wait"         ? record.waits
                      : kind == "data_load"  ? record.causes[0]
                      : kind == "checkpoint" ? record.causes[1]
                                             : record.causes[2];
    into.push_back(
        {clock.ofThread(thread, rows.integer(2)), clock.ofThread(thread, rows.integer(3))});
  }
}

struct Pieces {
  std::vector<std::int64_t> ns;         // of single stalls
  std::vector<double> perIteration;     // total per iteration
  std::vector<IterationStall> longest;  // of iterations with a stall above the threshold
};

Pieces piecesOf(const Intervals& cause,
                const std::vector<IterationTime>& iterations,
                std::int64_t thresholdNs) {
  Pieces pieces;
  for (const IterationTime& iteration : iterations) {
    const Intervals inside = clip(cause, {iteration.startNs, iteration.startNs + iteration.durNs});
    std::int64_t longest = 0;
    for (const Interval& stall : inside) {
      pieces.ns.push_back(stall.end - stall.begin);
      longest = std::max(longest, stall.end - stall.begin);
    }
    const std::int64_t all = totalLength(inside);
    pieces.perIteration.push_back(static_cast<double>(all));
    if (longest > 0 && longest >= thresholdNs)
      pieces.longest.push_back({iteration.number, all});
  }
  std::sort(pieces.ns.begin(), pieces.ns.end());
  std::stable_sort(pieces.longest.begin(),
                   pieces.longest.end(),
                   [](const IterationStall& a, const IterationStall& b) { return a.ns > b.ns; });
  return pieces;
}

// Its own time in iterations, in normal form.
Intervals within(const Intervals& cause, const std::vector<IterationTime>& iterations) {
  Intervals times;
  for (const IterationTime& iteration : iterations)
    times.push_back({iteration.startNs, iteration.startNs + iteration.durNs});
  return intersect(cause, normalise(std::move(times)));
}

StallTime timeOf(Pieces pieces, std::int64_t thresholdNs) {
  StallTime time;
  time.count = static_cast<std::int64_t>(pieces.ns.size());
  time.above =
      pieces.ns.end() -
      std::lower_bound(pieces.ns.begin(), pieces.ns.end(), std::max<std::int64_t>(thresholdNs, 1));
  for (const std::int64_t ns : pieces.ns)
    time.ns += ns;
  time.p50Ns = percentile(pieces.ns, 0.5);
  time.p95Ns = percentile(pieces.ns, 0.95);
  time.maxNs = pieces.ns.back();
  time.iterations = static_cast<std::int64_t>(pieces.longest.size());
  pieces.longest.resize(std::min(pieces.longest.size(), kWorst));
  time.worst = std::move(pieces.longest);
  return time;
}

void addTrend(const std::vector<double>& values, double medianNs, StallTime& time) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  if (middle == values.begin())
    return;
  time.trend = trendOf(values, 0.01 * medianNs);
  time.firstHalfNs = static_cast<std::int64_t>(statistics::mean({values.begin(), middle}));
  time.secondHalfNs = static_cast<std::int64_t>(statistics::mean({middle, values.end()}));
}

}  // namespace

Trend trendOf(const std::vector<double>& values, double least) {
  constexpr std::size_t kFewest = 30;  // with fewer, five blocks cannot surely differ from five
  constexpr double kSure = 0.01;
  if (values.size() < kFewest)
    return Trend::Unknown;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  const std::vector<double> first(values.begin(), middle);
  const std::vector<double> second(middle, values.end());
  const auto blocks = [](const std::vector<double>& half) {
    return statistics::blockCentres(half, statistics::blocksFor(half.size()), statistics::mean);
  };
  const double more = statistics::mean(second) - statistics::mean(first);
  const bool isSure = statistics::mannWhitney(blocks(first), blocks(second)).p < kSure;
  if (!isSure || more * more < least * least)
    return Trend::Steady;
  return more > 0 ? Trend::Grows : Trend::Shrinks;
}

RankStalls accountForStalls(const StallRecord& record,
                            const std::vector<IterationTime>& iterations,
                            const std::optional<Intervals>& deviceBusy) {
  RankStalls stalls;
  stalls.iterations = static_cast<std::int64_t>(iterations.size());
  const std::int64_t medianNs = statisticsOf(iterations).medianNs;
  stalls.thresholdNs = static_cast<std::int64_t>(kStallShare * static_cast<double>(medianNs));
  for (const IterationTime& iteration : iterations)
    stalls.iterationsNs += iteration.durNs;
  const Intervals waits = normalise(record.waits);
  const Intervals files = normalise(record.causes[static_cast<std::size_t>(StallCause::File)]);
  Intervals taken;
  for (std::size_t cause = 0; cause < kStallCauses; ++cause) {
    const Intervals own = subtract(normalise(record.causes[cause]), taken);
    taken = unite(taken, own);
    Pieces pieces = piecesOf(own, iterations, stalls.thresholdNs);
    if (pieces.ns.empty())
      continue;
    const std::vector<double> perIteration = std::move(pieces.perIteration);
    StallTime& time = stalls.causes.emplace_back(timeOf(std::move(pieces), stalls.thresholdNs));
    const Intervals inside = within(own, iterations);
    time.cause = static_cast<StallCause>(cause);
    time.share = static_cast<double>(time.ns) / static_cast<double>(stalls.iterationsNs);
    time.fileNs = totalLength(intersect(inside, files));
    if (record.waitsKnown)
      time.waitNs = totalLength(intersect(inside, waits));
    if (deviceBusy)
      time.deviceIdleNs = totalLength(subtract(inside, *deviceBusy));
    addTrend(perIteration, static_cast<double>(medianNs), time);
  }
  return stalls;
}

Result<RankStalls> stallsOf(const store::Database& trace,
                            const RankProcess& rank,
                            const std::optional<Intervals>& deviceBusy,
                            const Clock& clock) {
  RankStalls stalls;
  if (!rank.iterations.empty()) {
    SONDE_TRY_ASSIGN(const StallRecord record, readRecord(trace, rank, clock));
    stalls = accountForStalls(record, byClock(rank, clock).iterations, deviceBusy);
  }
  stalls.rank = rank.rank;
  stalls.process = rank.name;
  return stalls;
}

}  // namespace sonde::engine::metrics
