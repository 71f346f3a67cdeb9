#include "analysis/engine/operations/operation_rows.h"

#include "analysis/model/times.h"
#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace sonde::engine::operations {
namespace {

constexpr std::int64_t kMostStages = 1 << 20;

constexpr std::string_view kWorkers =
    "SELECT process.id AS process_id, host_id, ifnull(rank, -1) AS rank, a.value AS data_parallel, "
    "b.value "
    "AS stage FROM process "
    "JOIN arg a ON a.owner = 'process' AND a.owner_id = process.id AND a.key_id = "
    "(SELECT id FROM string WHERE text = 'sonde.data_parallel') "
    "JOIN arg b ON b.owner = 'process' AND b.owner_id = process.id AND b.key_id = "
    "(SELECT id FROM string WHERE text = 'sonde.stage') ORDER BY a.value, b.value";

// The import has stored the arguments of an operation as one JSON text.
constexpr std::string_view kOperations =
    "SELECT slice.id AS slice_id, thread_id, process_id, string.text AS type, slice.start_ns AS "
    "begin_ns, slice.dur_ns AS dur_ns, "
    "CASE WHEN json_valid(arg.value) THEN json_extract(arg.value, '$.step') END AS step, "
    "CASE WHEN json_valid(arg.value) THEN json_extract(arg.value, '$.model_chunk') END AS chunk "
    "FROM slice JOIN thread ON thread.id = thread_id JOIN string ON string.id = name_id "
    "LEFT JOIN arg ON arg.owner = 'slice' AND arg.owner_id = slice.id AND arg.key_id = "
    "(SELECT id FROM string WHERE text = 'args') ORDER BY slice.id";

struct WorkerRow {
  std::int64_t processId = 0;
  std::int64_t hostId = 0;
  std::int64_t rank = 0;
  std::int64_t dataParallel = 0;
  std::int64_t stage = 0;

  SONDE_COLUMNS(processId, hostId, rank, dataParallel, stage)
};

struct OperationRow {
  std::int64_t sliceId = 0;
  std::int64_t threadId = 0;
  std::int64_t processId = 0;
  std::string_view type;
  std::int64_t beginNs = 0;
  std::optional<std::int64_t> durNs;
  std::optional<std::int64_t> step;
  std::optional<std::int64_t> chunk;

  SONDE_COLUMNS(sliceId, threadId, processId, type, beginNs, durNs, step, chunk)
};

Result<void> checkIsOperationLevel(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const bool isOne, isOperationLevel(trace));
  if (isOne)
    return {};
  return Error{ErrorCode::Unsupported,
               "the trace does not have the operations of all workers of a job (sonde import)"};
}

Result<void> readWorkers(const store::Database& trace, OperationRows& into) {
  return store::forEach<WorkerRow>(trace, kWorkers, [&](const WorkerRow& row) -> Result<void> {
    const bool isTwice = !into.workers.empty() &&
                         into.workers.back().dataParallel == row.dataParallel &&
                         into.workers.back().stage == row.stage;
    if (isTwice || row.stage < 0 || row.stage >= kMostStages)
      return Error{ErrorCode::Corrupt,
                   fmt::format("process {} is stage {} of data-parallel rank {}, and {}",
                               row.processId,
                               row.stage,
                               row.dataParallel,
                               isTwice ? "so is another one" : "there is no such stage")};
    into.workers.push_back({row.processId, row.hostId, row.rank, row.dataParallel, row.stage});
    into.stages = std::max(into.stages, row.stage + 1);
    return {};
  });
}

Result<void> checkTimes(const OperationRow& row) {
  if (model::isTime(row.beginNs) && *row.durNs >= 0 && *row.durNs < model::kMostNs &&
      model::isTime(row.beginNs + *row.durNs))
    return {};
  return Error{ErrorCode::Corrupt,
               fmt::format("slice {} begins at {} ns and takes {} ns: these are no valid times",
                           row.sliceId,
                           row.beginNs,
                           *row.durNs)};
}

class RowReader {
 public:
  explicit RowReader(const store::Database& trace) : trace_(trace) {}

  Result<OperationRows> read() {
    SONDE_TRY(checkIsOperationLevel(trace_));
    SONDE_TRY(readWorkers(trace_, found_));
    for (const Worker& worker : found_.workers)
      workers_.emplace(worker.processId, static_cast<std::uint32_t>(workers_.size()));
    SONDE_TRY(store::forEach<OperationRow>(
        trace_, kOperations, [this](const OperationRow& row) { return add(row); }));
    if (steps_.empty())
      return notFound("the trace has no operation that belongs to a step");
    sortSteps();
    return std::move(found_);
  }

 private:
  Result<void> add(const OperationRow& row) {
    const auto type = model::operationTypeOf(row.type);
    const auto worker = workers_.find(row.processId);
    if (!type || worker == workers_.end()) {
      ++found_.unknown;
      return {};
    }
    if (!row.step || !row.durNs) {
      ++found_.stepless;
      return {};
    }
    SONDE_TRY(checkTimes(row));
    steps_[*row.step].push_back({row.sliceId,
                                 row.threadId,
                                 worker->second,
                                 *type,
                                 row.chunk.value_or(-1),
                                 row.beginNs,
                                 *row.durNs});
    return {};
  }

  void sortSteps() {
    for (auto& [number, operations] : steps_) {
      std::sort(operations.begin(), operations.end(), [](const Operation& a, const Operation& b) {
        return std::tie(a.beginNs, a.sliceId) < std::tie(b.beginNs, b.sliceId);
      });
      found_.steps.push_back({number, std::move(operations)});
    }
  }

  const store::Database& trace_;
  OperationRows found_;
  std::unordered_map<std::int64_t, std::uint32_t> workers_;  // index by process
  std::map<std::int64_t, std::vector<Operation>> steps_;     // by number
};

}  // namespace

Result<bool> isOperationLevel(const store::Database& trace) {
  SONDE_TRY_ASSIGN(store::Statement found,
                   trace.prepare("SELECT 1 FROM meta WHERE key = 'operation_level'"));
  return found.step();
}

Result<OperationRows> readOperations(const store::Database& trace) {
  return RowReader(trace).read();
}

}  // namespace sonde::engine::operations
