#include "analysis/engine/operations/worker_operations.h"

#include <algorithm>

namespace sonde::engine::operations {
namespace {

// Whether an operation on this chunk gets its input from another worker, or gives it its output.
bool hasPartner(const Operation& operation,
                bool isTowardsEnd,
                std::int64_t stage,
                const Pipeline& pipeline) {
  const std::int64_t chunk = std::max<std::int64_t>(operation.chunk, 0);
  if (pipeline.stages == 1)
    return false;
  return isTowardsEnd ? stage + 1 < pipeline.stages || chunk < pipeline.lastChunk
                      : stage > 0 || chunk > 0;
}

}  // namespace

std::vector<WorkerOperations::Transfer> WorkerOperations::transfersOf(
    const Direction& direction,
    bool isSend,
    const Step& step,
    std::int64_t stage,
    const Pipeline& pipeline) const {
  const Indices& transfers = of(isSend ? direction.send : direction.receive);
  const Indices& computes = of(direction.compute);
  const bool isOneEach = transfers.size() == computes.size();
  std::vector<Transfer> found;
  std::size_t next = 0;
  for (std::size_t at = 0; at < computes.size(); ++at) {
    const Operation& operation = step.operations[computes[at]];
    if (!hasPartner(operation, isSend == direction.isForward, stage, pipeline))
      continue;
    const std::size_t place = isOneEach ? at : next++;
    if (place < transfers.size())
      found.push_back({transfers[place], computes[at]});
  }
  return found;
}

}  // namespace sonde::engine::operations
