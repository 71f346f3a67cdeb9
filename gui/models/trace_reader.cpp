#include "gui/models/trace_reader.h"

#include "gui/models/line_query.h"
#include "gui/models/reader_details.h"
#include "gui/models/reader_skeleton.h"

#include <algorithm>
#include <utility>

namespace sonde::gui {
namespace {

Error cancelled() {
  return Error{ErrorCode::Io, "cancelled"};
}

}  // namespace

Result<Skeleton> TraceReader::open(const QStringList& paths) {
  trace_.reset();
  texts_.clear();
  trackOf_.clear();
  hitsOf_.clear();
  SONDE_TRY_ASSIGN(auto opened, openForViewing(paths));
  SONDE_TRY_ASSIGN(auto read, readSkeleton(opened.database));
  trace_ = std::move(opened);
  skeleton_ = std::move(read.skeleton);
  clocks_ = std::move(read.clocks);
  skeleton_.unfinished = trace_->unfinished;
  for (int track = 0; track < static_cast<int>(skeleton_.tracks.size()); ++track) {
    const TrackInfo& info = skeleton_.tracks[static_cast<std::size_t>(track)];
    trackOf_.insert({static_cast<int>(info.owner), info.id}, track);
  }
  return skeleton_;
}

const HostClock& TraceReader::clockOf(int track) const {
  const int process = skeleton_.tracks.at(static_cast<std::size_t>(track)).process;
  return clocks_.at(static_cast<std::size_t>(process));
}

int TraceReader::trackOf(Owner owner, std::int64_t id) const {
  return trackOf_.value({static_cast<int>(owner), id}, -1);
}

Result<QString> TraceReader::text(std::uint32_t stringId) {
  const auto kept = texts_.constFind(stringId);
  if (kept != texts_.constEnd())
    return *kept;
  SONDE_TRY_ASSIGN(auto query, database().prepare("SELECT text FROM string WHERE id = ?1"));
  query.bindAll(stringId);
  SONDE_TRY_ASSIGN(const bool row, query.step());
  const std::string_view read = row ? query.text(0) : std::string_view("(unnamed)");
  return *texts_.insert(stringId,
                        QString::fromUtf8(read.data(), static_cast<qsizetype>(read.size())));
}

Result<WindowReply> TraceReader::window(const WindowRequest& request,
                                        const Cancellation& cancellation) {
  WindowReply reply;
  reply.request = request;
  LineQuery query(database(), cancellation);
  for (const int at : request.tracks) {
    const TrackInfo& track = skeleton_.tracks.at(static_cast<std::size_t>(at));
    TrackBlocks blocks{at, {}};
    for (const Line& line : track.lines) {
      SONDE_TRY(query.read(track, line, clockOf(at), request, [&](const Block& block) {
        blocks.blocks.push_back(block);
      }));
      if (cancellation.requested())
        return cancelled();
    }
    if (track.owner == Owner::Channel)  // packed rows come mixed
      std::stable_sort(blocks.blocks.begin(),
                       blocks.blocks.end(),
                       [](const Block& a, const Block& b) { return a.row < b.row; });
    for (const Block& block : blocks.blocks) {
      if (block.nameId == 0 || reply.names.contains(block.nameId))
        continue;
      SONDE_TRY_ASSIGN(auto name, text(block.nameId));
      reply.names.insert(block.nameId, std::move(name));
    }
    reply.tracks.push_back(std::move(blocks));
  }
  return reply;
}

Result<FoundEvent> TraceReader::found(const EventRef& ref) {
  const bool slice = ref.owner == Owner::Thread;
  SONDE_TRY_ASSIGN(auto row,
                   database().prepare(
                       slice ? "SELECT thread_id, start_ns, dur_ns, kind, name_id, lane, depth, 0 "
                               "FROM slice WHERE id = ?1"
                             : "SELECT channel_id, start_ns, dur_ns, direction, 0, 0, 0, bytes "
                               "FROM transfer WHERE id = ?1"));
  row.bindAll(ref.id);
  SONDE_TRY_ASSIGN(const bool any, row.step());
  const int track = any ? trackOf(ref.owner, row.integer(0)) : -1;
  if (track < 0)
    return Error{ErrorCode::NotFound, "there is no event " + std::to_string(ref.id)};
  FoundEvent event{ref, track, {}, {}};
  Block& block = event.block;
  block.id = ref.id;
  block.startNs = clockOf(track).toJob(row.integer(1));
  block.durNs = row.optionalInteger(2).value_or(Block::kOpen);
  block.kind = kindOf(row.text(3));
  block.nameId = static_cast<std::uint32_t>(row.integer(4));
  block.bytes = row.integer(7);
  const std::int64_t lane = row.integer(5);
  const std::int64_t depth = row.integer(6);
  for (const Line& line : skeleton_.tracks[static_cast<std::size_t>(track)].lines)
    if (slice && line.lane == lane && line.depth == depth)
      block.row = line.row;
  if (!slice) {
    event.name = wordOf(block.kind);
    return event;
  }
  SONDE_TRY_ASSIGN(event.name, text(block.nameId));
  return event;
}

Result<EventDetails> TraceReader::details(const EventRef& event) {
  EventDetails details;
  SONDE_TRY_ASSIGN(details.event, found(event));
  SONDE_TRY_ASSIGN(details.sections, readDetails(database(), skeleton_, details.event));
  return details;
}

Result<QString> TraceReader::scopeOf(const EventRef& event) {
  SONDE_TRY_ASSIGN(
      auto row,
      database().prepare(
          event.owner == Owner::Thread
              ? "SELECT n.text || CASE s.scope_how WHEN 'inherited' THEN ', inherited' "
                "ELSE '' END FROM slice s JOIN slice o ON o.id = s.scope_id "
                "JOIN string n ON n.id = o.name_id WHERE s.id = ?1"
              : "SELECT coalesce(nullif(h.name, ''), 'thread') || ' ' || h.tid FROM transfer t "
                "JOIN thread h ON h.id = t.thread_id WHERE t.id = ?1"));
  row.bindAll(event.id);
  SONDE_TRY_ASSIGN(const bool any, row.step());
  const std::string_view text = any ? row.text(0) : std::string_view();
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

Result<std::optional<EventRef>> TraceReader::neighbour(const EventRef& event, int direction) {
  const bool slice = event.owner == Owner::Thread;
  std::string sql =
      slice ? "SELECT b.id FROM slice a JOIN slice b ON b.thread_id = a.thread_id AND "
              "b.lane = a.lane AND b.depth = a.depth "
            : "SELECT b.id FROM transfer a JOIN transfer b ON b.channel_id = a.channel_id ";
  sql += direction > 0 ? "AND (b.start_ns, b.id) > (a.start_ns, a.id) WHERE a.id = ?1 "
                         "ORDER BY b.start_ns, b.id LIMIT 1"
                       : "AND (b.start_ns, b.id) < (a.start_ns, a.id) WHERE a.id = ?1 "
                         "ORDER BY b.start_ns DESC, b.id DESC LIMIT 1";
  SONDE_TRY_ASSIGN(auto row, database().prepare(sql));
  row.bindAll(event.id);
  SONDE_TRY_ASSIGN(const bool any, row.step());
  if (!any)
    return std::optional<EventRef>();
  return std::optional(EventRef{event.owner, row.integer(0)});
}

}  // namespace sonde::gui
