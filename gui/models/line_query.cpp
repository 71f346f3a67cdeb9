#include "gui/models/line_query.h"

#include "analysis/model/words.h"

#include <algorithm>
#include <cmath>

namespace sonde::gui {
namespace {

// The slices of a line do not overlap: what reaches into a window from the left is the last that
// starts before it.
constexpr const char* kSlices =
    "SELECT id, start_ns, dur_ns, name_id, kind FROM slice "
    "WHERE thread_id = ?1 AND lane = ?2 AND depth = ?3 AND start_ns < ?5 AND start_ns >= coalesce("
    "(SELECT max(start_ns) FROM slice WHERE thread_id = ?1 AND lane = ?2 AND depth = ?3 "
    "AND start_ns <= ?4), ?4) ORDER BY start_ns, id";
// Those of a channel's direction may, on as many rows as the lane has depths.
constexpr const char* kTransfers =
    "SELECT id, start_ns, dur_ns, bytes FROM transfer "
    "WHERE channel_id = ?1 AND direction = ?2 AND start_ns < ?4 AND start_ns >= coalesce("
    "(SELECT start_ns FROM transfer WHERE channel_id = ?1 AND direction = ?2 AND start_ns <= ?3 "
    "ORDER BY start_ns DESC LIMIT 1 OFFSET ?5), (SELECT min(start_ns) FROM transfer "
    "WHERE channel_id = ?1), ?3) ORDER BY start_ns, id";
constexpr const char* kLevels =
    "SELECT event_id, start_ns, end_ns, name_id, kind, busy_ns, count, coalesce(bytes, 0) FROM lod "
    "WHERE owner = ?1 AND owner_id = ?2 AND lane = ?3 AND depth = ?4 AND level = ?5 "
    "AND start_ns < ?7 AND start_ns >= coalesce((SELECT max(start_ns) FROM lod WHERE owner = ?1 "
    "AND owner_id = ?2 AND lane = ?3 AND depth = ?4 AND level = ?5 AND start_ns <= ?6), ?6) "
    "ORDER BY start_ns";
constexpr int kRowsBetweenLooks = 256;
constexpr int kLevelStep = 2;
constexpr double kWidthsPerPixel = 0.5;  // a level's width is at most two pixels

std::string_view ownerWord(Owner owner) {
  return owner == Owner::Thread ? "thread" : "channel";
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

Result<void> LineQuery::read(const TrackInfo& track,
                             const Line& line,
                             const HostClock& clock,
                             const WindowRequest& request,
                             const Visit& visit) {
  if (levelFor(line, request.nsPerPixel))
    return readLevel(track, line, clock, request, visit);
  return track.owner == Owner::Thread ? readSlices(track, line, clock, request, visit)
                                      : readTransfers(track, line, clock, request, visit);
}

Result<void> LineQuery::readSlices(const TrackInfo& track,
                                   const Line& line,
                                   const HostClock& clock,
                                   const WindowRequest& request,
                                   const Visit& visit) {
  SONDE_TRY_ASSIGN(store::Statement * rows, statement(slices_, kSlices));
  rows->bindAll(
      track.id, line.lane, line.depth, clock.toHost(request.beginNs), clock.toHost(request.endNs));
  return forEach(*rows, [&](const store::Statement& row) {
    Block block = blockOf(row, clock);
    block.row = line.row;
    block.durNs = row.optionalInteger(2).value_or(Block::kOpen);
    block.busyNs = block.durNs;
    block.nameId = static_cast<std::uint32_t>(row.integer(3));
    block.kind = kindOf(row.text(4));
    visit(block);
  });
}

Result<void> LineQuery::readTransfers(const TrackInfo& track,
                                      const Line& line,
                                      const HostClock& clock,
                                      const WindowRequest& request,
                                      const Visit& visit) {
  // Which depth a transfer has is not stored: the events of a whole lane are read with its first
  // line and packed anew.
  const auto ofLane = [&](const Line& other) { return other.lane == line.lane; };
  const auto depths = std::count_if(track.lines.begin(), track.lines.end(), ofLane);
  const auto& first = *std::find_if(track.lines.begin(), track.lines.end(), ofLane);
  if (line.depth != first.depth) {
    if (levelFor(first, request.nsPerPixel))
      visit(summaryOf(line, clock));
    return {};
  }
  const model::Direction direction =
      line.lane == 0 ? model::Direction::Send : model::Direction::Receive;
  SONDE_TRY_ASSIGN(store::Statement * rows, statement(transfers_, kTransfers));
  rows->bindAll(track.id,
                model::word(direction),
                clock.toHost(request.beginNs),
                clock.toHost(request.endNs),
                depths - 1);
  std::vector<std::int64_t> ends(static_cast<std::size_t>(depths), INT64_MIN);
  return forEach(*rows, [&](const store::Statement& row) {
    Block block = blockOf(row, clock);
    block.durNs = row.optionalInteger(2).value_or(Block::kOpen);
    block.busyNs = block.durNs;
    block.bytes = row.integer(3);
    block.kind = kindOf(model::word(direction));
    auto free = std::find_if(
        ends.begin(), ends.end(), [&](std::int64_t end) { return end <= block.startNs; });
    free = free == ends.end() ? std::prev(free) : free;
    *free = block.startNs + std::max<std::int64_t>(block.durNs, 0);
    block.row = static_cast<std::uint16_t>(line.row + (free - ends.begin()));
    visit(block);
  });
}

// The few overlapping transfers of a busy channel, seen from far: one block for their whole row.
Block LineQuery::summaryOf(const Line& line, const HostClock& clock) {
  Block block;
  block.startNs = clock.toJob(line.startNs);
  block.durNs = line.endNs - line.startNs;
  block.count = static_cast<std::uint32_t>(line.count);
  block.row = line.row;
  block.kind = line.lane == 0 ? Kind::Send : Kind::Receive;
  return block;
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
  return forEach(*rows, [&](const store::Statement& row) {
    Block block = blockOf(row, clock);
    block.row = line.row;
    block.durNs = row.integer(2) - row.integer(1);
    block.nameId = static_cast<std::uint32_t>(row.integer(3));
    block.kind = kindOf(row.text(4));
    block.busyNs = row.integer(5);
    block.count = static_cast<std::uint32_t>(row.integer(6));
    block.bytes = row.integer(7);
    visit(block);
  });
}

}  // namespace sonde::gui
