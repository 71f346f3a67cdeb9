// Writes rows into a trace. Owns its Database; one thread at a time.
//
// The caller begins and commits transactions; uncommitted rows are lost when the process dies. Rows
// are stored in batches, so a later add() or commit() may report a full disk. After a failure
// nothing is written, and each call returns that failure until rollback(). add() assigns the next
// id of the table if `row.id` is 0, else takes the given one; ids only grow. Names are interned: a
// text keeps its id for the life of the file, also after reopening. CHECK constraints are off on
// this connection, because the rows' types already ensure them.
#pragma once

#include "analysis/model/rows.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace sonde::store {

// The result of adding a row: its id, if its table has ids.
template <typename Row>
struct AddedRow {
  using type = Result<void>;
};
template <typename Row>
requires requires(Row row) {
  row.id;
}
struct AddedRow<Row> {
  using type = Result<decltype(Row::id)>;
};
template <typename Row>
using Added = typename AddedRow<Row>::type;

class TraceWriter {
 public:
  // `trace` comes from createTrace or reopenTrace.
  static Result<TraceWriter> open(Database trace);

  TraceWriter(TraceWriter&&) noexcept;
  TraceWriter& operator=(TraceWriter&&) noexcept;
  ~TraceWriter();  // rolls back uncommitted rows

  Result<void> begin();
  Result<void> commit();
  // Undoes all rows, strings and ids since begin().
  Result<void> rollback();
  // Whether a call failed since begin(), and its error.
  bool failed() const noexcept;
  const Error& failure() const noexcept;  // Requires: failed().
  // Reports a failed write outside this object: the transaction must not be committed.
  void fail(const Error& error);
  // Moves the write-ahead log into the trace and empties it, unless a reader keeps it for 10 s.
  // Requires: no transaction.
  Result<void> foldLog();

  Result<model::StringId> intern(std::string_view text);

  // An id for a slice that is open now and will be added when it ends.
  model::SliceId reserveSliceId() noexcept { return reserveId<model::SliceId>(); }
  // The same for a process, thread, device, stream, slice, kernel, copy, sync or collective.
  template <typename Id>
  Id reserveId() noexcept;

  // Adds a row of any table of model/rows.h. A row with an id of 0 gets the next of its table,
  // which is returned; one of a table that is keyed otherwise (Row::kReplaces) takes the place of
  // the row with its key.
  template <typename Row>
  Added<Row> add(const Row& row);

  // Overwrites the row of that id, all columns. For a process, thread, device, stream, allocation
  // or iteration.
  template <typename Row>
  Result<void> update(const Row& row);

  // For a slice that turns out to be inside another one.
  Result<void> moveSlice(model::SliceId id, model::SliceId parent, std::int64_t depth);
  // For a collective whose duration became known, or turned out to be unknown.
  Result<void> endCollective(model::CollectiveId id, model::OptionalInt durNs);
  // For a collective whose implementation became known.
  Result<void> planCollective(model::CollectiveId id,
                              model::OptionalText algorithm,
                              model::OptionalText protocol);

  Result<void> dropOpenScope(std::string_view spool, model::ThreadId thread, std::int64_t token);
  // Removes the open calls of the process.
  Result<void> dropOpenCalls(model::ProcessId process);

  // For reading rows added so far, and for bulk copies through ATTACH between begin() and commit().
  // After a copy into tables with ids or into `string`, call reload().
  Database& database();
  // Loads strings and ids that were written outside this object.
  Result<void> reload();

  // Commits and hands the database over to finalise().
  static Result<Database> release(TraceWriter writer);

 private:
  struct State;
  explicit TraceWriter(std::unique_ptr<State> state) noexcept;

  std::unique_ptr<State> state_;
};

}  // namespace sonde::store
