// Which operation each thread was in from instant to instant, as a breakdown sees it, and which one
// a scope belongs to. Plain values; reading uses the database's thread.
#pragma once

#include "analysis/engine/breakdown/scopes.h"
#include "analysis/engine/breakdown/track.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::breakdown {

// An operation is the string that is its name; 0: none.
class ProcessOperations {
 public:
  ProcessOperations(std::int64_t processId, std::vector<Span> spans, Scopes scopes)
      : processId_(processId), spans_(std::move(spans)), scopes_(std::move(scopes)) {}

  std::int64_t processId() const noexcept { return processId_; }
  // Of all threads, one thread after the other; the label is the operation. That a thread waits
  // in no annotation is nothing that it does.
  const std::vector<Span>& spans() const noexcept { return spans_; }
  // The innermost that this slice is, or that it is in.
  std::uint32_t operationOf(std::int64_t scopeId);

 private:
  std::int64_t processId_;
  std::vector<Span> spans_;
  Scopes scopes_;
};

// Of all processes that did something. Reads the whole trace; memory as process_events.h has it.
Result<std::vector<ProcessOperations>> readOperationSpans(const store::Database& trace);

}  // namespace sonde::engine::breakdown
