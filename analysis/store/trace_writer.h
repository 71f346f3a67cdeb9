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

#include "analysis/model/account.h"
#include "analysis/model/code.h"
#include "analysis/model/device_work.h"
#include "analysis/model/event.h"
#include "analysis/model/place.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace sonde::store {

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

  Result<void> add(const model::Meta& row);  // replaces the value of a key that is there
  Result<model::HostId> add(const model::Host& row);
  Result<model::ProcessId> add(const model::Process& row);
  Result<model::ThreadId> add(const model::Thread& row);
  Result<model::DeviceId> add(const model::Device& row);
  Result<model::StreamId> add(const model::Stream& row);
  Result<void> add(const model::ClockSync& row);
  Result<void> add(const model::ClockMap& row);
  Result<void> add(const model::Mapping& row);
  Result<model::SliceId> add(const model::Slice& row);
  Result<model::KernelId> add(const model::Kernel& row);
  Result<model::CopyId> add(const model::Copy& row);
  Result<model::SyncId> add(const model::Sync& row);
  Result<void> add(const model::Arg& row);
  Result<void> add(const model::Link& row);
  Result<model::CommunicatorId> add(const model::Communicator& row);
  Result<void> add(const model::CommunicatorMember& row);
  Result<model::CollectiveId> add(const model::Collective& row);
  Result<model::ChannelId> add(const model::Channel& row);
  Result<model::TransferId> add(const model::Transfer& row);
  Result<model::IterationId> add(const model::Iteration& row);
  Result<void> add(const model::Scalar& row);
  Result<void> add(const model::Tensor& row);
  Result<model::CounterId> add(const model::Counter& row);
  Result<void> add(const model::Sample& row);
  Result<model::FrameId> add(const model::Frame& row);
  Result<model::StackId> add(const model::Stack& row);
  Result<void> add(const model::StackSample& row);
  Result<model::AllocationId> add(const model::Allocation& row);
  Result<void> add(const model::DeviceMetric& row);
  Result<void> add(const model::FileAccess& row);
  Result<void> add(const model::Handoff& row);
  Result<void> add(const model::OpenCall& row);
  Result<void> add(const model::Overhead& row);
  Result<void> add(const model::OverheadCovariance& row);
  Result<void> add(const model::ProbeCall& row);
  Result<void> add(const model::Loss& row);
  Result<model::NoteId> add(const model::Note& row);

  // Overwrite the row of that id, all columns.
  Result<void> update(const model::Process& row);
  Result<void> update(const model::Thread& row);
  Result<void> update(const model::Device& row);
  Result<void> update(const model::Stream& row);
  Result<void> update(const model::Allocation& row);
  Result<void> update(const model::Iteration& row);

  // A slice turned out to lie in another one.
  Result<void> moveSlice(model::SliceId id, model::SliceId parent, std::int64_t depth);
  // A collective's duration became known, or turned out not to be.
  Result<void> endCollective(model::CollectiveId id, model::OptionalInt durNs);
  // How it is carried out became known.
  Result<void> planCollective(model::CollectiveId id,
                              model::OptionalText algorithm,
                              model::OptionalText protocol);

  // The recorder's own state, in the same transaction as the rows it speaks of.
  Result<void> set(const model::Ingested& row);
  Result<void> set(const model::OpenScope& row);
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
