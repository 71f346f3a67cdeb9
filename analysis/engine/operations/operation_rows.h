// Reads the operations of an operation-level trace (`meta.operation_level`), by step and worker.
// Uses the database's thread; then plain values.
#pragma once

#include "analysis/model/operation_types.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::operations {

// A data-parallel rank at a pipeline stage.
struct Worker {
  std::int64_t processId = 0;
  std::int64_t hostId = 0;
  std::int64_t rank = -1;  // -1: none
  std::int64_t dataParallel = 0;
  std::int64_t stage = 0;
};

struct Operation {
  std::int64_t sliceId = 0;
  std::int64_t threadId = 0;
  std::uint32_t worker = 0;  // index
  model::OperationType type = model::OperationType::Forward;
  std::int64_t chunk = -1;   // of the model; -1: none, or unknown
  std::int64_t beginNs = 0;  // in the host's time; its distance to other steps has no meaning
  std::int64_t durNs = 0;

  std::int64_t endNs() const noexcept { return beginNs + durNs; }
};

struct Step {
  std::int64_t number = 0;
  std::vector<Operation> operations;  // by begin, then by id
};

struct OperationRows {
  std::vector<Worker> workers;  // by data-parallel rank, then by stage
  std::vector<Step> steps;      // by number
  std::int64_t stages = 0;      // 1 + the highest one
  std::int64_t unknown = 0;     // operations of other types, left out
  std::int64_t stepless = 0;    // operations without a step or an end, left out
};

// Whether the trace is one.
Result<bool> isOperationLevel(const store::Database& trace);

// Unsupported: it is no operation-level trace. NotFound: it has no operation of a step. Corrupt: a
// worker occurs twice, or a time is not valid.
Result<OperationRows> readOperations(const store::Database& trace);

}  // namespace sonde::engine::operations
