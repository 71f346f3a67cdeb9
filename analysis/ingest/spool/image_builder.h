// Makes the rows of one process image from the records in its spool file.
//
// One for each image, owned by the drainer, on its thread. It keeps state across slots (open
// scopes, ranges, iterations, rows of threads) and stores it beside the rows, so that a later
// recorder can resume after a kill. No record stops it: invalid ones are counted.
#pragma once

#include "analysis/ingest/rows/losses.h"
#include "analysis/ingest/spool/call_rows.h"
#include "analysis/ingest/spool/channel_rows.h"
#include "analysis/ingest/spool/collective_rows.h"
#include "analysis/ingest/spool/communicator_rows.h"
#include "analysis/ingest/spool/device_call_rows.h"
#include "analysis/ingest/spool/device_rows.h"
#include "analysis/ingest/spool/host_memory_rows.h"
#include "analysis/ingest/spool/image_context.h"
#include "analysis/ingest/spool/iteration_rows.h"
#include "analysis/ingest/spool/memory_rows.h"
#include "analysis/ingest/spool/open_call_rows.h"
#include "analysis/ingest/spool/plugin_rows.h"
#include "analysis/ingest/spool/process_rows.h"
#include "analysis/ingest/spool/scope_rows.h"
#include "analysis/ingest/spool/thread_rows.h"
#include "analysis/ingest/stacks/stack_rows.h"
#include "collector/wire/spool_format.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::ingest {

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
  void addCode(std::string_view lines) { stacks_.addCode(lines, image_.lastNs); }
  // Stacks of the threads that wait at `ns`.
  void addStill(const StillProcess& still, std::int64_t ns);
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

  // As ThreadRows::rowOf().
  model::ThreadId threadOfTid(std::int32_t tid, std::int64_t ns) { return threads_.rowOf(tid, ns); }

  // Counts damage in the file outside of records.
  void noteDamage() noexcept { ++image_.counts.damaged; }
  const ImageCounts& counts() const noexcept { return image_.counts; }
  std::int64_t lastNs() const noexcept { return image_.lastNs; }

 private:
  using Handler = void (*)(ImageBuilder&, ImageThread&, const std::byte*);
  static const std::array<Handler, static_cast<std::size_t>(wire::RecordKind::Count)> kHandlers;
  // Passes a record to a part's handler.
  template <auto kPart, auto kHandler>
  static void pass(ImageBuilder& image, ImageThread& thread, const std::byte* at) {
    ((image.*kPart).*kHandler)(thread, at);
  }
  void onStackSample(const ImageThread& thread, const std::byte* at);

  // False: the definition is damaged.
  bool defineString(std::span<const std::byte> bytes);
  bool defineCode(std::span<const std::byte> bytes);
  bool defineRow(std::span<const std::byte> bytes);
  // Gives an open call the row that an ended one of its kind has, without an end.
  void storeOpen(ImageThread& thread, const std::byte* at, model::OpenCall& row);
  void addLosses(const LossTable& losses, const LostRecords& lost);
  void addUnreadableNote();

  void unpack(std::string_view blob);
  Result<void> restoreMaps(std::string& blob);

  ImageContext image_;
  ThreadRows threads_;
  DeviceRows devices_;
  MemoryRows memory_;
  HostMemoryRows hostMemory_;
  CollectiveRows collectives_;
  StackRows stacks_;
  PluginRows plugins_;
  CallRows calls_;
  IterationRows iterations_;
  ScopeRows scopes_;
  ChannelRows channels_;
  CommunicatorRows communicators_;
  DeviceCallRows deviceCalls_;
  ProcessRows processRows_;
  OpenCallRows openCalls_;
  std::vector<std::vector<std::byte>> waiting_;  // definitions that refer to others
};

}  // namespace sonde::ingest
