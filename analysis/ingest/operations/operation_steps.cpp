#include "analysis/ingest/operations/operation_steps.h"

#include <algorithm>

namespace sonde::ingest {

void OperationSteps::extend(Spans& spans, std::size_t owner, std::int64_t step, const Span& by) {
  const auto [found, fresh] = spans.try_emplace({owner, step}, by);
  if (fresh)
    return;
  found->second.firstNs = std::min(found->second.firstNs, by.firstNs);
  found->second.lastNs = std::max(found->second.lastNs, by.lastNs);
}

void OperationSteps::add(std::size_t stream,
                         std::int64_t step,
                         std::int64_t startNs,
                         std::int64_t endNs) {
  extend(spans_, stream, step, {startNs, endNs});
}

Result<void> OperationSteps::store(store::TraceWriter& writer,
                                   const OperationPlaces& places,
                                   std::int64_t shiftNs) const {
  Spans ofWorkers;
  for (const auto& [key, span] : spans_)
    extend(ofWorkers, places.workerOf(key.first), key.second, span);
  for (const auto& [key, span] : ofWorkers) {
    model::Iteration row;
    row.processId = places.workers()[key.first].id;
    row.number = key.second;
    row.startNs = span.firstNs + shiftNs;
    row.durNs = span.lastNs - span.firstNs;
    SONDE_TRY(writer.add(row));
  }
  return {};
}

}  // namespace sonde::ingest
