// Writes rows into a trace. Owns its Database; one thread at a time.
//
// Rows are added inside transactions that the caller begins and commits; what is not committed is
// gone when the process dies. They are stored in batches, so a disk that is full may be told by a
// later add() or by commit(). After a failure nothing is written any more, and each call gives that
// failure again, until rollback(). add() gives the row the next id of its table when `row.id` is 0
// and otherwise takes the given one; either way ids only grow. Names are interned: the same text
// has the same id for the life of the file, also after reopening. CHECK constraints are off on this
// connection, because the rows' types already admit nothing else.
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
  ~TraceWriter();  // rolls back what is not committed

  Result<void> begin();
  Result<void> commit();
  // Takes back all rows, strings and ids since begin().
  Result<void> rollback();
  // Whether something failed since begin(), and what.
  bool failed() const noexcept;
  const Error& failure() const noexcept;  // Requires: failed().
  // What was written past this object failed: the transaction is not to be committed.
  void fail(const Error& error);
  // Moves what is in the write-ahead log into the trace and empties the log, unless a reader keeps
  // it for 10 s. Requires: no transaction.
  Result<void> foldLog();

  Result<model::StringId> intern(std::string_view text);

  // An id for a slice that is open now and added when it ends.
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

  // A slice turned out to lie in another one.
  Result<void> moveSlice(model::SliceId id, model::SliceId parent, std::int64_t depth);
  // A collective's duration became known, or turned out not to be.
  Result<void> endCollective(model::CollectiveId id, model::OptionalInt durNs);
  // How it is carried out became known.
  Result<void> planCollective(model::CollectiveId id,
                              model::OptionalText algorithm,
                              model::OptionalText protocol);

  Result<void> dropOpenScope(std::string_view spool, model::ThreadId thread, std::int64_t token);
  // Forgets what the process was in the middle of.
  Result<void> dropOpenCalls(model::ProcessId process);

  // For reading back what was added until now, and for bulk copies through ATTACH between begin()
  // and commit(); a copy that adds rows to tables with ids or to `string` calls reload() after it.
  Database& database();
  // Takes up strings and ids that were written past this object.
  Result<void> reload();

  // Commits what is open and hands the database over, for finalise().
  static Result<Database> release(TraceWriter writer);

 private:
  struct State;
  explicit TraceWriter(std::unique_ptr<State> state) noexcept;

  std::unique_ptr<State> state_;
};

}  // namespace sonde::store
