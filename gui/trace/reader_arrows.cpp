// The parts of TraceReader for the arrows of one event.
#include "gui/trace/qtext.h"
#include "gui/trace/time_format.h"
#include "gui/trace/trace_reader.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace sonde::gui {
namespace {

// A call and the work it launched have one correlation in their process.
constexpr const char* kLaunched =
    "SELECT 1, k.id, k.start_ns AS start FROM slice s JOIN kernel k "
    "ON k.correlation_id = s.correlation_id AND k.launch_slice_id = s.id WHERE s.id = ?1 UNION ALL "
    "SELECT 2, c.id, c.start_ns FROM slice s JOIN copy c "
    "ON c.correlation_id = s.correlation_id AND c.launch_slice_id = s.id WHERE s.id = ?1 UNION ALL "
    "SELECT 3, y.id, y.start_ns FROM slice s JOIN thread t ON t.id = s.thread_id JOIN sync y "
    "ON y.correlation_id = s.correlation_id JOIN stream r ON r.id = y.stream_id "
    "AND r.process_id = t.process_id WHERE s.id = ?1 ORDER BY start, 1, 2";
static_assert(static_cast<int>(Table::Kernel) == 1 && static_cast<int>(Table::Copy) == 2 &&
              static_cast<int>(Table::Sync) == 3);

// By Table: the call that launched it, if there can be one.
constexpr std::array<const char*, 5> kLaunches = {
    nullptr,
    "SELECT s.id FROM kernel k JOIN slice s ON s.id = k.launch_slice_id WHERE k.id = ?1",
    "SELECT s.id FROM copy c JOIN slice s ON s.id = c.launch_slice_id WHERE c.id = ?1",
    "SELECT s.id FROM sync y JOIN stream r ON r.id = y.stream_id JOIN slice s "
    "ON s.correlation_id = y.correlation_id JOIN thread t ON t.id = s.thread_id "
    "AND t.process_id = r.process_id WHERE y.id = ?1 AND s.kind = 'api' LIMIT 1",
    nullptr};

// The other end's transfers that have bytes of transfer ?1. MPI's offsets count messages with a
// tag. The search begins at the last transfer that began at or before the first byte.
constexpr const char* kOtherEnds =
    "WITH own AS (SELECT t.offset, CASE c.kind WHEN 'mpi' THEN 1 ELSE t.bytes END AS bytes, t.tag, "
    "c.kind = 'mpi' AS numbered, c.peer_channel_id AS channel, CASE t.direction WHEN 'send' THEN "
    "'receive' ELSE 'send' END AS direction FROM transfer t JOIN channel c ON c.id = t.channel_id "
    "WHERE t.id = ?1 AND c.peer_channel_id IS NOT NULL) "
    "SELECT o.id FROM own CROSS JOIN transfer o ON o.channel_id = own.channel AND o.direction = "
    "own.direction AND o.offset >= coalesce((SELECT max(b.offset) FROM transfer b WHERE "
    "b.channel_id = own.channel AND b.direction = own.direction AND b.offset <= own.offset), 0) "
    "AND o.offset < own.offset + own.bytes WHERE CASE WHEN own.numbered THEN o.tag IS own.tag AND "
    "o.offset = own.offset ELSE o.offset + o.bytes > own.offset END ORDER BY o.start_ns, o.id";

// The hand-off that ended the wait ?1. Only waits of its thread that ended after it began.
constexpr const char* kWaker =
    "SELECT h.waker_thread_id, h.waker_ns, h.certain, coalesce(nullif(t.name, ''), 'thread') || "
    "' ' || t.tid, h.kind, h.wake_ns - h.waker_ns FROM slice s JOIN handoff h ON "
    "h.wakee_thread_id = s.thread_id AND h.wake_ns >= s.start_ns AND h.slice_id = s.id LEFT JOIN "
    "thread t ON t.id = h.waker_thread_id WHERE s.id = ?1 LIMIT 1";

// The waits of threads of its process that the slice ?1 ended; none if other slices are inside.
constexpr const char* kWoken =
    "SELECT h.slice_id, h.waker_ns FROM slice s JOIN thread o ON o.id = s.thread_id JOIN thread t "
    "ON t.process_id = o.process_id AND t.id <> o.id JOIN handoff h ON h.wakee_thread_id = t.id "
    "AND h.wake_ns BETWEEN s.start_ns AND s.start_ns + s.dur_ns + 1000000000 WHERE s.id = ?1 AND "
    "h.waker_thread_id = s.thread_id AND h.waker_ns BETWEEN s.start_ns AND s.start_ns + s.dur_ns "
    "AND NOT EXISTS (SELECT 1 FROM slice i WHERE i.thread_id = s.thread_id AND i.lane = s.lane AND "
    "i.depth = s.depth + 1 AND i.start_ns BETWEEN s.start_ns AND s.start_ns + s.dur_ns) "
    "ORDER BY h.waker_ns";

// The innermost slice of thread ?1 that covers ?2: at most one of each line.
constexpr const char* kSliceAt =
    "SELECT s.id FROM line l JOIN slice s ON s.id = (SELECT x.id FROM slice x WHERE x.thread_id = "
    "l.owner_id AND x.lane = l.lane AND x.depth = l.depth AND x.start_ns <= ?2 ORDER BY x.start_ns "
    "DESC LIMIT 1) WHERE l.owner = 'thread' AND l.owner_id = ?1 AND (s.dur_ns IS NULL OR "
    "s.start_ns + s.dur_ns >= ?2) AND s.kind <> 'range' ORDER BY l.lane, l.depth DESC LIMIT 1";

// By Table: the collective of a call or of a kernel. Collectives have no index on these columns, so
// times limit the search.
constexpr std::array<const char*, 5> kCollectives = {
    "SELECT c.id FROM slice s JOIN thread t ON t.id = s.thread_id JOIN collective c ON "
    "c.process_id = t.process_id AND c.start_ns = s.start_ns AND c.slice_id = s.id WHERE s.id = ?1",
    "SELECT c.id FROM kernel k JOIN stream r ON r.id = k.stream_id JOIN collective c ON "
    "c.process_id = r.process_id AND c.start_ns BETWEEN k.start_ns - 10000000000 AND k.start_ns "
    "AND c.kernel_id = k.id WHERE k.id = ?1 LIMIT 1",
    nullptr,
    nullptr,
    nullptr};

// All parts of collective ?1, its own too, by rank. The n-th send to a peer is its n-th receive
// from there. Columns: id, process, start, slice, kernel, op, seq, members.
constexpr const char* kParts =
    "WITH own AS (SELECT c.*, m.job_key, m.size, m.position FROM collective c JOIN communicator m "
    "ON m.id = c.communicator_id WHERE c.id = ?1) "
    "SELECT c.id, c.process_id, c.start_ns, c.slice_id, c.kernel_id, c.op, c.seq, own.size FROM "
    "own JOIN communicator m ON m.job_key = own.job_key JOIN collective c ON c.communicator_id = "
    "m.id AND c.seq = own.seq JOIN process p ON p.id = c.process_id WHERE c.id = own.id OR CASE "
    "WHEN own.op IN ('send', 'receive') THEN c.op IN ('send', 'receive') AND c.op <> own.op AND "
    "m.position = own.peer AND c.peer = own.position ELSE c.op NOT IN ('send', 'receive') AND "
    "c.process_id <> own.process_id END ORDER BY p.rank, m.position, c.op <> own.op, c.id";

struct Part {
  std::int64_t collectiveId;
  int process;  // index in Skeleton::processes
  std::int64_t startNs;
  std::optional<std::int64_t> sliceId;
  std::optional<std::int64_t> kernelId;
  QString op;
};

QString nameOfRank(const Skeleton& skeleton, const Part& part) {
  const ProcessInfo& process = skeleton.processes.at(static_cast<std::size_t>(part.process));
  return process.rank ? QStringLiteral("rank %1").arg(*process.rank)
                      : QStringLiteral("pid %1").arg(process.pid);
}

bool isEarlier(const Part& a, const Part& b) {
  return a.startNs < b.startNs;
}

// The event of a part that is of the same sort as an event of `table`, if there is one.
std::optional<EventRef> eventOf(const Part& part, Table table) {
  if (part.kernelId && (table == Table::Kernel || !part.sliceId))
    return EventRef{Table::Kernel, *part.kernelId};
  return part.sliceId ? std::optional(EventRef{Table::Slice, *part.sliceId}) : std::nullopt;
}

// The ranks' parts of one collective.
struct Meeting {
  std::int64_t own = 0;  // collective of the event; 0: it has none
  std::int64_t size = 0;
  std::vector<Part> parts;  // by rank, one of each
};

Result<Meeting> readMeeting(const store::Database& trace,
                            const Skeleton& skeleton,
                            const std::vector<HostClock>& clocks,
                            const EventRef& event) {
  Meeting meeting;
  const char* const sql = kCollectives.at(static_cast<std::size_t>(event.table));
  if (sql == nullptr)
    return meeting;
  SONDE_TRY_ASSIGN(auto own, trace.prepare(sql));
  SONDE_TRY_ASSIGN(const bool any, own.bindAll(event.id).step());
  if (!any)
    return meeting;
  meeting.own = own.integer(0);
  SONDE_TRY_ASSIGN(auto rows, trace.prepare(kParts));
  rows.bindAll(meeting.own);
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return meeting;
    meeting.size = rows.integer(7);
    const auto process = std::find_if(
        skeleton.processes.begin(), skeleton.processes.end(), [&](const ProcessInfo& each) {
          return each.id == rows.integer(1);
        });
    const auto at = static_cast<int>(process - skeleton.processes.begin());
    if (process == skeleton.processes.end() ||
        (!meeting.parts.empty() && meeting.parts.back().process == at))
      continue;
    meeting.parts.push_back({rows.integer(0),
                             at,
                             clocks.at(static_cast<std::size_t>(at)).toJob(rows.integer(2)),
                             rows.optionalInteger(3),
                             rows.optionalInteger(4),
                             qtext(rows.text(5))});
  }
}

// Who came when. Requires: parts is not empty.
DetailsSection rendezvousOf(const Skeleton& skeleton, const Meeting& meeting, const Part& own) {
  const std::vector<Part>& parts = meeting.parts;
  const auto [first, last] = std::minmax_element(parts.begin(), parts.end(), isEarlier);
  DetailsSection section{QStringLiteral("Rendezvous"), {}};
  section.rows.emplace_back(
      "Came last",
      QStringLiteral("%1, %2 after the first")
          .arg(nameOfRank(skeleton, *last), formatDuration(last->startNs - first->startNs)));
  section.rows.emplace_back("Came first", nameOfRank(skeleton, *first));
  if (own.collectiveId != last->collectiveId)
    section.rows.emplace_back(
        "This rank",
        QStringLiteral("%1 before the last").arg(formatDuration(last->startNs - own.startNs)));
  section.rows.emplace_back("Ranks here",
                            QStringLiteral("%1 of %2").arg(parts.size()).arg(meeting.size));
  for (const Part& part : parts)
    if (part.op != own.op && own.op != u"send" && own.op != u"receive")
      section.rows.emplace_back("Called another",
                                nameOfRank(skeleton, part) + QStringLiteral(": ") + part.op);
  return section;
}

}  // namespace

Result<Arrows> TraceReader::launches(const EventRef& event) {
  Arrows arrows;
  if (const char* sql = kLaunches.at(static_cast<std::size_t>(event.table)); sql != nullptr) {
    SONDE_TRY_ASSIGN(auto launch, database().prepare(sql));
    launch.bindAll(event.id);
    SONDE_TRY_ASSIGN(const bool any, launch.step());
    if (any) {
      SONDE_TRY_ASSIGN(FoundEvent from, found({Table::Slice, launch.integer(0)}));
      arrows.from.push_back(std::move(from));
    }
  }
  if (event.table != Table::Slice)
    return arrows;
  SONDE_TRY_ASSIGN(auto rows, database().prepare(kLaunched));
  rows.bindAll(event.id);
  for (;; ++arrows.toCount) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return arrows;
    if (arrows.to.size() == Arrows::kMax)
      continue;
    SONDE_TRY_ASSIGN(FoundEvent to, found({static_cast<Table>(rows.integer(0)), rows.integer(1)}));
    arrows.to.push_back(std::move(to));
  }
}

Result<void> TraceReader::addTarget(const EventRef& event, Arrows& arrows) {
  ++arrows.toCount;
  if (arrows.to.size() == Arrows::kMax)
    return {};
  SONDE_TRY_ASSIGN(FoundEvent to, found(event));
  arrows.to.push_back(std::move(to));
  return {};
}

Result<void> TraceReader::addLinks(EventDetails& details) {
  if (details.event.ref.table == Table::Transfer)
    return addTransferEnds(details);
  if (details.event.ref.table == Table::Slice) {
    SONDE_TRY(addWaker(details));
    SONDE_TRY(addWoken(details));
  }
  return addRanks(details);
}

Result<void> TraceReader::addTransferEnds(EventDetails& details) {
  SONDE_TRY_ASSIGN(auto rows, database().prepare(kOtherEnds));
  rows.bindAll(details.event.ref.id);
  const bool isSend = details.event.block.kind == Kind::Send;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return {};
    const EventRef other{Table::Transfer, rows.integer(0)};
    if (isSend) {
      SONDE_TRY(addTarget(other, details.arrows));
    } else if (details.arrows.from.size() < Arrows::kMax) {
      SONDE_TRY_ASSIGN(FoundEvent from, found(other));
      details.arrows.from.push_back(std::move(from));
    }
  }
}

Result<std::optional<EventRef>> TraceReader::sliceAt(std::int64_t threadId, std::int64_t ns) {
  SONDE_TRY_ASSIGN(auto row, database().prepare(kSliceAt));
  row.bindAll(threadId, ns);
  SONDE_TRY_ASSIGN(const bool any, row.step());
  if (!any)
    return std::optional<EventRef>();
  return std::optional(EventRef{Table::Slice, row.integer(0)});
}

Result<void> TraceReader::addWaker(EventDetails& details) {
  if (details.event.block.kind != Kind::Wait)
    return {};
  SONDE_TRY_ASSIGN(auto row, database().prepare(kWaker));
  row.bindAll(details.event.ref.id);
  SONDE_TRY_ASSIGN(const bool any, row.step());
  if (!any)
    return {};
  DetailsSection section{QStringLiteral("Hand-off"), {}};
  section.rows.emplace_back("Object", qtext(row.text(4)));
  const auto waker = row.optionalInteger(0);
  const auto wakerNs = row.optionalInteger(1);
  section.rows.emplace_back("Ended by", waker ? qtext(row.text(3)) : QStringLiteral("unknown"));
  if (waker && row.integer(2) == 0)
    section.rows.emplace_back("Certain", "no: others may have been");
  if (wakerNs)
    section.rows.emplace_back("Woke up after", formatDuration(row.integer(5)));
  details.sections.insert(std::next(details.sections.begin()), std::move(section));
  if (!waker || !wakerNs)
    return {};
  SONDE_TRY_ASSIGN(const std::optional<EventRef> slice, sliceAt(*waker, *wakerNs));
  if (!slice)
    return {};
  SONDE_TRY_ASSIGN(FoundEvent from, found(*slice));
  details.arrows.from.push_back(std::move(from));
  return {};
}

Result<void> TraceReader::addWoken(EventDetails& details) {
  SONDE_TRY_ASSIGN(auto rows, database().prepare(kWoken));
  rows.bindAll(details.event.ref.id);
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return {};
    SONDE_TRY(addTarget({Table::Slice, rows.integer(0)}, details.arrows));
  }
}

Result<void> TraceReader::addRanks(EventDetails& details) {
  const EventRef& event = details.event.ref;
  SONDE_TRY_ASSIGN(Meeting meeting, readMeeting(database(), skeleton_, clocks_, event));
  std::vector<Part>& parts = meeting.parts;
  const auto own = std::find_if(parts.begin(), parts.end(), [&](const Part& part) {
    return part.collectiveId == meeting.own;
  });
  if (own == parts.end() || parts.size() < 2)
    return {};
  details.sections.insert(std::next(details.sections.begin()),
                          rendezvousOf(skeleton_, meeting, *own));
  Arrows& arrows = details.arrows;
  arrows.rankCount = static_cast<std::int64_t>(parts.size()) - 1;
  const auto last = std::max_element(parts.begin(), parts.end(), isEarlier);
  arrows.last = last == own ? std::optional(event) : eventOf(*last, event.table);
  std::rotate(parts.begin(), std::next(own), parts.end());  // the next rank first, own last
  parts.pop_back();
  for (const Part& part : parts) {
    const std::optional<EventRef> of = eventOf(part, event.table);
    const bool isKept = arrows.ranks.size() + 1 < Arrows::kMax || of == arrows.last;
    if (!of || !isKept)
      continue;
    SONDE_TRY_ASSIGN(FoundEvent other, found(*of));
    arrows.ranks.push_back(std::move(other));
  }
  return {};
}

}  // namespace sonde::gui
