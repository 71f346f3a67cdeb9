#include "analysis/engine/critical/thread_labels.h"

#include "analysis/store/read_rows.h"

#include <algorithm>
#include <string_view>

namespace sonde::engine::critical {
namespace {

// A slice, as much of it as names a part.
struct Slice {
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;
  std::string_view kind;
  std::int64_t nameId = 0;

  SONDE_COLUMNS(startNs, endNs, kind, nameId)
};

// The work of a thread where it recorded nothing.
struct Unrecorded {
  PathCause cause = PathCause::Host;
  std::int64_t nameId = 0;
};

Unrecorded unrecordedOf(const graph::Lane& lane) {
  switch (lane.background) {
    case graph::Background::Loads:
      return {PathCause::Loader, lane.backgroundNameId};
    case graph::Background::Transfers:
      return {PathCause::Transfer, lane.backgroundNameId};
    case graph::Background::Computes:
      break;
  }
  return {PathCause::Host, lane.backgroundNameId};
}

PathCause causeOf(std::string_view kind, PathCause outer) {
  if (kind == "data_load" || outer == PathCause::Loader)
    return PathCause::Loader;
  if (kind == "collective" || outer == PathCause::Transfer)
    return PathCause::Transfer;
  if (kind == "io")
    return PathCause::Io;
  return kind == "wait" ? PathCause::Wait : PathCause::Host;
}

// Splits the stretches of one thread by its innermost slices. Both come in order.
class Splitter {
 public:
  Splitter(const std::vector<ThreadStretch>& stretches,
           const Unrecorded& background,
           const LabelSink& sink)
      : stretches_(stretches), background_(background), sink_(sink) {}

  void add(const Slice& slice) {
    passTo(slice.startNs);
    if (slice.endNs <= slice.startNs)
      return;
    const PathCause outer = open_.empty() ? background_.cause : open_.back().cause;
    // A slice that outlives the one around it ends with it.
    const std::int64_t end =
        open_.empty() ? slice.endNs : std::min(slice.endNs, open_.back().endNs);
    open_.push_back({0, slice.startNs, end, causeOf(slice.kind, outer), slice.nameId});
  }

  void finish() {
    while (!open_.empty())
      passTo(open_.back().endNs);
    passTo(INT64_MAX);
  }

 private:
  void passTo(std::int64_t ns) {
    while (!open_.empty() && open_.back().endNs <= ns) {
      label(open_.back().endNs);
      open_.pop_back();
    }
    label(ns);
  }

  // The time until `ns` is that of the innermost open slice.
  void label(std::int64_t ns) {
    while (next_ < stretches_.size() && stretches_[next_].beginNs < ns) {
      const ThreadStretch& at = stretches_[next_];
      const std::int64_t begin = std::max(at.beginNs, now_);
      const std::int64_t end = std::min(at.endNs, ns);
      if (end > begin)
        sink_({at.key,
               begin,
               end,
               open_.empty() ? background_.cause : open_.back().cause,
               open_.empty() ? background_.nameId : open_.back().nameId});
      if (at.endNs > ns)
        break;
      ++next_;
    }
    now_ = std::max(now_, ns);
  }

  const std::vector<ThreadStretch>& stretches_;
  const Unrecorded background_;
  const LabelSink& sink_;
  std::vector<ThreadLabel> open_;
  std::size_t next_ = 0;
  std::int64_t now_ = INT64_MIN;
};

}  // namespace

Result<void> labelThread(const store::Database& trace,
                         const align::JobClock& clock,
                         const graph::Lane& lane,
                         const std::vector<ThreadStretch>& stretches,
                         const LabelSink& sink) {
  Splitter splitter(stretches, unrecordedOf(lane), sink);
  SONDE_TRY_ASSIGN(store::Statement rows,
                   trace.prepare("SELECT start_ns, start_ns + dur_ns AS end_ns, kind, name_id FROM "
                                 "slice WHERE thread_id = ? AND lane = 0 AND dur_ns > 0 ORDER BY "
                                 "start_ns, depth"));
  rows.bind(1, lane.id);
  SONDE_TRY(store::forEach<Slice>(rows, [&](Slice slice) {
    slice.startNs = clock.toJob(lane.hostId, slice.startNs);
    slice.endNs = clock.toJob(lane.hostId, slice.endNs);
    splitter.add(slice);
  }));
  splitter.finish();
  return {};
}

}  // namespace sonde::engine::critical
