#include "analysis/export/perfetto/perfetto_exporter.h"

#include "analysis/export/perfetto/debug_annotations.h"
#include "analysis/export/timeline.h"
#include "analysis/export/timeline_visit.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

namespace sonde::exports {
namespace {

using perfetto::TracePacket;
using perfetto::TrackDescriptor;
using perfetto::TrackEvent;

constexpr std::uint32_t kSequence = 1;
constexpr std::uint32_t kPacketTag = 1 << 3 | 2;  // Trace.packet, length-delimited

// The kind of a track, as a part of its uuid.
enum class Uuid : std::uint64_t { Process = 1, Thread, Stream, Channel, Counter, Path };

std::uint64_t uuidOf(Uuid what, std::int64_t id, std::int64_t lane = 0) noexcept {
  return static_cast<std::uint64_t>(what) << 60 | static_cast<std::uint64_t>(lane) << 44 |
         (static_cast<std::uint64_t>(id) & ((std::uint64_t{1} << 44) - 1));
}

// Texts that are written once and then referred to by number.
class Interned {
 public:
  // Returns the number, and whether it is new.
  std::pair<std::uint64_t, bool> numberOf(std::string_view text) {
    const auto [entry, isNew] = numbers_.try_emplace(std::string(text), numbers_.size() + 1);
    return {entry->second, isNew};
  }

 private:
  std::unordered_map<std::string, std::uint64_t> numbers_;
};

class PerfettoWriter : public TimelineVisitor {
 public:
  PerfettoWriter(OutputFile& output, std::int64_t zeroNs) noexcept
      : output_(output), zeroNs_(zeroNs) {}

  Result<void> begin();
  Result<void> end() { return closeTrack(); }
  Result<void> path(const std::vector<PathSpan>& spans);

  Result<void> process(const TimelineProcess& process) override;
  Result<void> track(const TimelineTrack& track) override;
  Result<void> span(const TimelineSpan& span) override;
  Result<void> counter(const TimelineCounter& counter) override;
  Result<void> sample(std::int64_t ns, double value, model::OptionalInt iteration) override;

 private:
  struct Open {
    std::int64_t depth = 0;
    model::OptionalInt endNs{};
  };
  struct Lane {
    std::uint64_t uuid = 0;
    std::vector<Open> open;
  };

  TrackEvent& newEvent(std::int64_t ns, std::uint64_t track, TrackEvent::Type type);
  Result<void> write();
  Result<void> newLane();
  Result<void> closeUntil(Lane& lane, const TimelineSpan& next, bool overlaps);
  Result<void> closeInnermost(Lane& lane);
  Result<void> closeTrack();

  OutputFile& output_;
  std::int64_t zeroNs_;
  TracePacket packet_;  // the current packet
  std::string bytes_;
  Interned names_;
  Interned categories_;
  std::unordered_map<std::int64_t, std::uint64_t> processes_;  // uuids, by shown pid
  Uuid trackKind_ = Uuid::Thread;
  std::int64_t trackId_ = 0;
  std::uint64_t parent_ = 0;  // parent of all lanes but the first
  std::string trackName_;
  std::vector<Lane> lanes_;
  std::uint64_t counter_ = 0;
};

Result<void> PerfettoWriter::write() {
  namespace io = google::protobuf::io;
  packet_.set_trusted_packet_sequence_id(kSequence);
  bytes_.clear();
  {
    io::StringOutputStream stream(&bytes_);
    io::CodedOutputStream coded(&stream);
    coded.WriteTag(kPacketTag);
    coded.WriteVarint32(static_cast<std::uint32_t>(packet_.ByteSizeLong()));
    packet_.SerializeWithCachedSizes(&coded);
  }
  packet_.Clear();
  return output_.write(bytes_);
}

Result<void> PerfettoWriter::begin() {
  packet_.set_first_packet_on_sequence(true);
  packet_.set_sequence_flags(TracePacket::SEQ_INCREMENTAL_STATE_CLEARED);
  return write();
}

Result<void> PerfettoWriter::process(const TimelineProcess& process) {
  const std::uint64_t uuid = uuidOf(Uuid::Process, process.id.value);
  processes_[process.shownPid] = uuid;
  TrackDescriptor& track = *packet_.mutable_track_descriptor();
  track.set_uuid(uuid);
  perfetto::ProcessDescriptor& descriptor = *track.mutable_process();
  descriptor.set_pid(static_cast<std::int32_t>(process.shownPid));
  descriptor.set_process_name(std::string(process.name));
  if (process.rank) {
    descriptor.add_process_labels(fmt::format("rank {}", *process.rank));
    descriptor.set_legacy_sort_index(static_cast<std::int32_t>(*process.rank));
  }
  return write();
}

Result<void> PerfettoWriter::track(const TimelineTrack& track) {
  SONDE_TRY(closeTrack());
  trackKind_ = track.kind == TimelineTrack::Kind::Thread    ? Uuid::Thread
               : track.kind == TimelineTrack::Kind::Stream  ? Uuid::Stream
               : track.kind == TimelineTrack::Kind::Channel ? Uuid::Channel
                                                            : Uuid::Path;
  trackId_ = track.id;
  trackName_ = track.name;
  const std::uint64_t uuid = uuidOf(trackKind_, track.id);
  lanes_.push_back({uuid, {}});
  TrackDescriptor& descriptor = *packet_.mutable_track_descriptor();
  descriptor.set_uuid(uuid);
  if (track.kind == TimelineTrack::Kind::Thread) {
    perfetto::ThreadDescriptor& thread = *descriptor.mutable_thread();
    thread.set_pid(static_cast<std::int32_t>(track.shownPid));
    thread.set_tid(track.shownTid);
    if (!track.name.empty())
      thread.set_thread_name(trackName_);
    parent_ = uuid;
  } else {
    parent_ = processes_[track.shownPid];
    descriptor.set_parent_uuid(parent_);
    descriptor.set_name(trackName_);
    descriptor.set_sibling_merge_behavior(TrackDescriptor::SIBLING_MERGE_BEHAVIOR_NONE);
  }
  return write();
}

// No process of a trace has the id 0.
Result<void> PerfettoWriter::path(const std::vector<PathSpan>& spans) {
  if (spans.empty())
    return {};
  TimelineProcess owner;
  owner.shownPid = kMadeProcess;
  owner.name = "critical path";
  SONDE_TRY(process(owner));
  TimelineTrack line;
  line.kind = TimelineTrack::Kind::Path;
  line.shownPid = owner.shownPid;
  line.name = owner.name;
  SONDE_TRY(track(line));
  for (const PathSpan& each : spans) {
    TimelineSpan part;
    part.category = each.category;
    part.name = each.name;
    part.startNs = each.startNs;
    part.durNs = part.drawnNs = each.durNs;
    part.lane = each.lane;
    part.args = each.args;
    SONDE_TRY(span(part));
  }
  return {};
}

Result<void> PerfettoWriter::newLane() {
  const auto number = static_cast<std::int64_t>(lanes_.size());
  const std::uint64_t uuid = uuidOf(trackKind_, trackId_, number);
  lanes_.push_back({uuid, {}});
  TrackDescriptor& descriptor = *packet_.mutable_track_descriptor();
  descriptor.set_uuid(uuid);
  descriptor.set_parent_uuid(parent_);
  descriptor.set_name(fmt::format("{} ({})", trackName_, number + 1));
  descriptor.set_sibling_merge_behavior(TrackDescriptor::SIBLING_MERGE_BEHAVIOR_NONE);
  return write();
}

TrackEvent& PerfettoWriter::newEvent(std::int64_t ns, std::uint64_t track, TrackEvent::Type type) {
  packet_.set_timestamp(static_cast<std::uint64_t>(ns - zeroNs_));
  packet_.set_sequence_flags(TracePacket::SEQ_NEEDS_INCREMENTAL_STATE);
  TrackEvent& event = *packet_.mutable_track_event();
  event.set_type(type);
  event.set_track_uuid(track);
  return event;
}

Result<void> PerfettoWriter::closeInnermost(Lane& lane) {
  const Open ended = lane.open.back();
  lane.open.pop_back();
  if (!ended.endNs)
    return {};
  newEvent(*ended.endNs, lane.uuid, TrackEvent::TYPE_SLICE_END);
  return write();
}

// Closes open spans that do not contain `next`. A span that ends where `next` begins contains it if
// `next` has no length and is deeper. Spans on further lanes have depths of their own.
Result<void> PerfettoWriter::closeUntil(Lane& lane, const TimelineSpan& next, bool overlaps) {
  const auto holds = [&](const Open& open) {
    return open.depth < next.depth && (!open.endNs || *open.endNs > next.startNs ||
                                       (*open.endNs == next.startNs && !overlaps));
  };
  while (!lane.open.empty() && !holds(lane.open.back()))
    SONDE_TRY(closeInnermost(lane));
  return {};
}

Result<void> PerfettoWriter::closeTrack() {
  for (Lane& lane : lanes_)
    while (!lane.open.empty())
      SONDE_TRY(closeInnermost(lane));
  lanes_.clear();
  return {};
}

Result<void> PerfettoWriter::span(const TimelineSpan& span) {
  while (static_cast<std::int64_t>(lanes_.size()) <= span.lane)
    SONDE_TRY(newLane());
  Lane& lane = lanes_[static_cast<std::size_t>(span.lane)];
  SONDE_TRY(closeUntil(lane, span, span.lane > 0));
  const bool isMark = span.kind == "mark";
  TrackEvent& event = newEvent(
      span.startNs, lane.uuid, isMark ? TrackEvent::TYPE_INSTANT : TrackEvent::TYPE_SLICE_BEGIN);
  const auto [name, newName] = names_.numberOf(span.name);
  const auto [category, newCategory] = categories_.numberOf(span.category);
  event.set_name_iid(name);
  event.add_category_iids(category);
  if (newName) {
    perfetto::EventName& entry = *packet_.mutable_interned_data()->add_event_names();
    entry.set_iid(name);
    entry.set_name(std::string(span.name));
  }
  if (newCategory) {
    perfetto::EventCategory& entry = *packet_.mutable_interned_data()->add_event_categories();
    entry.set_iid(category);
    entry.set_name(std::string(span.category));
  }
  if (!span.args.empty())
    addAnnotations(span.args, event);
  for (const FlowEnd& end : span.flows)
    end.begins ? event.add_flow_ids(end.id) : event.add_terminating_flow_ids(end.id);
  if (!isMark)
    lane.open.push_back(
        {span.depth,
         span.drawnNs ? model::OptionalInt(span.startNs + *span.drawnNs) : model::OptionalInt()});
  return write();
}

Result<void> PerfettoWriter::counter(const TimelineCounter& counter) {
  counter_ = uuidOf(Uuid::Counter, counter.id);
  TrackDescriptor& descriptor = *packet_.mutable_track_descriptor();
  descriptor.set_uuid(counter_);
  if (counter.shownPid)
    descriptor.set_parent_uuid(processes_[*counter.shownPid]);
  descriptor.set_name(std::string(counter.name));
  descriptor.mutable_counter()->set_unit_name(std::string(counter.unit));
  return write();
}

Result<void> PerfettoWriter::sample(std::int64_t ns,
                                    double value,
                                    model::OptionalInt /*iteration*/) {
  newEvent(ns, counter_, TrackEvent::TYPE_COUNTER).set_double_counter_value(value);
  return write();
}

}  // namespace

Result<void> exportPerfetto(const store::Database& trace,
                            OutputFile& output,
                            const Progress& progress,
                            const std::vector<PathSpan>& path) {
  SONDE_TRY_ASSIGN(const std::int64_t originNs,
                   trace.queryInteger("SELECT coalesce((SELECT CAST(value AS INTEGER) FROM meta "
                                      "WHERE key = 'origin_ns'), 0)"));
  PerfettoWriter writer(output, std::min<std::int64_t>(originNs, 0));
  SONDE_TRY(writer.begin());
  SONDE_TRY(writer.path(path));
  SONDE_TRY(visitTimeline(trace, writer, progress));
  return writer.end();
}

}  // namespace sonde::exports
