// Makes the rows of one process image from the records in its spool file.
//
// One for each image, owned by the drainer, on its thread. It keeps state across slots (open
// scopes, ranges, iterations, rows of threads) and stores it beside the rows, so that a later
// recorder can resume after a kill. No record stops it: invalid ones are counted.
#pragma once

#include "analysis/ingest/rows/clock_fit.h"
#include "analysis/ingest/rows/dictionary.h"
#include "analysis/ingest/rows/process_row.h"
#include "analysis/ingest/rows/row_sink.h"
#include "analysis/ingest/rows/state_codec.h"
#include "analysis/ingest/spool/collective_rows.h"
#include "analysis/ingest/spool/device_rows.h"
#include "analysis/ingest/spool/host_memory_rows.h"
#include "analysis/ingest/spool/memory_rows.h"
#include "analysis/ingest/spool/plugin_rows.h"
#include "analysis/ingest/spool/thread_track.h"
#include "analysis/ingest/stacks/stack_rows.h"
#include "collector/wire/definitions.h"
#include "collector/wire/spool_format.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace sonde::ingest {

using LossTable = std::array<
    std::array<std::array<std::uint64_t, static_cast<std::size_t>(wire::LossReason::Count)>,
               static_cast<std::size_t>(wire::RecordKind::Count)>,
    static_cast<std::size_t>(wire::Probe::Count)>;

// The number of records by probe and kind that were lost for a reason the process does not know.
struct LostRecords {
  bool letGo = false;  // the oldest records were dropped on purpose: ends without a begin are not
                       // losses
  std::string_view reason;
  std::array<std::array<std::uint64_t, static_cast<std::size_t>(wire::RecordKind::Count)>,
             static_cast<std::size_t>(wire::Probe::Count)>
      count{};

  void add(std::span<const std::byte> records);
};

struct ImageCounts {
  std::uint64_t records = 0;     // became rows or parts of rows
  std::uint64_t skipped = 0;     // kinds unknown to this version, or with a broken size
  std::uint64_t damaged = 0;     // with impossible values
  std::uint64_t unbalanced = 0;  // ends without a begin
  std::uint64_t strayInfos = 0;  // iteration infos before any iteration
  std::uint64_t iterations = 0;  // those that have begun, of all threads
};

class ImageBuilder {
 public:
  // `spool`: name of the file. `process` has all values except its id and must outlive the builder.
  ImageBuilder(RowSink& sink,
               TimeBase time,
               std::string spool,
               ProcessRow& process,
               std::uint32_t probeMask);

  // Adds the row of the process. Requires: restore() was not called.
  void begin();
  // Restores the state that save() stored under this spool; false if there is none.
  Result<bool> restore();

  // Takes a definition from SpoolReader. After all new ones, call definitionsDone().
  void define(std::span<const std::byte> definition);
  void definitionsDone();

  // The thread starts to write to another slot at `claimTicks`. `records`: those of the slot.
  void openSlot(std::uint32_t thread,
                std::span<const wire::OpenScope> scopes,
                std::uint64_t claimTicks,
                std::span<const std::byte> records);
  void addRecords(std::uint32_t thread, std::span<const std::byte> records);

  // Lines of the process's current /proc/PID/maps.
  void addCode(std::string_view lines) { stacks_.addCode(lines, lastNs_); }
  // Records of a slot that only holds copies of a thread's stack.
  void addSamples(std::uint32_t thread, std::span<const std::byte> records);

  // A call that a thread has not ended: its record has `endTicks` 0.
  struct OpenRecord {
    std::uint32_t thread = 0;
    std::vector<std::byte> bytes;
  };
  // Replaces the rows of table open_call by the open scopes and these calls, each thread's
  // outermost first. `seenNs`: when they were read. `isLast`: each call also gets a row of its
  // kind.
  void noteOpen(const std::vector<OpenRecord>& calls, std::int64_t seenNs, bool isLast);

  // Stores the builder's state in the transaction of its rows.
  void save();
  // Closes what is open, with a duration only if the end is known, and stores the losses. The
  // process row has `state` and all else that is known of the process's end.
  void finish(const LossTable& losses,
              const PluginLossTable& pluginLosses,
              const LostRecords& lost);

  // The row of the thread with this kernel id that ran at `ns`. Creates it for an unknown thread.
  model::ThreadId threadOfTid(std::int32_t tid, std::int64_t ns);

  // Counts damage in the file outside of records.
  void noteDamage() noexcept { ++counts_.damaged; }
  const ImageCounts& counts() const noexcept { return counts_; }
  std::int64_t lastNs() const noexcept { return lastNs_; }

 private:
  struct Thread {
    std::uint32_t index = 0;
    model::Thread row;
    std::uint32_t name = 0;  // in the dictionary
    ThreadTrack track;
    model::Owner lastOwner = model::Owner::Slice;
    std::int64_t lastId = 0;  // of the previous record; 0: it did not become a row
    std::int64_t lastNs = 0;  // scopes of a thread never run backwards
    bool changed = true;      // since it was saved
  };
  struct OpenRange {
    std::int64_t token = 0;  // in the table of open scopes; negative
    std::uint32_t thread = 0;
    model::Slice slice;
    bool stored = false;
  };
  struct ThreadIteration {
    std::uint32_t thread = 0;
    // The torch probe began it when the previous one ended, and nothing has begun in it yet.
    bool isAwaiting = false;
    bool isNumbered = true;  // false: its begin was lost, and so was its number
    model::Iteration row;
  };
  using Handler = void (ImageBuilder::*)(Thread&, const std::byte*);
  static const std::array<Handler, static_cast<std::size_t>(wire::RecordKind::Count)> kHandlers;

  // One for each kind of record.
  void onScopeBegin(Thread& thread, const std::byte* at);
  void onScopeEnd(Thread& thread, const std::byte* at);
  void onCall(Thread& thread, const std::byte* at);
  void onRangeBegin(Thread& thread, const std::byte* at);
  void onRangeEnd(Thread& thread, const std::byte* at);
  void onFileAccess(Thread& thread, const std::byte* at);
  void onHandoff(Thread& thread, const std::byte* at);
  void onStackSample(Thread& thread, const std::byte* at);
  void onCounterValue(Thread& thread, const std::byte* at);
  void onNote(Thread& thread, const std::byte* at);
  void onAllocation(Thread& thread, const std::byte* at);
  void onRelease(Thread& thread, const std::byte* at);
  void onMark(Thread& thread, const std::byte* at);
  void onScalar(Thread& thread, const std::byte* at);
  void onTensor(Thread& thread, const std::byte* at);
  void onIterationInfo(Thread& thread, const std::byte* at);
  void onArg(Thread& thread, const std::byte* at);
  void onCollective(Thread& thread, const std::byte* at);
  void onTransfer(Thread& thread, const std::byte* at);
  void onMessage(Thread& thread, const std::byte* at);
  void onClockSync(Thread& thread, const std::byte* at);
  void onThreadEnd(Thread& thread, const std::byte* at);
  void onFork(Thread& thread, const std::byte* at);
  void onExec(Thread& thread, const std::byte* at);
  void onDeviceCall(Thread& thread, const std::byte* at);
  template <typename Record>
  void onDevice(Thread& thread, const std::byte* at);
  void onDeviceMemory(Thread& thread, const std::byte* at);
  void onDeviceMetric(Thread& thread, const std::byte* at);
  void onCollectivePart(Thread& thread, const std::byte* at);
  void onCollectivePlan(const std::byte* at);
  void onCommunicatorAbort(const std::byte* at);
  void onProxyStep(Thread& thread, const std::byte* at);
  std::int64_t happened(std::uint64_t ticks);
  model::Collective collectiveRow(const wire::Collective& record, model::CollectiveOp op);
  void addCollectiveArgs(model::CollectiveId id, const wire::Collective& record);
  void addCollectiveArg(std::uint64_t number, std::string_view key, std::uint64_t value);

  void defineThread(const wire::ThreadDefinition& definition);
  void defineThreadName(const wire::ThreadNameDefinition& definition);
  void defineChannel(std::span<const std::byte> bytes);
  void defineCommunicator(std::span<const std::byte> bytes);

  void noteTid(const Thread& thread);
  void addMemoryMark(const wire::DeviceMemory& record, std::string_view name);
  void addExternalId(const wire::DeviceCall& record);
  Thread& threadOf(std::uint32_t index);
  Thread& addThread(const wire::ThreadDefinition& definition);
  std::int64_t advance(Thread& thread, std::uint64_t ticks);
  // The end of a call; for an open one (0) the last time at which it is known to be open.
  std::int64_t endOf(Thread& thread, std::uint64_t endTicks);
  // `slice.category` of a call.
  std::string_view categoryOf(const wire::Call& record);
  std::optional<model::OpenCall> describeOpen(const Thread& thread, const std::byte* at);
  void describeOpenCollective(const std::byte* at, model::OpenCall& row);
  void addOpenRows(const Thread& thread, std::vector<model::OpenCall> rows);
  // Gives an open call the row that an ended one of its kind has, without an end.
  void storeOpen(Thread& thread, const std::byte* at, model::OpenCall& row);
  model::Slice newSlice(const Thread& thread,
                        model::SliceKind kind,
                        wire::Probe probe,
                        std::uint32_t name,
                        std::int64_t startNs);
  void beginScope(Thread& thread, const wire::OpenScope& scope, model::SliceKind kind);
  // Removes the number of the iteration that began last: its begin was lost. It may get its number
  // later.
  void takeNumberBack();
  bool endScope(Thread& thread, std::uint32_t token, std::int64_t endNs);
  // Closes a scope whose end was lost; it ended before `untilNs`.
  void loseEnd(Thread& thread, std::uint32_t token, std::int64_t untilNs);
  void storeScope(Thread& thread, const TrackScope& scope);
  // `isOpen`: it has not ended; it is known to be open until `endNs`.
  model::SliceId addCall(Thread& thread,
                         model::Slice slice,
                         std::int64_t endNs,
                         bool isOpen = false);
  void addMark(Thread& thread,
               std::string_view category,
               model::StringId name,
               std::uint64_t ticks);
  void endRange(OpenRange range, std::optional<std::int64_t> endNs);
  void beginIteration(const Thread& thread, const model::Slice& slice);
  void maskIteration(model::SliceId slice, std::uint32_t mask);
  // Reads wire::IterationProbes and what follows it, before and after the iteration's end.
  void takeProbes(model::SliceId slice, std::span<const std::byte> bytes);
  void addProbeCalls(const Thread& thread, model::SliceId slice, std::span<const std::byte> bytes);
  void beginInsideIteration(const Thread& thread, model::SliceKind kind);
  void endIteration(const model::Slice& slice);
  void tellIteration(TrackScope& scope, std::string_view key, std::int64_t value);
  void numberIteration(model::SliceId slice, std::int64_t number);
  void dropIteration(TrackScope& scope);
  ThreadIteration* openIteration(const Thread& thread, std::int64_t ns);
  ThreadIteration* pastIteration(const Thread& thread, std::int64_t ns);
  ThreadIteration* iterationOfOthers(std::int64_t ns);
  // The iteration of something recorded on the thread at this time, or nullptr.
  ThreadIteration* iterationOf(const Thread& thread, std::int64_t ns);
  model::OptionalInt numberAt(const Thread& thread, std::int64_t ns);
  std::optional<model::ArgValue> valueOf(const wire::Arg& record);
  // Takes a fact of the process that has its own columns: its rank, the size of its world.
  bool takePlaceInJob(std::string_view key, const model::ArgValue& value);
  void addArg(model::Owner owner, std::int64_t id, model::StringId key, model::ArgValue value);
  void remember(Thread& thread, model::Owner owner, std::int64_t id);

  void closeThread(Thread& thread);
  void addLosses(const LossTable& losses, const LostRecords& lost);
  void addLoss(std::string_view probe,
               std::string_view kind,
               std::uint64_t count,
               std::string_view reason);
  void addNote(model::Severity severity, std::string_view text);

  void saveThread(Thread& thread);
  std::unique_ptr<Thread> unpackThread(std::string_view blob) const;
  void dropEndedThreads();
  void unpack(std::string_view blob);
  Result<void> restoreMaps(std::string& blob);
  Result<void> restoreProcess();
  Result<void> restoreOpenScopes();
  void restoreCalledThread(std::int64_t tid, model::ThreadId row);

  RowSink& sink_;
  TimeBase time_;
  std::string spool_;
  ProcessRow& process_;
  std::uint32_t probeMask_;
  Dictionary dictionary_;
  DeviceRows devices_;
  MemoryRows memory_;
  HostMemoryRows hostMemory_;
  CollectiveRows collectives_;
  StackRows stacks_;
  PluginRows plugins_;
  ImageCounts counts_;
  // Threads that may still write, and those that wrote since the last save(). The trace has the
  // state of the others.
  std::unordered_map<std::uint32_t, std::unique_ptr<Thread>> threads_;
  // The threads with one kernel id, by start: ids may be reused.
  struct ThreadOfTid {
    std::int64_t startNs = 0;
    model::ThreadId row{};
    bool isOnlyCalled = false;  // known only from calls
  };
  std::unordered_map<std::int64_t, std::vector<ThreadOfTid>> threadsByTid_;
  std::unordered_map<std::uint32_t, model::ChannelId> channels_;
  std::unordered_map<std::uint32_t, model::CommunicatorId> communicators_;
  std::vector<std::vector<std::byte>> waiting_;  // definitions that refer to others
  std::map<std::uint64_t, OpenRange> ranges_;
  std::map<std::uint64_t, std::int64_t> earlyEnds_;  // of ranges whose begin is in an unread slot
  std::int64_t nextRangeToken_ = -1;
  std::vector<ThreadIteration> iterations_;      // open ones
  std::vector<ThreadIteration> pastIterations_;  // the latest completed ones
  std::int64_t nextIteration_ = 0;
  bool tellsProbes_ = false;  // iterations report at their ends which probes were on
  std::uint64_t notFollowed_ = 0;
  std::int64_t nextExternal_ = 0;
  std::int64_t lastNs_ = 0;
  std::int64_t seenNs_ = 0;  // when the process was last seen alive
  bool hasOpenRows_ = true;  // table open_call may have rows of this process
};

}  // namespace sonde::ingest
