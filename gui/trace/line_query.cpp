#include "gui/trace/line_query.h"

#include "analysis/model/words.h"
#include "analysis/store/open_slice.h"

#include <algorithm>
#include <cmath>

namespace sonde::gui {
namespace {

// Slices of a line do not overlap. Only the last one that starts before a window can reach into it.
const std::string& slicesSql() {
  static const std::string sql =
      "SELECT id, start_ns, dur_ns, name_id, kind, CASE WHEN dur_ns IS NULL THEN " +
      store::atMostSql("slice.id") +
      " END FROM slice "
      "WHERE thread_id = ?1 AND lane = ?2 AND depth = ?3 AND start_ns < ?5 AND start_ns >= "
      "coalesce("
      "(SELECT max(start_ns) FROM slice WHERE thread_id = ?1 AND lane = ?2 AND depth = ?3 "
      "AND start_ns <= ?4), ?4) ORDER BY start_ns, id";
  return sql;
}
// Work in a lane of a stream or channel may overlap. ?4 is how far back a reader looks for work
// that reaches into the window, and for its rows.
constexpr const char* kWork =
    "SELECT id, start_ns AS start, dur_ns, name_id, 'kernel', coalesce(bytes, 0) FROM kernel "
    "WHERE stream_id = ?1 AND start_ns < ?3 AND start_ns >= coalesce((SELECT start_ns FROM kernel "
    "WHERE stream_id = ?1 AND start_ns <= ?2 ORDER BY start_ns DESC LIMIT 1 OFFSET ?4), "
    "(SELECT min(start_ns) FROM kernel WHERE stream_id = ?1)) UNION ALL "
    "SELECT id, start_ns, dur_ns, name_id, kind, coalesce(bytes, 0) FROM copy "
    "WHERE stream_id = ?1 AND start_ns < ?3 AND start_ns >= coalesce((SELECT start_ns FROM copy "
    "WHERE stream_id = ?1 AND start_ns <= ?2 ORDER BY start_ns DESC LIMIT 1 OFFSET ?4), "
    "(SELECT min(start_ns) FROM copy WHERE stream_id = ?1)) ORDER BY start";
constexpr const char* kSyncs =
    "SELECT id, start_ns, dur_ns, 0, kind, 0 FROM sync "
    "WHERE stream_id = ?1 AND start_ns < ?3 AND start_ns >= coalesce((SELECT start_ns FROM sync "
    "WHERE stream_id = ?1 AND start_ns <= ?2 ORDER BY start_ns DESC LIMIT 1 OFFSET ?4), "
    "(SELECT min(start_ns) FROM sync WHERE stream_id = ?1)) ORDER BY start_ns, id";
constexpr const char* kTransfers =
    "SELECT id, start_ns, dur_ns, 0, direction, bytes FROM transfer "
    "WHERE channel_id = ?1 AND direction = ?5 AND start_ns < ?3 AND start_ns >= coalesce("
    "(SELECT start_ns FROM transfer WHERE channel_id = ?1 AND direction = ?5 AND start_ns <= ?2 "
    "ORDER BY start_ns DESC LIMIT 1 OFFSET ?4), (SELECT min(start_ns) FROM transfer "
    "WHERE channel_id = ?1)) ORDER BY start_ns, id";
constexpr const char* kLevels =
    "SELECT event_id, start_ns, end_ns, name_id, kind, busy_ns, count, coalesce(bytes, 0) FROM lod "
    "WHERE owner = ?1 AND owner_id = ?2 AND lane = ?3 AND depth = ?4 AND level = ?5 "
    "AND start_ns < ?7 AND start_ns >= coalesce((SELECT max(start_ns) FROM lod WHERE owner = ?1 "
    "AND owner_id = ?2 AND lane = ?3 AND depth = ?4 AND level = ?5 AND start_ns <= ?6), ?6) "
    "ORDER BY start_ns";
// The facts about a single slice that a level lacks: it never ended, or its end was lost.
const std::string& lengthSql() {
  static const std::string sql = "SELECT dur_ns, coalesce(" + store::atMostSql("slice.id") +
                                 ", 0) FROM slice WHERE id = ?1 AND dur_ns IS NULL";
  return sql;
}
constexpr int kRowsBetweenLooks = 256;
constexpr int kLevelStep = 2;
// The number of events before the window that are also placed if a lane has several rows: an
// event's row depends on all events since the lane was last idle.
constexpr int kLookBack = 1024;
constexpr double kWidthsPerPixel = 0.5;  // a level's width is at most two pixels
constexpr double kPixelsToPointAt = 4;   // the exact length of a narrower block is not read

std::string_view ownerWord(Owner owner) {
  if (owner == Owner::Stream)
    return "stream";
  return owner == Owner::Thread ? "thread" : "channel";
}

// The begin, for work of a stream or channel that never ended.
std::int64_t seenUntil(const Block& block) {
  return endOf(block, block.startNs);
}

// For the few overlapping events of a busy lane without levels, seen from afar: one block for their
// whole row.
Block summaryOf(const Line& line, const HostClock& clock, Kind kind) {
  Block block;
  block.startNs = clock.toJob(line.startNs);
  block.durNs = line.endNs - line.startNs;
  block.count = static_cast<std::uint32_t>(line.count);
  block.row = line.row;
  block.kind = kind;
  return block;
}

Block blockOf(const store::Statement& row, const HostClock& clock) {
  Block block;
  block.id = row.integer(0);
  block.startNs = clock.toJob(row.integer(1));
  return block;
}

}  // namespace

std::optional<int> LineQuery::levelFor(const Line& line, double nsPerPixel) {
  if (line.minLevel < 0 || nsPerPixel < 1.0)
    return std::nullopt;
  const int fitting = static_cast<int>(std::floor(std::log2(nsPerPixel / kWidthsPerPixel)));
  if (fitting < line.minLevel)
    return std::nullopt;
  const int steps = (std::min(fitting, line.maxLevel) - line.minLevel) / kLevelStep;
  return line.minLevel + steps * kLevelStep;
}

Result<store::Statement*> LineQuery::statement(std::optional<store::Statement>& kept,
                                               const char* sql) {
  if (!kept) {
    SONDE_TRY_ASSIGN(kept, trace_.prepare(sql));
  }
  kept->reset();
  return &*kept;
}

template <typename Make>
Result<void> LineQuery::forEach(store::Statement& rows, Make make) {
  for (int read = 1;; ++read) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row || (read % kRowsBetweenLooks == 0 && cancellation_.requested()))
      break;
    make(rows);
  }
  rows.reset();
  return {};
}

LineQuery::Events LineQuery::eventsOf(const TrackInfo& track, const Line& line) {
  if (track.owner == Owner::Thread)
    return Events::Slices;
  if (track.owner == Owner::Channel)
    return Events::Transfers;
  return line.lane == 0 ? Events::Work : Events::Syncs;
}

Result<void> LineQuery::read(const TrackInfo& track,
                             const Line& line,
                             const HostClock& clock,
                             const WindowRequest& request,
                             const Visit& visit) {
  if (levelFor(line, request.nsPerPixel))
    return readLevel(track, line, clock, request, visit);
  return track.owner == Owner::Thread ? readSlices(track, line, clock, request, visit)
                                      : readPacked(track, line, clock, request, visit);
}

Result<void> LineQuery::readSlices(const TrackInfo& track,
                                   const Line& line,
                                   const HostClock& clock,
                                   const WindowRequest& request,
                                   const Visit& visit) {
  SONDE_TRY_ASSIGN(
      store::Statement * rows,
      statement(events_[static_cast<std::size_t>(Events::Slices)], slicesSql().c_str()));
  rows->bindAll(
      track.id, line.lane, line.depth, clock.toHost(request.beginNs), clock.toHost(request.endNs));
  return forEach(*rows, [&](const store::Statement& row) {
    Block block = blockOf(row, clock);
    block.row = line.row;
    block.durNs = row.optionalInteger(2).value_or(Block::kOpen);
    block.busyNs = block.durNs;
    block.nameId = static_cast<std::uint32_t>(row.integer(3));
    block.kind = kindOf(row.text(4));
    block.atMostNs = row.integer(5);
    visit(block);
  });
}

Result<void> LineQuery::readPacked(const TrackInfo& track,
                                   const Line& line,
                                   const HostClock& clock,
                                   const WindowRequest& request,
                                   const Visit& visit) {
  static constexpr const char* kSql[] = {nullptr, kWork, kSyncs, kTransfers};
  static constexpr Kind kFar[] = {Kind::Range, Kind::Kernel, Kind::StreamSync, Kind::Send};
  // The depth of an event is not stored: the first line of a lane reads all its events and packs
  // them anew.
  const auto ofLane = [&](const Line& other) { return other.lane == line.lane; };
  const auto depths = std::count_if(track.lines.begin(), track.lines.end(), ofLane);
  const auto& first = *std::find_if(track.lines.begin(), track.lines.end(), ofLane);
  const Events events = eventsOf(track, line);
  const auto table = static_cast<std::size_t>(events);
  if (line.depth != first.depth) {
    if (levelFor(first, request.nsPerPixel))
      visit(summaryOf(line, clock, kFar[table]));
    return {};
  }
  SONDE_TRY_ASSIGN(store::Statement * rows, statement(events_.at(table), kSql[table]));
  rows->bindAll(track.id,
                clock.toHost(request.beginNs),
                clock.toHost(request.endNs),
                depths > 1 ? kLookBack : 0);
  if (events == Events::Transfers)
    rows->bind(5, model::word(line.lane == 0 ? model::Direction::Send : model::Direction::Receive));
  std::vector<std::int64_t> ends(static_cast<std::size_t>(depths), INT64_MIN);
  return forEach(*rows, [&](const store::Statement& row) {
    Block block = blockOf(row, clock);
    block.durNs = row.optionalInteger(2).value_or(Block::kOpen);
    block.busyNs = block.durNs;
    block.nameId = static_cast<std::uint32_t>(row.integer(3));
    block.kind = events == Events::Syncs ? kindOfSync(row.text(4)) : kindOf(row.text(4));
    block.bytes = row.integer(5);
    auto free = std::find_if(
        ends.begin(), ends.end(), [&](std::int64_t end) { return end <= block.startNs; });
    free = free == ends.end() ? std::prev(free) : free;
    *free = seenUntil(block);
    block.row = static_cast<std::uint16_t>(line.row + (free - ends.begin()));
    if (block.durNs == Block::kOpen || seenUntil(block) >= request.beginNs)
      visit(block);
  });
}

Result<void> LineQuery::readLevel(const TrackInfo& track,
                                  const Line& line,
                                  const HostClock& clock,
                                  const WindowRequest& request,
                                  const Visit& visit) {
  SONDE_TRY_ASSIGN(store::Statement * rows, statement(levels_, kLevels));
  rows->bindAll(ownerWord(track.owner),
                track.id,
                line.lane,
                line.depth,
                *levelFor(line, request.nsPerPixel),
                clock.toHost(request.beginNs),
                clock.toHost(request.endNs));
  Result<void> asked;
  SONDE_TRY(forEach(*rows, [&](const store::Statement& row) {
    Block block = blockOf(row, clock);
    block.row = line.row;
    block.durNs = row.integer(2) - row.integer(1);
    block.nameId = static_cast<std::uint32_t>(row.integer(3));
    block.kind =
        eventsOf(track, line) == Events::Syncs ? kindOfSync(row.text(4)) : kindOf(row.text(4));
    block.busyNs = row.integer(5);
    block.count = static_cast<std::uint32_t>(row.integer(6));
    block.bytes = row.integer(7);
    if (asked && track.owner == Owner::Thread && block.count == 1 &&
        static_cast<double>(block.durNs) >= kPixelsToPointAt * request.nsPerPixel)
      asked = askLength(block);
    visit(block);
  }));
  return asked;
}

Result<void> LineQuery::askLength(Block& slice) {
  SONDE_TRY_ASSIGN(store::Statement * rows, statement(lengths_, lengthSql().c_str()));
  SONDE_TRY_ASSIGN(const bool unknown, rows->bindAll(slice.id).step());
  if (!unknown)
    return {};
  slice.durNs = Block::kOpen;
  slice.busyNs = Block::kOpen;
  slice.atMostNs = rows->integer(1);
  return {};
}

}  // namespace sonde::gui
