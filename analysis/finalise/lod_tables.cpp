#include "analysis/finalise/lod_tables.h"

#include "analysis/finalise/lod_builder.h"
#include "analysis/store/open_slice.h"
#include "analysis/store/row_buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde::store {
namespace {

// The events of one kind of owner, by owner. Columns: lane, depth (NULL: assigned here, without
// overlaps), id, start, duration, kind, name, bytes.
struct Source {
  std::string_view owner;
  std::string ownersSql;
  std::string eventsSql;
  // The same events without their durations, from an index alone, and a query for an event's end by
  // its id. Empty: the events are read twice.
  std::string startsSql;
  std::string endSql;
};

Source threads() {
  // A slice that never ended lasts as long as its process was observed.
  const std::string duration = fmt::format(
      "coalesce({}, (SELECT max(p.end_ns - s.start_ns, 0) FROM thread t "
      "JOIN process p ON p.id = t.process_id WHERE t.id = s.thread_id), 0)",
      drawnSql("s"));
  return {"thread",
          "SELECT id FROM thread ORDER BY id",
          fmt::format("SELECT s.lane, s.depth, s.id, s.start_ns, {}, s.kind, s.name_id, 0 "
                      "FROM slice s WHERE s.thread_id = ? "
                      "ORDER BY s.lane, s.depth, s.start_ns, s.id",
                      duration),
          "SELECT lane, depth, id, start_ns, 0, '', 0, 0 FROM slice INDEXED BY slice_by_line "
          "WHERE thread_id = ? ORDER BY lane, depth, start_ns, id",
          fmt::format("SELECT s.start_ns + {} FROM slice s WHERE s.id = ?", duration)};
}

// Work is lane 0. Synchronisation, which overlaps that work, is lane 1.
Source streams() {
  return {"stream",
          "SELECT id FROM stream ORDER BY id",
          "SELECT 0, NULL, id, start_ns AS start, coalesce(dur_ns, 0), 'kernel', name_id, 0 "
          "FROM kernel WHERE stream_id = ?1 UNION ALL "
          "SELECT 0, NULL, id, start_ns, coalesce(dur_ns, 0), 'copy', name_id, coalesce(bytes, 0) "
          "FROM copy WHERE stream_id = ?1 UNION ALL "
          "SELECT 1, NULL, id, start_ns, coalesce(dur_ns, 0), kind, 0, 0 "
          "FROM sync WHERE stream_id = ?1 ORDER BY start",
          {},
          {}};
}

Source channels() {
  return {"channel",
          "SELECT id FROM channel ORDER BY id",
          "SELECT direction = 'receive', NULL, id, start_ns, coalesce(dur_ns, 0), direction, 0, "
          "bytes FROM transfer WHERE channel_id = ? ORDER BY start_ns, id",
          {},
          {}};
}

struct LineKey {
  std::int64_t lane = 0;
  std::int64_t depth = 0;
  friend auto operator<=>(const LineKey&, const LineKey&) = default;
};

// Gives each event the first depth of its lane that is free at its start.
class Packer {
 public:
  std::int64_t depthFor(std::int64_t lane, std::int64_t startNs, std::int64_t endNs) {
    std::vector<std::int64_t>& ends = ends_[lane];
    auto free =
        std::find_if(ends.begin(), ends.end(), [=](std::int64_t end) { return end <= startNs; });
    if (free == ends.end())
      free = ends.insert(ends.end(), endNs);
    *free = endNs;
    return free - ends.begin();
  }

 private:
  std::map<std::int64_t, std::vector<std::int64_t>>
      ends_;  // by lane, of the last event at each depth
};

constexpr std::string_view kLodColumns =
    "owner, owner_id, lane, depth, level, start_ns, event_id, end_ns, busy_ns, count, bytes, kind, "
    "name_id";
constexpr std::string_view kLodKey = "owner, owner_id, lane, depth, level, start_ns, event_id";

// Inserts rows into `lod` mostly in key order: appending takes a tenth of the time. The finest
// level of a line, three of four rows, comes in that order. Rows of coarser levels come in between,
// so they wait in another table.
class LodStream {
 public:
  static Result<LodStream> open(Database& trace) {
    SONDE_TRY(trace.exec("CREATE TEMP TABLE coarser_lod AS SELECT * FROM lod WHERE false"));
    SONDE_TRY_ASSIGN(RowBuffer finest, RowBuffer::open(trace, "INSERT", "lod", kLodColumns));
    SONDE_TRY_ASSIGN(RowBuffer coarser,
                     RowBuffer::open(trace, "INSERT", "coarser_lod", kLodColumns));
    SONDE_TRY_ASSIGN(
        Statement move,
        trace.prepare(fmt::format("INSERT INTO lod({0}) SELECT {0} FROM coarser_lod ORDER BY {1}",
                                  kLodColumns,
                                  kLodKey)));
    SONDE_TRY_ASSIGN(Statement empty, trace.prepare("DELETE FROM coarser_lod"));
    return LodStream(
        trace, std::move(finest), std::move(coarser), std::move(move), std::move(empty));
  }

  Result<void> add(std::string_view owner,
                   std::int64_t ownerId,
                   const LineKey& key,
                   const LodRow& made,
                   bool finest) {
    RowBuffer& rows = finest ? finest_ : coarser_;
    rows.text(owner);
    for (const std::int64_t value : {ownerId,
                                     key.lane,
                                     key.depth,
                                     std::int64_t{made.level},
                                     made.startNs,
                                     made.eventId,
                                     made.endNs,
                                     made.busyNs,
                                     made.count})
      rows.integer(value);
    made.bytes != 0 ? rows.integer(made.bytes) : rows.null();
    rows.text(made.kind);
    made.nameId != 0 ? rows.integer(made.nameId) : rows.null();
    return rows.endRow();
  }

  Result<void> endOwner() {
    SONDE_TRY(coarser_.flush());
    SONDE_TRY(move_.run());
    return empty_.run();
  }

  Result<void> close() {
    SONDE_TRY(finest_.flush());
    return trace_->exec("DROP TABLE coarser_lod");
  }

 private:
  LodStream(Database& trace, RowBuffer finest, RowBuffer coarser, Statement move, Statement empty)
      : trace_(&trace),
        finest_(std::move(finest)),
        coarser_(std::move(coarser)),
        move_(std::move(move)),
        empty_(std::move(empty)) {}

  Database* trace_;
  RowBuffer finest_;
  RowBuffer coarser_;
  Statement move_;
  Statement empty_;
};

class OwnerPass {
 public:
  OwnerPass(Database& trace, const Source& source) : trace_(trace), source_(source) {}

  Result<void> run() {
    SONDE_TRY_ASSIGN(Statement owners, trace_.prepare(source_.ownersSql));
    SONDE_TRY_ASSIGN(Statement events, trace_.prepare(source_.eventsSql));
    std::optional<Statement> starts;
    std::optional<Statement> end;
    if (!source_.startsSql.empty()) {
      SONDE_TRY_ASSIGN(starts, trace_.prepare(source_.startsSql));
      SONDE_TRY_ASSIGN(end, trace_.prepare(source_.endSql));
    }
    SONDE_TRY_ASSIGN(Statement line,
                     trace_.prepare("INSERT INTO line VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    SONDE_TRY_ASSIGN(LodStream rows, LodStream::open(trace_));
    for (;;) {
      SONDE_TRY_ASSIGN(const bool more, owners.step());
      if (!more)
        return rows.close();
      owner_ = owners.integer(0);
      packed_ = false;
      SONDE_TRY_ASSIGN(const auto surveys, starts ? surveyStarts(*starts, *end) : survey(events));
      const Levels levels = levelsOf(surveys);
      SONDE_TRY(writeLines(line, surveys, levels));
      SONDE_TRY(writeLevels(events, rows, levels));
      SONDE_TRY(rows.endOwner());
    }
  }

 private:
  using Surveys = std::map<LineKey, LineSurvey>;
  using Levels = std::map<LineKey, std::optional<LevelRange>>;

  template <typename Visit>
  Result<void> forEach(Statement& events, Visit visit) {
    Packer packer;
    events.bindAll(owner_);
    for (;;) {
      SONDE_TRY_ASSIGN(const bool more, events.step());
      if (!more)
        return {};
      LineEvent event;
      event.id = events.integer(2);
      event.startNs = events.integer(3);
      event.durNs = events.integer(4);
      event.kind = events.text(5);
      event.nameId = events.integer(6);
      event.bytes = events.integer(7);
      LineKey key{events.integer(0), events.integer(1)};
      if (events.isNull(1)) {
        packed_ = true;
        key.depth = packer.depthFor(key.lane, event.startNs, event.startNs + event.durNs);
      }
      visit(key, event);
    }
  }

  Result<Surveys> survey(Statement& events) {
    Surveys surveys;
    SONDE_TRY(forEach(events, [&](const LineKey& key, const LineEvent& event) {
      surveys[key].add(event.startNs, event.startNs + event.durNs);
    }));
    return surveys;
  }

  // The last event of a line ends last, as its events do not overlap.
  Result<Surveys> surveyStarts(Statement& starts, Statement& end) {
    std::map<LineKey, std::int64_t> last;
    Surveys surveys;
    SONDE_TRY(forEach(starts, [&](const LineKey& key, const LineEvent& event) {
      surveys[key].add(event.startNs, event.startNs);
      last[key] = event.id;
    }));
    for (auto& [key, survey] : surveys) {
      end.bindAll(last[key]);
      SONDE_TRY_ASSIGN(const bool any, end.step());
      survey.endAt(any ? end.integer(0) : survey.endNs());
      end.reset();
    }
    return surveys;
  }

  // The depth of a packed event is not stored, so a reader reads all depths of a lane or none. They
  // must have the same levels.
  Levels levelsOf(const Surveys& surveys) const {
    Levels levels;
    std::map<std::int64_t, std::optional<LevelRange>> ofLane;
    for (const auto& [key, survey] : surveys) {
      const std::optional<LevelRange> own = survey.levels();
      levels[key] = own;
      std::optional<LevelRange>& all = ofLane[key.lane];
      if (own)
        all = all ? LevelRange{std::min(all->min, own->min), std::max(all->max, own->max)} : *own;
    }
    if (packed_)
      for (auto& [key, range] : levels)
        range = ofLane[key.lane];
    return levels;
  }

  Result<void> writeLines(Statement& line, const Surveys& surveys, const Levels& levels) {
    for (const auto& [key, survey] : surveys) {
      line.bindAll(source_.owner,
                   owner_,
                   key.lane,
                   key.depth,
                   survey.startNs(),
                   survey.endNs(),
                   survey.count());
      const auto& range = levels.at(key);
      line.bind(8, range ? std::optional(range->min) : std::nullopt);
      line.bind(9, range ? std::optional(range->max) : std::nullopt);
      SONDE_TRY(line.run());
    }
    return {};
  }

  Result<void> writeLevels(Statement& events, LodStream& rows, const Levels& levels) {
    Result<void> written;
    std::map<LineKey, LodBuilder> builders;
    for (const auto& [key, range] : levels) {
      if (range)
        builders.emplace(
            key, LodBuilder(*range, [&, key = key, finest = range->min](const LodRow& made) {
              if (written)
                written = rows.add(source_.owner, owner_, key, made, made.level == finest);
            }));
    }
    if (builders.empty())
      return {};
    SONDE_TRY(forEach(events, [&](const LineKey& key, const LineEvent& event) {
      if (const auto builder = builders.find(key); builder != builders.end())
        builder->second.add(event);
    }));
    for (auto& [key, builder] : builders)
      builder.finish();
    return written;
  }

  Database& trace_;
  const Source& source_;
  std::int64_t owner_ = 0;
  bool packed_ = false;  // the depths of the owner's events are assigned here
};

}  // namespace

Result<void> buildLodTables(Database& trace) {
  SONDE_TRY(trace.exec("DELETE FROM line; DELETE FROM lod;"));
  for (const Source& source : {threads(), streams(), channels()})
    SONDE_TRY(OwnerPass(trace, source).run());
  return {};
}

}  // namespace sonde::store
