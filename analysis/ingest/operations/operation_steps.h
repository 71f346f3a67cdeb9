// The iterations of an operation-level trace: one for each step of each worker, from the first to
// the last operation. Owned by one importer, on one thread; memory grows with the steps.
#pragma once

#include "analysis/ingest/operations/operation_places.h"
#include "analysis/store/trace_writer.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace sonde::ingest {

class OperationSteps {
 public:
  void add(std::size_t stream, std::int64_t step, std::int64_t startNs, std::int64_t endNs);

  // Stores the iterations, by worker and step. Requires: places.formWorkers() succeeded.
  Result<void> store(store::TraceWriter& writer,
                     const OperationPlaces& places,
                     std::int64_t shiftNs) const;

 private:
  struct Span {
    std::int64_t firstNs;
    std::int64_t lastNs;
  };
  using Spans = std::map<std::pair<std::size_t, std::int64_t>, Span>;
  static void extend(Spans& spans, std::size_t owner, std::int64_t step, const Span& by);

  Spans spans_;  // by stream and step
};

}  // namespace sonde::ingest
