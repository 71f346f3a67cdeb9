// The destination of a drain's rows. Its writer remembers the first failure and ignores later rows,
// so builders need not check each call. The drainer checks once before it commits, and rolls back.
//
// Owned by one drainer, on one thread. Must be destroyed before the TraceWriter.
#pragma once

#include "analysis/store/trace_writer.h"
#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace sonde::ingest {

class RowSink {
 public:
  static Result<RowSink> open(store::TraceWriter& writer);

  template <typename Row>
  auto add(const Row& row) {
    return keep(writer_->add(row));
  }
  template <typename Row>
  void update(const Row& row) {
    check(writer_->update(row));
  }

  model::StringId intern(std::string_view text) { return keep(writer_->intern(text)); }
  model::SliceId reserveSliceId() noexcept { return writer_->reserveSliceId(); }
  void dropOpenScope(std::string_view spool, model::ThreadId thread, std::int64_t token) {
    check(writer_->dropOpenScope(spool, thread, token));
  }
  void dropOpenCalls(model::ProcessId process) { check(writer_->dropOpenCalls(process)); }
  // For a finished slice that turns out to be inside another one.
  void moveSlice(model::SliceId id, model::SliceId parent, std::int64_t depth) {
    check(writer_->moveSlice(id, parent, depth));
  }
  // For a stored collective whose duration becomes known later.
  void endCollective(model::CollectiveId id, model::OptionalInt durNs) {
    check(writer_->endCollective(id, durNs));
  }
  // For a stored collective whose implementation becomes known later.
  void planCollective(model::CollectiveId id,
                      model::OptionalText algorithm,
                      model::OptionalText protocol) {
    check(writer_->planCollective(id, algorithm, protocol));
  }
  // State that a builder needs to resume after the recorder was killed.
  void setState(std::string_view spool,
                std::string_view kind,
                std::int64_t key,
                std::int64_t value);
  void setState(std::string_view spool,
                std::string_view kind,
                std::int64_t key,
                std::string_view blob);
  void dropState(std::string_view spool, std::string_view kind, std::int64_t key);
  // The blob that setState() stored; empty: none.
  std::string state(std::string_view spool, std::string_view kind, std::int64_t key);

  store::TraceWriter& writer() noexcept { return *writer_; }
  bool failed() const noexcept { return writer_->failed(); }
  // Requires: failed().
  const Error& failure() const noexcept { return writer_->failure(); }

 private:
  RowSink(store::TraceWriter& writer,
          store::Statement setState,
          store::Statement getState,
          store::Statement dropState)
      : writer_(&writer),
        setState_(std::move(setState)),
        getState_(std::move(getState)),
        dropState_(std::move(dropState)) {}

  void check(const Result<void>& result) {
    if (!result)
      writer_->fail(result.error());
  }
  void keep(const Result<void>& result) { check(result); }
  template <typename Id>
  Id keep(const Result<Id>& result) {
    if (result)
      return *result;
    writer_->fail(result.error());
    return {};
  }

  store::TraceWriter* writer_;
  store::Statement setState_;
  store::Statement getState_;
  store::Statement dropState_;
};

}  // namespace sonde::ingest
