// The communicators of a process, and the collectives that it called on them: the records of their
// calls, and of a library's work for them after the call.
//
// Part of one ImageBuilder, on its thread.
#pragma once

#include "analysis/ingest/spool/call_rows.h"
#include "analysis/ingest/spool/channel_rows.h"
#include "analysis/ingest/spool/collective_rows.h"
#include "analysis/ingest/spool/image_context.h"
#include "collector/wire/records.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>

namespace sonde::ingest {

class CommunicatorRows {
 public:
  // All must outlive it.
  CommunicatorRows(ImageContext& image,
                   CallRows& calls,
                   const ChannelRows& channels,
                   CollectiveRows& collectives)
      : image_(image), calls_(calls), channels_(channels), collectives_(collectives) {}

  // `bytes`: a CommunicatorDefinition and its ranks, if known. False: it is damaged.
  bool define(std::span<const std::byte> bytes);
  void restore(std::uint32_t id, model::CommunicatorId row) { rows_[id] = row; }
  // The row of the communicator with this id; 0: it is undefined.
  model::CommunicatorId rowOf(std::uint32_t id) const;

  // Handlers of records.
  void onCollective(ImageThread& thread, const std::byte* at);
  void onCollectivePart(ImageThread& thread, const std::byte* at);

 private:
  void addMembers(const model::Communicator& row, std::span<const std::byte> ranks);
  model::Collective collectiveRow(const wire::Collective& record, model::CollectiveOp op) const;
  void addArgs(model::CollectiveId id, const wire::Collective& record);
  void addArg(model::CollectiveId id, std::string_view key, std::uint64_t value);
  void onEnd(const std::byte* at);
  void onPlan(const std::byte* at);
  void onAbort(const std::byte* at);
  void onProxyStep(ImageThread& thread, const std::byte* at);

  ImageContext& image_;
  CallRows& calls_;
  const ChannelRows& channels_;
  CollectiveRows& collectives_;
  std::unordered_map<std::uint32_t, model::CommunicatorId> rows_;
};

}  // namespace sonde::ingest
