#include "analysis/engine/callpaths/slice_table.h"

#include "analysis/store/each_row.h"
#include "analysis/store/open_slice.h"
#include "analysis/store/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace sonde::engine::callpaths {
namespace {

using metrics::Interval;
using store::Statement;

constexpr std::uint32_t kMostThreads = (1U << 24U) - 1;  // PathSlice::thread
constexpr std::uint32_t kNoThread = ~std::uint32_t{0};

bool holdsOrAll(const std::vector<std::int64_t>& ids, std::int64_t id) {
  return ids.empty() || std::find(ids.begin(), ids.end(), id) != ids.end();
}

Result<std::uint32_t> shortIdOf(std::int64_t id) {
  if (id < 0 || id >= std::numeric_limits<std::uint32_t>::max())
    return Error{ErrorCode::Corrupt, fmt::format("table slice: {} is not a valid id", id)};
  return static_cast<std::uint32_t>(id);
}

// Calls `each`, which returns a Result<void>, at each row of a statement whose parameters are
// bound.
template <typename Each>
Result<void> forEachRowOf(Statement& rows, Each each) {
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      return {};
    SONDE_TRY(each(rows));
  }
}

// An instant belongs to the range that it begins.
bool isIn(const PathSlice& slice, const Interval& range) {
  return slice.beginNs < range.end && (slice.endNs > range.begin || (slice.beginNs == slice.endNs &&
                                                                     slice.beginNs >= range.begin));
}

}  // namespace

Result<std::vector<PathThread>> readThreads(const store::Database& trace,
                                            const PathFilter& filter) {
  SONDE_TRY_ASSIGN(const align::JobClock clock, align::JobClock::read(trace));
  std::vector<PathThread> threads;
  SONDE_TRY(store::forEachRow(
      trace,
      "SELECT t.id, t.tid, coalesce(t.name, ''), p.id, p.host_id, p.end_ns, p.rank, "
      "coalesce(p.command, 'process'), p.pid FROM thread t JOIN process p ON p.id = t.process_id "
      "ORDER BY t.id",
      [&](const Statement& row) -> Result<void> {
        if (!holdsOrAll(filter.threads, row.integer(0)) ||
            !holdsOrAll(filter.processes, row.integer(3)) ||
            (filter.rank && row.optionalInteger(6) != filter.rank))
          return {};
        const std::string_view name = row.text(2);
        threads.push_back({row.integer(0),
                           fmt::format("{} {}", name.empty() ? "thread" : name, row.integer(1)),
                           row.isNull(6) ? fmt::format("{} {}", row.text(7), row.integer(8))
                                         : fmt::format("rank {}", row.integer(6)),
                           row.integer(3),
                           clock.clockOf(row.integer(4)),
                           row.optionalInteger(5)});
        return {};
      }));
  return threads;
}

Result<SliceTable> SliceTable::read(const store::Database& trace,
                                    const PathFilter& filter,
                                    const std::optional<Interval>& range) {
  SliceTable table;
  SONDE_TRY_ASSIGN(table.threads_, readThreads(trace, filter));
  if (table.threads_.size() > kMostThreads)
    return Error{ErrorCode::Corrupt, "table thread: there are too many rows"};
  for (std::uint32_t place = 0; place < table.threads_.size(); ++place)
    table.threadPlaces_.emplace(table.threads_[place].id, place);
  table.lastThread_ = {0, kNoThread};
  table.all_ = filter.operation.empty();
  if (range) {
    SONDE_TRY(table.readRange(trace, *range));
  } else {
    SONDE_TRY(table.readAll(trace));
  }
  table.indexIds();
  if (!table.all_)
    SONDE_TRY(table.findInside(trace, filter.operation));
  return table;
}

// addRow() reads these.
std::string SliceTable::columnsSql() const {
  return fmt::format("id, thread_id, kind, name_id, start_ns, {}, parent_id{}",
                     store::drawnSql("slice"),
                     all_ ? ""
                          : ", CASE WHEN parent_id IS NULL AND scope_how = 'inherited' THEN "
                            "scope_id END");
}

Result<void> SliceTable::readAll(const store::Database& trace) {
  if (threads_.empty())
    return {};
  std::int64_t count = 0;
  SONDE_TRY(store::forEachRow(trace,
                              "SELECT owner_id, count FROM line WHERE owner = 'thread'",
                              [&](const Statement& row) -> Result<void> {
                                if (threadPlaces_.contains(row.integer(0)))
                                  count += row.integer(1);
                                return {};
                              }));
  constexpr std::int64_t kMostAtOnce = 1 << 24;  // the file may be damaged
  slices_.reserve(static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, kMostAtOnce)));
  return store::forEachRow(trace,
                           fmt::format("SELECT {} FROM slice ORDER BY rowid", columnsSql()),
                           [&](const Statement& row) { return addRow(row, std::nullopt); });
}

// The slices of a line do not overlap: only the last one that begins before the range reaches into
// it.
Result<void> SliceTable::readRange(const store::Database& trace, const Interval& range) {
  SONDE_TRY_ASSIGN(const std::int64_t hasLines,
                   trace.queryInteger("SELECT EXISTS (SELECT 1 FROM line WHERE owner = 'thread')"));
  if (hasLines == 0)  // not finished
    return store::forEachRow(trace,
                             fmt::format("SELECT {} FROM slice ORDER BY rowid", columnsSql()),
                             [&](const Statement& row) { return addRow(row, range); });
  SONDE_TRY_ASSIGN(
      Statement rows,
      trace.prepare(fmt::format(
          "SELECT {} FROM slice WHERE thread_id = ?1 AND lane = ?2 AND depth = ?3 AND start_ns <= "
          "?5 AND start_ns >= coalesce((SELECT max(start_ns) FROM slice WHERE thread_id = ?1 AND "
          "lane = ?2 AND depth = ?3 AND start_ns <= ?4), ?4)",
          columnsSql())));
  SONDE_TRY_ASSIGN(
      Statement lines,
      trace.prepare("SELECT lane, depth FROM line WHERE owner = 'thread' AND owner_id = ?1"));
  for (const PathThread& thread : threads_)
    SONDE_TRY(readLines(lines, rows, thread, range));
  std::sort(slices_.begin(), slices_.end(), [](const PathSlice& a, const PathSlice& b) {
    return a.id < b.id;
  });
  return {};
}

// The statements of readRange().
Result<void> SliceTable::readLines(Statement& lines,
                                   Statement& rows,
                                   const PathThread& thread,
                                   const Interval& range) {
  lines.bindAll(thread.id);
  return forEachRowOf(lines, [&](const Statement& line) {
    rows.bindAll(thread.id,
                 line.integer(0),
                 line.integer(1),
                 thread.clock.toHost(range.begin) - 1,
                 thread.clock.toHost(range.end) + 1);
    return forEachRowOf(rows, [&](const Statement& row) { return addRow(row, range); });
  });
}

Result<void> SliceTable::addRow(const Statement& row, const std::optional<Interval>& range) {
  if (row.integer(1) != lastThread_.first) {
    const auto found = threadPlaces_.find(row.integer(1));
    lastThread_ = {row.integer(1), found == threadPlaces_.end() ? kNoThread : found->second};
  }
  const auto kind = kinds_.of(row.text(2), model::sliceKindOf);
  if (lastThread_.second == kNoThread || !kind || *kind == model::SliceKind::Range ||
      *kind == model::SliceKind::Mark)
    return {};
  const PathThread& thread = threads_[lastThread_.second];
  PathSlice slice;
  SONDE_TRY_ASSIGN(slice.id, shortIdOf(row.integer(0)));
  SONDE_TRY_ASSIGN(slice.name, shortIdOf(row.integer(3)));
  SONDE_TRY_ASSIGN(slice.parent, shortIdOf(row.integer(6)));
  slice.thread = lastThread_.second & kMostThreads;
  slice.kind = *kind;
  const std::int64_t beginNs = row.integer(4);
  const std::int64_t durNs =
      row.isNull(5) ? thread.endNs.value_or(beginNs) - beginNs : row.integer(5);
  slice.beginNs = thread.clock.toJob(beginNs);
  slice.endNs = slice.beginNs + std::max<std::int64_t>(durNs, 0);
  if (range && !isIn(slice, *range))
    return {};
  slices_.push_back(slice);
  if (!all_ && !row.isNull(7))
    inherited_[slice.id] = static_cast<std::uint32_t>(row.integer(7));
  return {};
}

// Ids that are close to each other are looked up, others are searched.
void SliceTable::indexIds() {
  constexpr std::size_t kMostPerSlice = 8;
  constexpr std::size_t kAlways = 1U << 20U;
  if (slices_.empty())
    return;
  firstId_ = slices_.front().id;
  const std::size_t span = slices_.back().id - firstId_ + std::size_t{1};
  if (span > kMostPerSlice * slices_.size() + kAlways)
    return;
  places_.assign(span, ~std::uint32_t{0});
  for (std::size_t place = 0; place < slices_.size(); ++place)
    places_[slices_[place].id - firstId_] = static_cast<std::uint32_t>(place);
}

std::size_t SliceTable::placeOf(std::int64_t id) const {
  if (id <= 0 || slices_.empty() || id < firstId_ || id > slices_.back().id)
    return kNone;
  if (!places_.empty()) {
    const std::uint32_t place = places_[static_cast<std::size_t>(id - firstId_)];
    return place == ~std::uint32_t{0} ? kNone : place;
  }
  const auto at = std::partition_point(
      slices_.begin(), slices_.end(), [&](const PathSlice& slice) { return slice.id < id; });
  return at->id == id ? static_cast<std::size_t>(at - slices_.begin()) : kNone;
}

Result<void> SliceTable::findInside(const store::Database& trace, const std::string& operation) {
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare("SELECT id FROM string WHERE text = ?1"));
  rows.bindAll(operation);
  SONDE_TRY_ASSIGN(const bool exists, rows.step());
  inside_.assign(slices_.size(), false);
  if (!exists)
    return {};
  const std::int64_t name = rows.integer(0);
  forEachAroundFirst(
      [&](std::size_t place) {
        if (slices_[place].parent != 0)
          return placeOf(slices_[place].parent);
        const auto scope = inherited_.find(slices_[place].id);
        return scope == inherited_.end() ? kNone : placeOf(scope->second);
      },
      [&](std::size_t place, std::size_t around) {
        inside_[place] = (around != kNone && inside_[around]) ||
                         (slices_[place].name == name && model::isScope(slices_[place].kind));
      });
  return {};
}

}  // namespace sonde::engine::callpaths
