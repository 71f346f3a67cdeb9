// The parts of TraceReader that read many events: search by name, totals of a span, the overview.
#include "gui/trace/line_query.h"
#include "gui/trace/qtext.h"
#include "gui/trace/trace_reader.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace sonde::gui {
namespace {

constexpr std::int64_t kRowsAtOnce = 65'536;  // between two checks for cancellation
constexpr std::size_t kMaxHits = 1'000'000;
constexpr std::size_t kOverviewTracks = 400;  // the busiest; more would not be visible in the strip

// Whether a process only has instants.
bool blank(const OverviewRow& row) {
  return std::none_of(
      row.bins.begin(), row.bins.end(), [](const OverviewRow::Bin& bin) { return bin.busy > 0; });
}

// The tracks that the overview sums up. Threads are more informative than devices, and these more
// than channels.
std::vector<int> busiest(const Skeleton& skeleton) {
  bool work = false;
  std::vector<bool> hosts(skeleton.processes.size());
  for (const TrackInfo& track : skeleton.tracks) {
    const auto process = static_cast<std::size_t>(track.process);
    work = work || skeleton.processes[process].slices > 0;
    hosts[process] = hosts[process] || (track.owner == Owner::Thread && track.rows > 0);
  }
  std::vector<int> tracks;
  for (int at = 0; at < static_cast<int>(skeleton.tracks.size()); ++at) {
    const TrackInfo& track = skeleton.tracks[static_cast<std::size_t>(at)];
    const bool says =
        track.owner == Owner::Thread || (track.owner == Owner::Channel && !work) ||
        (track.owner == Owner::Stream && !hosts[static_cast<std::size_t>(track.process)]);
    if (track.rows > 0 && says)
      tracks.push_back(at);
  }
  std::stable_sort(tracks.begin(), tracks.end(), [&](int a, int b) {
    return skeleton.tracks[static_cast<std::size_t>(a)].count >
           skeleton.tracks[static_cast<std::size_t>(b)].count;
  });
  tracks.resize(std::min(tracks.size(), kOverviewTracks));
  return tracks;
}

}  // namespace

Result<void> TraceReader::collectHits(const QString& text, const Cancellation& cancellation) {
  hits_.clear();
  hitsOf_.clear();
  std::vector<bool> wanted;
  SONDE_TRY_ASSIGN(auto strings, database().prepare("SELECT id, text FROM string"));
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, strings.step());
    if (!row)
      break;
    const std::string_view name = strings.text(1);
    const auto id = static_cast<std::size_t>(strings.integer(0));
    wanted.resize(std::max(wanted.size(), id + 1));
    wanted[id] = qtext(name).contains(text, Qt::CaseInsensitive);
  }
  const auto split = text.indexOf(u'=');
  for (const Table table : {Table::Slice, Table::Kernel, Table::Copy}) {
    SONDE_TRY(collectHits(table, wanted, cancellation));
    if (split >= 0)
      SONDE_TRY(collectHitsByArgument(table, text.left(split), text.mid(split + 1), cancellation));
  }
  std::sort(hits_.begin(), hits_.end());
  hits_.erase(std::unique(hits_.begin(), hits_.end()), hits_.end());
  hitsOf_ = text;
  return {};
}

Result<void> TraceReader::collectHits(Table table,
                                      const std::vector<bool>& names,
                                      const Cancellation& cancellation) {
  const char* sql =
      "SELECT id, name_id, stream_id, start_ns FROM kernel "
      "WHERE id > ?1 ORDER BY id LIMIT ?2";
  if (table == Table::Slice)
    sql = "SELECT id, name_id, thread_id, start_ns FROM slice WHERE id > ?1 ORDER BY id LIMIT ?2";
  else if (table == Table::Copy)
    sql = "SELECT id, name_id, stream_id, start_ns FROM copy WHERE id > ?1 ORDER BY id LIMIT ?2";
  SONDE_TRY_ASSIGN(auto events, database().prepare(sql));
  for (std::int64_t last = 0, rows = kRowsAtOnce; rows == kRowsAtOnce;) {
    if (cancellation.requested())
      return cancelled();
    events.bindAll(last, kRowsAtOnce);
    for (rows = 0;; ++rows) {
      SONDE_TRY_ASSIGN(const bool row, events.step());
      if (!row)
        break;
      last = events.integer(0);
      const auto name = static_cast<std::size_t>(events.integer(1));
      const int track = trackOf(ownerOf(table), events.integer(2));
      if (name < names.size() && names[name] && track >= 0 && hits_.size() < kMaxHits)
        hits_.push_back({clockOf(track).toJob(events.integer(3)), {table, last}});
    }
  }
  return {};
}

// Events with an argument whose name contains `key`, and whose value contains `value`.
Result<void> TraceReader::collectHitsByArgument(Table table,
                                                const QString& key,
                                                const QString& value,
                                                const Cancellation& cancellation) {
  const char* sql =
      "SELECT e.id, e.stream_id, e.start_ns FROM arg a JOIN kernel e ON e.id = a.owner_id "
      "WHERE a.owner = 'kernel' AND ";
  if (table == Table::Slice)
    sql =
        "SELECT e.id, e.thread_id, e.start_ns FROM arg a JOIN slice e ON e.id = a.owner_id "
        "WHERE a.owner = 'slice' AND ";
  else if (table == Table::Copy)
    sql =
        "SELECT e.id, e.stream_id, e.start_ns FROM arg a JOIN copy e ON e.id = a.owner_id "
        "WHERE a.owner = 'copy' AND ";
  SONDE_TRY_ASSIGN(auto events,
                   database().prepare(std::string(sql) +
                                      "instr(lower(CAST(a.value AS TEXT)), lower(?2)) > 0 AND "
                                      "a.key_id IN (SELECT id FROM string WHERE "
                                      "instr(lower(text), lower(?1)) > 0)"));
  const std::string keyText = key.trimmed().toStdString();
  const std::string valueText = value.trimmed().toStdString();
  events.bindAll(std::string_view(keyText), std::string_view(valueText));
  while (hits_.size() < kMaxHits) {
    if (cancellation.requested())
      return cancelled();
    SONDE_TRY_ASSIGN(const bool row, events.step());
    if (!row)
      break;
    const int track = trackOf(ownerOf(table), events.integer(1));
    if (track >= 0)
      hits_.push_back({clockOf(track).toJob(events.integer(2)), {table, events.integer(0)}});
  }
  return {};
}

Result<SearchReply> TraceReader::search(const SearchRequest& request,
                                        const Cancellation& cancellation) {
  if (request.text != hitsOf_)
    SONDE_TRY(collectHits(request.text, cancellation));
  SearchReply reply;
  reply.hits = static_cast<std::int64_t>(hits_.size());
  reply.capped = hits_.size() == kMaxHits;
  if (hits_.empty())
    return reply;
  const Hit from{request.fromNs, request.from};
  auto next = request.forward ? std::upper_bound(hits_.begin(), hits_.end(), from)
                              : std::lower_bound(hits_.begin(), hits_.end(), from);
  if (request.forward)
    next = next == hits_.end() ? hits_.begin() : next;
  else
    next = std::prev(next == hits_.begin() ? hits_.end() : next);
  reply.position = next - hits_.begin() + 1;
  SONDE_TRY_ASSIGN(reply.found, found(next->ref));
  return reply;
}

namespace {

void add(SpanRow& row, const Block& block, std::int64_t inside, std::int64_t whole) {
  row.kind = block.kind;
  ++row.count;
  row.totalNs += inside;
  row.maxNs = std::max(row.maxNs, whole);
  row.bytes += block.bytes;
}

}  // namespace

Result<std::vector<SpanRow>> TraceReader::span(const WindowRequest& request,
                                               const Cancellation& cancellation) {
  QHash<QPair<std::uint32_t, int>, SpanRow> totals;
  WindowRequest exact = request;
  exact.nsPerPixel = 0;
  LineQuery query(database(), cancellation);
  for (const int at : request.tracks) {
    const auto length = [&clock = clockOf(at), &times = timesOf(at, request)](std::int64_t begin,
                                                                              std::int64_t end) {
      return times.knots().empty() ? end - begin
                                   : times(clock.toHost(end)) - times(clock.toHost(begin));
    };
    SONDE_TRY(readTrack(query, at, exact, [&](const Block& block) {
      const std::int64_t end = endOf(block, skeleton_.endNs);
      const std::int64_t from = std::max(block.startNs, request.beginNs);
      const std::int64_t to = std::min(end, request.endNs);
      if (from < to || (from == to && end == block.startNs))
        add(totals[{block.nameId, static_cast<int>(block.kind)}],
            block,
            length(from, to),
            length(block.startNs, end));
    }));
  }
  std::vector<SpanRow> rows;
  for (auto total = totals.begin(); total != totals.end(); ++total) {
    if (total.key().first == 0) {
      total->name = wordOf(total->kind);
    } else {
      SONDE_TRY_ASSIGN(total->name, text(total.key().first));
    }
    rows.push_back(std::move(*total));
  }
  std::sort(rows.begin(), rows.end(), [](const SpanRow& a, const SpanRow& b) {
    return std::pair(-a.totalNs, a.name) < std::pair(-b.totalNs, b.name);
  });
  return rows;
}

Result<std::vector<OverviewRow>> TraceReader::overview(int bins, const Cancellation& cancellation) {
  std::vector<OverviewRow> rows(skeleton_.processes.size());
  const std::int64_t begin = skeleton_.beginNs;
  const std::int64_t span = std::max<std::int64_t>(skeleton_.endNs - begin, 1);
  LineQuery query(database(), cancellation);
  const WindowRequest request{
      begin, skeleton_.endNs + 1, static_cast<double>(span) / bins, busiest(skeleton_)};
  for (const int at : request.tracks) {
    const TrackInfo& track = skeleton_.tracks[static_cast<std::size_t>(at)];
    OverviewRow& row = rows[static_cast<std::size_t>(track.process)];
    row.bins.resize(static_cast<std::size_t>(bins));
    const auto add = [&](const Block& block) { row.add(block, begin, span, skeleton_.endNs); };
    // An iteration does not show the kind of work, so rows below it take precedence.
    SONDE_TRY(readTrack(query, at, request, add, 1));
  }
  for (OverviewRow& row : rows) {
    if (blank(row))
      row.bins.clear();
    for (OverviewRow::Bin& bin : row.bins)
      if (bin.nameId != 0) {
        SONDE_TRY_ASSIGN(bin.name, text(bin.nameId));
      }
  }
  return rows;
}

}  // namespace sonde::gui
