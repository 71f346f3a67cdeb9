// The parts of TraceReader for one event: its place, its scope, and its neighbours.
#include "analysis/store/open_slice.h"
#include "gui/trace/qtext.h"
#include "gui/trace/trace_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

namespace sonde::gui {
namespace {

// By Table; ?1 is the id. Columns: owner, start, duration, kind, name, lane, depth, bytes.
constexpr std::array kEvents = {
    "SELECT thread_id, start_ns, dur_ns, kind, name_id, lane, depth, 0 FROM slice WHERE id = ?1",
    "SELECT stream_id, start_ns, dur_ns, 'kernel', name_id, 0, 0, coalesce(bytes, 0) FROM kernel "
    "WHERE id = ?1",
    "SELECT stream_id, start_ns, dur_ns, kind, name_id, 0, 0, coalesce(bytes, 0) FROM copy "
    "WHERE id = ?1",
    "SELECT stream_id, start_ns, dur_ns, kind, 0, 1, 0, 0 FROM sync WHERE id = ?1",
    "SELECT channel_id, start_ns, dur_ns, direction, 0, direction = 'receive', 0, bytes "
    "FROM transfer WHERE id = ?1"};

// By Table: one text. For a synchronisation only the call is known.
constexpr std::array kScopes = {
    "SELECT n.text || CASE s.scope_how WHEN 'inherited' THEN ', inherited' ELSE '' END "
    "FROM slice s JOIN slice o ON o.id = s.scope_id JOIN string n ON n.id = o.name_id "
    "WHERE s.id = ?1",
    "SELECT n.text FROM kernel k JOIN slice o ON o.id = k.scope_id "
    "JOIN string n ON n.id = o.name_id WHERE k.id = ?1",
    "SELECT n.text FROM copy c JOIN slice o ON o.id = c.scope_id "
    "JOIN string n ON n.id = o.name_id WHERE c.id = ?1",
    "SELECT '' WHERE ?1",
    "SELECT coalesce(nullif(h.name, ''), 'thread') || ' ' || h.tid FROM transfer t "
    "JOIN thread h ON h.id = t.thread_id WHERE t.id = ?1"};

// By Table, those of a stream.
constexpr std::array<const char*, 4> kNames = {nullptr, "kernel", "copy", "sync"};

std::size_t indexOf(Table table) {
  return static_cast<std::size_t>(table);
}

}  // namespace

Result<FoundEvent> TraceReader::found(const EventRef& ref) {
  SONDE_TRY_ASSIGN(auto row, database().prepare(kEvents.at(indexOf(ref.table))));
  row.bindAll(ref.id);
  SONDE_TRY_ASSIGN(const bool any, row.step());
  const int track = any ? trackOf(ownerOf(ref.table), row.integer(0)) : -1;
  if (track < 0)
    return Error{ErrorCode::NotFound, "there is no event " + std::to_string(ref.id)};
  FoundEvent event{ref, track, {}, {}};
  Block& block = event.block;
  block.id = ref.id;
  block.startNs = clockOf(track).toJob(row.integer(1));
  block.durNs = row.optionalInteger(2).value_or(Block::kOpen);
  if (block.durNs == Block::kOpen && ref.table == Table::Slice) {
    SONDE_TRY_ASSIGN(block.atMostNs,
                     database().queryInteger(fmt::format(
                         "SELECT coalesce({}, 0)", store::atMostSql(std::to_string(ref.id)))));
  }
  block.busyNs = block.durNs;
  block.kind = ref.table == Table::Sync ? kindOfSync(row.text(3)) : kindOf(row.text(3));
  block.nameId = static_cast<std::uint32_t>(row.integer(4));
  block.bytes = row.integer(7);
  if (ref.table == Table::Kernel) {
    SONDE_TRY_ASSIGN(const bool collective, isCollective(block.nameId));
    block.kind = collective ? Kind::CollectiveKernel : Kind::Kernel;
  }
  SONDE_TRY(place(event, row.integer(5), row.integer(6)));
  event.name = wordOf(block.kind);
  if (block.nameId != 0) {
    SONDE_TRY_ASSIGN(event.name, text(block.nameId));
  }
  return event;
}

// The row of an event in a lane with several rows is not stored: it is the row in the current
// window.
Result<void> TraceReader::place(FoundEvent& event, std::int64_t lane, std::int64_t depth) {
  const TrackInfo& track = skeleton_.tracks.at(static_cast<std::size_t>(event.track));
  const bool packed = track.owner != Owner::Thread;
  const Line* first = nullptr;
  std::int64_t depths = 0;
  for (const Line& line : track.lines)
    if (line.lane == lane && (packed || line.depth == depth)) {
      first = first == nullptr ? &line : first;
      ++depths;
    }
  if (first == nullptr)
    return {};
  event.block.row = first->row;
  if (depths == 1)
    return {};
  const Cancellation never;
  LineQuery query(database(), never);
  return read(query,
              event.track,
              *first,
              {event.block.startNs - 1, event.block.startNs + 2, 0, {}},
              [&](const Block& block) {
                if (refOf(block) == event.ref)
                  event.block.row = block.row;
              });
}

Result<QString> TraceReader::scopeOf(const EventRef& event) {
  SONDE_TRY_ASSIGN(auto row, database().prepare(kScopes.at(indexOf(event.table))));
  row.bindAll(event.id);
  SONDE_TRY_ASSIGN(const bool any, row.step());
  const std::string_view text = any ? row.text(0) : std::string_view();
  return qtext(text);
}

Result<std::optional<EventRef>> TraceReader::neighbour(const EventRef& event, int direction) {
  if (ownerOf(event.table) == Owner::Stream) {
    SONDE_TRY_ASSIGN(const FoundEvent from, found(event));
    return neighbourOnStream(from, direction);
  }
  std::string sql =
      event.table == Table::Slice
          ? "SELECT b.id FROM slice a JOIN slice b ON b.thread_id = a.thread_id AND "
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
  return std::optional(EventRef{event.table, row.integer(0)});
}

// Kernels and copies in one sequence; if they start together, kernels come first.
Result<std::optional<EventRef>> TraceReader::neighbourOnStream(const FoundEvent& event,
                                                               int direction) {
  using Limits = std::numeric_limits<std::int64_t>;
  const bool later = direction > 0;
  std::optional<std::pair<std::int64_t, EventRef>> best;
  for (const Table table : {Table::Kernel, Table::Copy, Table::Sync}) {
    if ((event.ref.table == Table::Sync) != (table == Table::Sync))
      continue;
    std::string sql = "SELECT start_ns, id FROM ";
    sql += kNames.at(indexOf(table));
    sql += later ? " WHERE stream_id = ?1 AND (start_ns, id) > ((SELECT start_ns FROM "
                 : " WHERE stream_id = ?1 AND (start_ns, id) < ((SELECT start_ns FROM ";
    sql += kNames.at(indexOf(event.ref.table));
    sql += later ? " WHERE id = ?2), ?3) ORDER BY start_ns, id LIMIT 1"
                 : " WHERE id = ?2), ?3) ORDER BY start_ns DESC, id DESC LIMIT 1";
    SONDE_TRY_ASSIGN(auto row, database().prepare(sql));
    const std::int64_t bound = table == event.ref.table  ? event.ref.id
                               : table < event.ref.table ? Limits::max()
                                                         : Limits::min();
    row.bindAll(skeleton_.tracks.at(static_cast<std::size_t>(event.track)).id, event.ref.id, bound);
    SONDE_TRY_ASSIGN(const bool any, row.step());
    if (!any)
      continue;
    const std::pair found(row.integer(0), EventRef{table, row.integer(1)});
    if (!best || (later ? found < *best : found > *best))
      best = found;
  }
  return best ? std::optional(best->second) : std::nullopt;
}

}  // namespace sonde::gui
