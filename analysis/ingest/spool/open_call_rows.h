// Makes the rows of table open_call: the calls and scopes that a process's threads have not ended.
//
// Part of one ImageBuilder, on its thread.
#pragma once

#include "analysis/ingest/spool/call_rows.h"
#include "analysis/ingest/spool/channel_rows.h"
#include "analysis/ingest/spool/communicator_rows.h"
#include "analysis/ingest/spool/image_context.h"
#include "analysis/ingest/spool/thread_rows.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace sonde::ingest {

class OpenCallRows {
 public:
  // All must outlive it.
  OpenCallRows(ImageContext& image,
               ThreadRows& threads,
               CallRows& calls,
               const ChannelRows& channels,
               const CommunicatorRows& communicators)
      : image_(image),
        threads_(threads),
        calls_(calls),
        channels_(channels),
        communicators_(communicators) {}

  // Removes all rows of the process.
  void drop();
  // The row of a call from the record that it will become. Unset for a record that is not a call,
  // or has impossible values.
  std::optional<model::OpenCall> describe(const ImageThread& thread, const std::byte* at);
  // Adds all rows of a thread: those of its open scopes and these.
  void add(const ImageThread& thread, std::vector<model::OpenCall> rows);

 private:
  void describeCollective(const std::byte* at, model::OpenCall& row);

  ImageContext& image_;
  ThreadRows& threads_;
  CallRows& calls_;
  const ChannelRows& channels_;
  const CommunicatorRows& communicators_;
  bool hasRows_ = true;  // the table may have rows of this process
};

}  // namespace sonde::ingest
