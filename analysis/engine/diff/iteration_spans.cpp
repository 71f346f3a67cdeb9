#include "analysis/engine/diff/iteration_spans.h"

#include "analysis/engine/align/job_clock.h"
#include "analysis/engine/breakdown/operation_spans.h"
#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/each_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace sonde::engine::diff {
namespace {

using metrics::IterationTime;
using metrics::RankProcess;
using store::Statement;

IterationName nameOf(const IterationTime& iteration) {
  return {iteration.number, iteration.occurrence};
}

const IterationTime* iterationOf(const RankProcess& rank, const IterationName& name) {
  const auto found = std::find_if(rank.iterations.begin(),
                                  rank.iterations.end(),
                                  [&](const IterationTime& each) { return nameOf(each) == name; });
  return found == rank.iterations.end() ? nullptr : &*found;
}

// Reads the spans of one iteration, rank by rank.
class SpanReader {
 public:
  SpanReader(const store::Database& trace, const IterationName& name)
      : trace_(trace), name_(name) {}

  Result<IterationSpans> read() {
    SONDE_TRY_ASSIGN(const std::vector<RankProcess> ranks, metrics::readRanks(trace_));
    SONDE_TRY_ASSIGN(clocks_, align::readProcessClocks(trace_));
    SONDE_TRY_ASSIGN(auto operations, breakdown::readOperationSpans(trace_));
    std::optional<std::int64_t> firstNs;
    for (const RankProcess& rank : ranks)
      if (const IterationTime* const iteration = iterationOf(rank, name_)) {
        const std::int64_t begin = clocks_[rank.processId].toJob(iteration->startNs);
        firstNs = firstNs ? std::min(*firstNs, begin) : begin;
      }
    for (const RankProcess& rank : ranks) {
      const IterationTime* const iteration = iterationOf(rank, name_);
      if (iteration == nullptr)
        continue;
      const auto own = std::find_if(operations.begin(), operations.end(), [&](const auto& process) {
        return process.processId() == rank.processId;
      });
      shiftNs_ = clocks_[rank.processId].toJob(iteration->startNs) - *firstNs - iteration->startNs;
      window_ = {iteration->startNs, iteration->startNs + iteration->durNs};
      found_.durNs = std::max(found_.durNs, window_.second + shiftNs_);
      if (own != operations.end())
        SONDE_TRY(addRank(rank, *own));
    }
    return std::move(found_);
  }

 private:
  Result<void> addRank(const RankProcess& rank, breakdown::ProcessOperations& operations) {
    beginLane({rank.name, rank.rank});
    for (const breakdown::Span& span : operations.spans()) {
      SONDE_TRY(add(operations, span.label, {}, span.begin, span.end));
    }
    endLane();
    beginLane({fmt::format("{}, devices", rank.name), rank.rank});
    SONDE_TRY(addDevices(rank, operations));
    endLane();
    if (found_.spans.empty() || found_.spans.back().lane + 1 < found_.lanes.size())
      found_.lanes.pop_back();  // no device did anything
    return {};
  }

  Result<void> addDevices(const RankProcess& rank, breakdown::ProcessOperations& operations) {
    return store::forEachRow(
        trace_,
        fmt::format(
            "WITH work AS (SELECT stream_id, start_ns, dur_ns, name_id, scope_id FROM kernel UNION "
            "ALL SELECT stream_id, start_ns, dur_ns, name_id, scope_id FROM copy) "
            "SELECT w.start_ns, w.dur_ns, w.name_id, w.scope_id FROM work w "
            "JOIN stream r ON r.id = w.stream_id WHERE r.process_id = {} AND w.dur_ns > 0 "
            "AND w.start_ns < {} AND w.start_ns + w.dur_ns > {}",
            rank.processId,
            window_.second,
            window_.first),
        [&](const Statement& row) -> Result<void> {
          SONDE_TRY_ASSIGN(const std::string name, text(row.integer(2)));
          return add(operations,
                     operations.operationOf(row.integer(3)),
                     name,
                     row.integer(0),
                     row.integer(0) + row.integer(1));
        });
  }

  void beginLane(SpanLane lane) {
    found_.lanes.push_back(std::move(lane));
    laneBegin_ = found_.spans.size();
  }
  Result<void> add(const breakdown::ProcessOperations& operations,
                   std::uint32_t operation,
                   const std::string& name,
                   std::int64_t beginNs,
                   std::int64_t endNs) {
    const std::int64_t begin = std::max(beginNs, window_.first);
    const std::int64_t end = std::min(endNs, window_.second);
    if (begin >= end)
      return {};
    SONDE_TRY_ASSIGN(const std::string operationName, text(operation));
    found_.spans.push_back({found_.lanes.size() - 1,
                            operationName,
                            operations.kindOf(operation),
                            name,
                            begin + shiftNs_,
                            end + shiftNs_});
    return {};
  }
  // Joins neighbours of one operation: a breakdown's spans also end where something else changes.
  void endLane() {
    auto& spans = found_.spans;
    const auto begin = spans.begin() + static_cast<std::ptrdiff_t>(laneBegin_);
    std::stable_sort(begin, spans.end(), [](const OperationSpan& a, const OperationSpan& b) {
      return std::tie(a.beginNs, b.endNs) < std::tie(b.beginNs, a.endNs);
    });
    std::vector<OperationSpan> joined;
    for (auto at = begin; at != spans.end(); ++at) {
      if (!joined.empty() && at->name.empty() && joined.back().operation == at->operation &&
          joined.back().endNs >= at->beginNs)
        joined.back().endNs = std::max(joined.back().endNs, at->endNs);
      else
        joined.push_back(std::move(*at));
    }
    spans.erase(begin, spans.end());
    std::move(joined.begin(), joined.end(), std::back_inserter(spans));
  }

  Result<std::string> text(std::int64_t id) {
    if (id == 0)
      return std::string();
    if (const auto known = texts_.find(id); known != texts_.end())
      return known->second;
    SONDE_TRY_ASSIGN(Statement row, trace_.prepare("SELECT text FROM string WHERE id = ?1"));
    row.bind(1, id);
    SONDE_TRY(row.step());
    return texts_.emplace(id, std::string(row.text(0))).first->second;
  }

  const store::Database& trace_;
  IterationName name_;
  align::ProcessClocks clocks_;
  std::unordered_map<std::int64_t, std::string> texts_;
  std::pair<std::int64_t, std::int64_t> window_;  // of the iteration on this rank, by its clock
  std::int64_t shiftNs_ = 0;                      // from this rank's clock
  std::size_t laneBegin_ = 0;                     // the lane's first span
  IterationSpans found_;
};

}  // namespace

Result<std::vector<IterationLength>> readIterationLengths(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const std::vector<RankProcess> ranks, metrics::readRanks(trace));
  std::vector<IterationLength> lengths;
  std::map<IterationName, std::size_t> places;
  for (const RankProcess& rank : ranks)
    for (const IterationTime& each : rank.iterations) {
      const auto [place, isNew] = places.emplace(nameOf(each), lengths.size());
      if (isNew)
        lengths.push_back({nameOf(each), 0});
      IterationLength& length = lengths[place->second];
      length.ns = std::max(length.ns, each.durNs);
    }
  return lengths;
}

Result<std::set<IterationName>> readIterationsWithin(const store::Database& trace,
                                                     const metrics::Interval& within) {
  SONDE_TRY_ASSIGN(const std::vector<RankProcess> ranks, metrics::readRanks(trace));
  SONDE_TRY_ASSIGN(const align::ProcessClocks clocks, align::readProcessClocks(trace));
  std::set<IterationName> inside;
  std::set<IterationName> outside;  // on a rank at least
  for (const RankProcess& rank : ranks) {
    const align::HostClock& clock = clocks.at(rank.processId);
    for (const IterationTime& each : rank.iterations) {
      const bool isInside = clock.toJob(each.startNs) >= within.begin &&
                            clock.toJob(each.startNs + each.durNs) <= within.end;
      (isInside ? inside : outside).insert(nameOf(each));
    }
  }
  for (const IterationName& each : outside)
    inside.erase(each);
  return inside;
}

Result<IterationSpans> readIterationSpans(const store::Database& trace, const IterationName& name) {
  return SpanReader(trace, name).read();
}

}  // namespace sonde::engine::diff
