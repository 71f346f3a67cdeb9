#include "gui/models/compare/compared_lanes.h"

#include "analysis/engine/statistics/series.h"
#include "analysis/store/trace_file.h"
#include "gui/models/compare/trace_difference.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace sonde::gui {
namespace {

namespace diff = engine::diff;
using diff::IterationLength;
using diff::IterationName;

// The iterations of the run that `names` has, too.
void keepCommon(const std::vector<IterationLength>& names, std::vector<IterationLength>& of) {
  std::set<IterationName> known;
  for (const IterationLength& each : names)
    known.insert(each.name);
  std::erase_if(of, [&](const IterationLength& each) { return !known.contains(each.name); });
}

IterationName usualOf(const std::vector<IterationLength>& iterations) {
  std::vector<std::int64_t> lengths;
  lengths.reserve(iterations.size());
  for (const IterationLength& each : iterations)
    lengths.push_back(each.ns);
  return iterations.at(engine::statistics::indexOfMedian(lengths).value_or(0)).name;
}

void append(diff::IterationSpans part, diff::IterationSpans& into) {
  const std::size_t first = into.lanes.size();
  into.lanes.insert(into.lanes.end(), part.lanes.begin(), part.lanes.end());
  for (diff::OperationSpan& span : part.spans) {
    span.lane += first;
    into.spans.push_back(std::move(span));
  }
  into.durNs = std::max(into.durNs, part.durNs);
}

}  // namespace

Result<ComparedLanes> readComparedLanes(const store::Database& after,
                                        const ComparedLanesRequest& request) {
  ComparedLanes lanes;
  SONDE_TRY_ASSIGN(lanes.beforeFiles, firstRun(request.before));
  SONDE_TRY_ASSIGN(std::vector<IterationLength> common, diff::readIterationLengths(after));
  SONDE_TRY_ASSIGN(const std::optional<Iterations> only, iterationsIn(after, request.within));
  if (only)
    std::erase_if(common, [&](const auto& each) { return !only->contains(each.name); });
  std::vector<store::Database> traces;
  for (const QString& file : lanes.beforeFiles) {
    SONDE_TRY_ASSIGN(store::Database trace, store::openTrace(file.toStdString()));
    trace.stopWhen(after.stopCheck());
    SONDE_TRY_ASSIGN(const auto lengths, diff::readIterationLengths(trace));
    keepCommon(lengths, common);
    traces.push_back(std::move(trace));
  }
  if (common.empty())
    return Error{ErrorCode::NotFound,
                 only ? "the earlier run has none of the iterations in the selected span"
                      : "the two runs have no iteration in common"};
  for (const IterationLength& each : common)
    lanes.iterations.push_back(each.name);
  const bool isThere = request.wanted && std::find(lanes.iterations.begin(),
                                                   lanes.iterations.end(),
                                                   *request.wanted) != lanes.iterations.end();
  lanes.shown = isThere ? *request.wanted : usualOf(common);
  for (const store::Database& trace : traces) {
    SONDE_TRY_ASSIGN(diff::IterationSpans part, diff::readIterationSpans(trace, lanes.shown));
    append(std::move(part), lanes.before);
  }
  SONDE_TRY_ASSIGN(lanes.after, diff::readIterationSpans(after, lanes.shown));
  return lanes;
}

std::vector<ComparedOperation> operationsOf(const ComparedLanes& lanes) {
  std::map<std::string, std::int64_t> times;
  std::map<std::string, std::optional<model::SliceKind>> kinds;
  for (const auto* run : {&lanes.before, &lanes.after})
    for (const diff::OperationSpan& span : run->spans)
      if (!span.operation.empty()) {
        times[span.operation] += span.endNs - span.beginNs;
        kinds.emplace(span.operation, span.kind);
      }
  std::vector<std::pair<std::int64_t, std::string>> ordered;
  ordered.reserve(times.size());
  for (const auto& [operation, ns] : times)
    ordered.emplace_back(-ns, operation);
  std::sort(ordered.begin(), ordered.end());
  std::vector<ComparedOperation> operations;
  operations.reserve(ordered.size());
  for (const auto& [ns, operation] : ordered)
    operations.push_back({operation, kinds[operation]});
  return operations;
}

}  // namespace sonde::gui
