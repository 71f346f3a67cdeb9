// Makes the slices of records with begin and end: scopes, which end on their thread, and ranges,
// which may end on any. Those that are open are in the trace's table of open scopes.
//
// Part of one ImageBuilder, on its thread.
#pragma once

#include "analysis/ingest/rows/state_codec.h"
#include "analysis/ingest/spool/image_context.h"
#include "analysis/ingest/spool/iteration_rows.h"
#include "analysis/ingest/spool/plugin_rows.h"
#include "analysis/ingest/spool/thread_rows.h"
#include "base/result.h"
#include "collector/wire/spool_format.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

namespace sonde::ingest {

class ScopeRows {
 public:
  // All must outlive it.
  ScopeRows(ImageContext& image,
            ThreadRows& threads,
            PluginRows& plugins,
            IterationRows& iterations)
      : image_(image), threads_(threads), plugins_(plugins), iterations_(iterations) {}

  // Handlers of records.
  void onScopeBegin(ImageThread& thread, const std::byte* at);
  void onScopeEnd(ImageThread& thread, const std::byte* at);
  void onRangeBegin(ImageThread& thread, const std::byte* at);
  void onRangeEnd(ImageThread& thread, const std::byte* at);

  // As ImageBuilder::openSlot().
  void openSlot(ImageThread& thread,
                std::span<const wire::OpenScope> scopes,
                std::uint64_t claimTicks,
                std::span<const std::byte> records);
  // The thread ends, and all its scopes with it.
  void endAll(ImageThread& thread, std::int64_t endNs);
  // Stores everything that is open, without an end.
  void finish();

  // Stores the open ranges. Their own numbers have two places in the builder's state.
  void save();
  std::int64_t nextToken() const noexcept { return nextToken_; }
  void pack(StatePacker& out) const;
  // Restore what pack() stored and the scopes that were open. Requires: threads are restored.
  void unpack(std::int64_t nextToken, StateUnpacker& in);
  Result<void> restore();

 private:
  struct OpenRange {
    std::int64_t token = 0;  // in the table of open scopes; negative
    std::uint32_t thread = 0;
    model::Slice slice;
    bool stored = false;
  };

  void begin(ImageThread& thread, const wire::OpenScope& scope, model::SliceKind kind);
  bool end(ImageThread& thread, std::uint32_t token, std::int64_t endNs);
  // Closes a scope whose end was lost; it ended before `untilNs`.
  void loseEnd(ImageThread& thread, std::uint32_t token, std::int64_t untilNs);
  void store(const ImageThread& thread, const TrackScope& scope);
  void endRange(OpenRange range, std::optional<std::int64_t> endNs);

  ImageContext& image_;
  ThreadRows& threads_;
  PluginRows& plugins_;
  IterationRows& iterations_;
  std::map<std::uint64_t, OpenRange> ranges_;
  std::map<std::uint64_t, std::int64_t> earlyEnds_;  // of ranges whose begin is in an unread slot
  std::int64_t nextToken_ = -1;
};

}  // namespace sonde::ingest
