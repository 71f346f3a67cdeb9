// Makes the slices of records that a thread writes when a call has ended, and of its marks: calls
// of functions, accesses to files, waits for other threads.
//
// Part of one ImageBuilder, on its thread.
#pragma once

#include "analysis/ingest/spool/image_context.h"
#include "analysis/ingest/spool/plugin_rows.h"
#include "analysis/ingest/spool/thread_rows.h"
#include "collector/wire/records.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sonde::ingest {

class CallRows {
 public:
  // All must outlive it.
  CallRows(ImageContext& image, ThreadRows& threads, const PluginRows& plugins)
      : image_(image), threads_(threads), plugins_(plugins) {}

  // Handlers of records.
  void onCall(ImageThread& thread, const std::byte* at);
  void onMark(ImageThread& thread, const std::byte* at);
  void onFileAccess(ImageThread& thread, const std::byte* at);
  void onHandoff(ImageThread& thread, const std::byte* at);

  // Adds the slice of a call. `isOpen`: it has not ended; it is known to be open until `endNs`.
  model::SliceId add(ImageThread& thread,
                     model::Slice slice,
                     std::int64_t endNs,
                     bool isOpen = false);
  // Adds a mark, which the thread remembers.
  void addMark(ImageThread& thread,
               std::string_view category,
               model::StringId name,
               std::uint64_t ticks);
  // `slice.category` of a call.
  std::string_view categoryOf(const wire::Call& record);

 private:
  ImageContext& image_;
  ThreadRows& threads_;
  const PluginRows& plugins_;
};

}  // namespace sonde::ingest
