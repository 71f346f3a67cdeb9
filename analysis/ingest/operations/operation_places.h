// The places of an operation-level trace: its workers (a data-parallel rank at a pipeline stage)
// become processes, their streams become threads.
//
// Owned by one importer, on one thread. Rows are stored at the end, because names of threads, which
// have the stage, may come after the events.
#pragma once

#include "analysis/ingest/import/event_fields.h"
#include "analysis/ingest/operations/operation_layout.h"
#include "analysis/model/place.h"
#include "analysis/store/trace_writer.h"
#include "base/result.h"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde::ingest {

class OperationPlaces {
 public:
  explicit OperationPlaces(store::TraceWriter& writer) : writer_(writer) {}

  struct Worker {
    model::ProcessId id{};
    std::int64_t dataParallel = 0;
    std::int64_t stage = 0;
    std::int64_t rank = 0;
    std::int64_t firstNs = std::numeric_limits<std::int64_t>::max();
    std::int64_t lastNs = std::numeric_limits<std::int64_t>::min();
  };

  // The index of a stream. `dataParallel` is the pid of the file.
  std::size_t streamOf(std::int64_t dataParallel, std::int64_t tid);
  model::ThreadId threadOf(std::size_t stream) const noexcept { return streams_[stream].id; }
  // Extends the stream's life to this time.
  void cover(std::size_t stream, std::int64_t startNs, std::int64_t endNs) noexcept;
  void nameStream(std::int64_t dataParallel, std::int64_t tid, std::string_view name);

  // Forms the workers. The stage is in the names of the streams ("PP rank 1, TP rank 0, compute");
  // without that it is the position of the stream's group of tids among those of its data-parallel
  // rank. Unsupported: the stages are unknown or incomplete, or tensor-parallel ranks are apart.
  // InvalidArgument: the file contradicts the layout. Messages lack the file's name.
  Result<void> formWorkers(const std::optional<OperationLayout>& layout);
  // Both require: formWorkers() succeeded. Workers come by data-parallel rank and stage.
  const std::vector<Worker>& workers() const noexcept { return workers_; }
  std::size_t workerOf(std::size_t stream) const noexcept { return streams_[stream].worker; }
  model::OptionalInt worldSize() const noexcept { return worldSize_; }

  // Stores a host of that name, the processes with their arguments, and the threads, shifted by
  // `shiftNs`. Requires: an open transaction, formWorkers().
  Result<void> store(std::string_view hostName, std::int64_t shiftNs);

 private:
  struct Stream {
    model::ThreadId id{};
    std::int64_t dataParallel = 0;
    std::int64_t tid = 0;
    std::string name;
    std::int64_t firstNs = std::numeric_limits<std::int64_t>::max();
    std::int64_t lastNs = std::numeric_limits<std::int64_t>::min();
    OptionalNumber stage{};
    OptionalNumber tensorParallel{};
    std::size_t worker = 0;
  };
  using Key = std::pair<std::int64_t, std::int64_t>;  // data-parallel rank, and tid or stage

  Result<void> readNames(bool hasLayout);
  Result<void> stagesByGroup(const OperationLayout& layout);
  Result<void> makeWorkers();
  Result<void> checkStages() const;
  Result<void> checkLayout(const OperationLayout& layout) const;
  void numberRanks(const std::optional<OperationLayout>& layout);
  bool ranksOfTids();

  store::TraceWriter& writer_;
  std::vector<Stream> streams_;
  std::map<Key, std::size_t> streamsByKey_;
  std::map<Key, std::string> names_;
  std::vector<Worker> workers_;
  model::OptionalInt worldSize_{};
};

}  // namespace sonde::ingest
