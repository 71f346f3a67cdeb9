// The operation that each thread was in at each instant, as a breakdown sees it, and the operation
// that a scope belongs to. Plain values; reading uses the database's thread.
#pragma once

#include "analysis/engine/breakdown/scopes.h"
#include "analysis/engine/breakdown/track.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::engine::breakdown {

// An operation is the string id of its name; 0: no operation.
class ProcessOperations {
 public:
  ProcessOperations(std::int64_t processId, std::vector<Span> spans, Scopes scopes)
      : processId_(processId), spans_(std::move(spans)), scopes_(std::move(scopes)) {}

  std::int64_t processId() const noexcept { return processId_; }
  // The spans of all threads, one thread after the other; the label is the operation. Waiting
  // outside of annotations does not count.
  const std::vector<Span>& spans() const noexcept { return spans_; }
  // The kind of the first slice with this name; unset: no operation has it.
  std::optional<model::SliceKind> kindOf(std::uint32_t operation) const;
  // The operation that this slice is; else the innermost one around it.
  std::uint32_t operationOf(std::int64_t scopeId);

 private:
  std::int64_t processId_;
  std::vector<Span> spans_;
  Scopes scopes_;
};

// Returns all processes that did something. Reads the whole trace; process_events.h states the
// memory.
Result<std::vector<ProcessOperations>> readOperationSpans(const store::Database& trace);

}  // namespace sonde::engine::breakdown
