// The channels of a process, such as connections and pipes, and what it sent and received on them.
//
// Part of one ImageBuilder, on its thread.
#pragma once

#include "analysis/ingest/spool/call_rows.h"
#include "analysis/ingest/spool/image_context.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

namespace sonde::ingest {

class ChannelRows {
 public:
  // All must outlive it.
  ChannelRows(ImageContext& image, CallRows& calls) : image_(image), calls_(calls) {}

  // `bytes`: a ChannelDefinition and its addresses. False: it is damaged.
  bool define(std::span<const std::byte> bytes);
  void restore(std::uint32_t id, model::ChannelId row) { rows_[id] = row; }
  // The row of the channel with this id; 0: it is undefined.
  model::ChannelId rowOf(std::uint32_t id) const;

  // Handlers of records.
  void onTransfer(ImageThread& thread, const std::byte* at);
  void onMessage(ImageThread& thread, const std::byte* at);

 private:
  ImageContext& image_;
  CallRows& calls_;
  std::unordered_map<std::uint32_t, model::ChannelId> rows_;
};

}  // namespace sonde::ingest
