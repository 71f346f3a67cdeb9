#include "gui/trace/reader_skeleton.h"

#include "analysis/store/communication_kernels.h"
#include "analysis/store/open_slice.h"
#include "gui/trace/qtext.h"
#include "gui/trace/reader_counters.h"

#include <QFileInfo>
#include <QHash>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace sonde::gui {
namespace {

// Orders processes by importance: an interpreter may be started through dozens of programs that
// only have marks of forks and execs. Processes without other events come after all ranks.
//
// A line with other events has one among its first rows, so this reads few slices. Counts are
// compared by their number of digits: workers with similar amounts keep the order of their starts.
constexpr const char* kProcesses = R"(
WITH work AS (
  SELECT process_id, sum(count) AS slices FROM (
    SELECT t.process_id, l.count FROM line l JOIN thread t ON t.id = l.owner_id
    WHERE l.owner = 'thread' AND EXISTS (SELECT 1 FROM slice s WHERE s.thread_id = l.owner_id
      AND s.lane = l.lane AND s.depth = l.depth AND s.category <> 'process')
    UNION ALL SELECT r.process_id, l.count FROM line l JOIN stream r ON r.id = l.owner_id
    WHERE l.owner = 'stream')
  GROUP BY process_id)
SELECT p.id, p.pid, p.rank, h.name, p.command, p.state, p.host_id,
  CASE WHEN o.rank IS p.rank AND o.pid <> p.pid THEN o.pid END, coalesce(w.slices, 0),
  p.id IN (SELECT process_id FROM iteration) AS iterates,
  p.id IN (SELECT c.process_id FROM line l JOIN channel c ON c.id = l.owner_id
    WHERE l.owner = 'channel') AS transfers, p.start_ns, p.end_ns, p.exit_status, p.exit_signal
FROM process p JOIN host h ON h.id = p.host_id LEFT JOIN process o ON o.id = p.parent_id
  LEFT JOIN work w ON w.process_id = p.id
ORDER BY w.slices IS NULL AND NOT iterates AND NOT transfers, p.rank IS NULL, p.rank,
  iterates DESC, w.slices IS NULL, length(w.slices) DESC, transfers DESC, p.start_ns, p.id)";

class SkeletonReader {
 public:
  explicit SkeletonReader(const store::Database& trace) : trace_(trace) {}

  Result<ReadSkeleton> read() {
    SONDE_TRY(readProcesses());
    SONDE_TRY(readDevices());
    SONDE_TRY(readStreams());
    SONDE_TRY(readPurposes());
    SONDE_TRY(readThreads());
    SONDE_TRY(readChannels());
    SONDE_TRY(readCounters());
    SONDE_TRY(readLines());
    SONDE_TRY(readIterations());
    SONDE_TRY(readEvents());
    SONDE_TRY(readBounds());
    SONDE_TRY(
        forEachRow("SELECT coalesce(sum(count), 0) FROM loss",
                   [&](const store::Statement& row) { result_.skeleton.lost = row.integer(0); }));
    orderTracks();
    return std::move(result_);
  }

 private:
  template <typename Visit>
  Result<void> forEachRow(const char* sql, Visit visit) {
    SONDE_TRY_ASSIGN(auto rows, trace_.prepare(sql));
    while (true) {
      SONDE_TRY_ASSIGN(const bool row, rows.step());
      if (!row)
        return {};
      visit(rows);
    }
  }

  Result<void> readProcesses();
  Result<void> readDevices();
  Result<void> readStreams();
  Result<void> readPurposes();
  Result<void> readThreads();
  Result<void> readChannels();
  Result<void> readCounters();
  Result<void> readLines();
  Result<void> readIterations();
  Result<void> readEvents();
  Result<void> readBounds();
  void orderTracks();
  void addTrack(TrackInfo track, std::int64_t processId);
  void stretch(std::int64_t beginNs, std::int64_t endNs);

  const store::Database& trace_;
  ReadSkeleton result_;
  QHash<std::int64_t, int> processes_;
  std::vector<std::int64_t> hosts_;  // by process
  QHash<std::int64_t, int> devices_;
  QHash<QPair<int, std::int64_t>, std::size_t> tracks_;
  std::int64_t first_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ = std::numeric_limits<std::int64_t>::min();
};

void SkeletonReader::stretch(std::int64_t beginNs, std::int64_t endNs) {
  first_ = std::min(first_, beginNs);
  last_ = std::max(last_, endNs);
}

Result<void> SkeletonReader::readProcesses() {
  SONDE_TRY(forEachRow(kProcesses, [&](const store::Statement& row) {
    processes_.insert(row.integer(0), static_cast<int>(result_.skeleton.processes.size()));
    result_.skeleton.processes.push_back({row.integer(0),
                                          row.integer(1),
                                          row.optionalInteger(2),
                                          row.optionalInteger(7),
                                          qtext(row.text(3)),
                                          qtext(row.text(4)),
                                          qtext(row.text(5)),
                                          row.integer(8),
                                          row.optionalInteger(11),
                                          row.optionalInteger(12),
                                          row.optionalInteger(13),
                                          row.optionalInteger(14)});
    hosts_.push_back(row.integer(6));
  }));
  SONDE_TRY_ASSIGN(const auto clocks, engine::align::JobClock::read(trace_));
  for (std::size_t at = 0; at < hosts_.size(); ++at) {
    HostClock clock = clocks.clockOf(hosts_[at]);
    ProcessInfo& process = result_.skeleton.processes[at];
    for (auto* ns : {&process.startNs, &process.endNs})
      if (*ns) {
        *ns = clock.toJob(**ns);
        stretch(**ns, **ns);
      }
    result_.clocks.push_back(std::move(clock));
  }
  return {};
}

void SkeletonReader::addTrack(TrackInfo track, std::int64_t processId) {
  const auto process = processes_.constFind(processId);
  if (process == processes_.constEnd())
    return;
  track.process = *process;
  tracks_.insert({static_cast<int>(track.owner), track.id}, result_.skeleton.tracks.size());
  result_.skeleton.tracks.push_back(std::move(track));
}

Result<void> SkeletonReader::readDevices() {
  return forEachRow("SELECT id, kind, ordinal, name FROM device ORDER BY kind, ordinal, id",
                    [&](const store::Statement& row) {
                      devices_.insert(row.integer(0),
                                      static_cast<int>(result_.skeleton.devices.size()));
                      result_.skeleton.devices.push_back(
                          {row.integer(0),
                           qtext(row.text(1)) + QStringLiteral(" %1").arg(row.integer(2)),
                           qtext(row.text(3))});
                    });
}

Result<void> SkeletonReader::readStreams() {
  // The driver's number for events without a stream: CUPTI_SYNCHRONIZATION_INVALID_VALUE.
  constexpr std::int64_t kNoStream = 0xffffffff;
  return forEachRow(
      "SELECT id, process_id, device_id, number, name FROM stream ORDER BY number, id",
      [&](const store::Statement& row) {
        TrackInfo track;
        track.owner = Owner::Stream;
        track.id = row.integer(0);
        track.device = devices_.value(row.integer(2), -1);
        const std::int64_t number = row.integer(3);
        track.name = number == kNoStream || number < 0 ? QStringLiteral("whole device")
                                                       : QStringLiteral("stream %1").arg(number);
        if (track.device >= 0)
          track.name.prepend(result_.skeleton.devices[static_cast<std::size_t>(track.device)].name +
                             QStringLiteral(" · "));
        track.detail = qtext(row.text(4));
        addTrack(std::move(track), row.integer(1));
      });
}

// Libraries of collectives have streams of their own, so the first kernel is enough.
Result<void> SkeletonReader::readPurposes() {
  SONDE_TRY_ASSIGN(const auto communication, store::CommunicationKernels::read(trace_));
  return forEachRow(
      "SELECT r.id, n.text FROM stream r JOIN kernel k ON k.id = (SELECT f.id FROM kernel f "
      "WHERE f.stream_id = r.id ORDER BY f.start_ns LIMIT 1) JOIN string n ON n.id = k.name_id",
      [&](const store::Statement& row) {
        const auto at = tracks_.constFind({static_cast<int>(Owner::Stream), row.integer(0)});
        if (at != tracks_.constEnd())
          result_.skeleton.tracks[*at].communicates = communication.holds(row.text(1));
      });
}

Result<void> SkeletonReader::readThreads() {
  return forEachRow(
      "SELECT t.id, t.process_id, t.tid, t.name, t.tid = p.pid FROM thread t "
      "JOIN process p ON p.id = t.process_id ORDER BY t.tid <> p.pid, t.tid, t.id",
      [&](const store::Statement& row) {
        TrackInfo track;
        track.id = row.integer(0);
        const QString tid = QString::number(row.integer(2));
        const QString name = qtext(row.text(3));
        const bool main = row.integer(4) != 0;
        track.name = main ? QStringLiteral("main thread") : name.isEmpty() ? "thread " + tid : name;
        track.detail = name.isEmpty() && !main   ? QString()
                       : main && !name.isEmpty() ? name + " " + tid
                                                 : tid;
        addTrack(std::move(track), row.integer(1));
      });
}

// "10.0.0.1:4000 ⇄ 10.0.0.2:29500"; an address that both ends share appears once.
QString endpoints(const QString& local, const QString& remote) {
  const qsizetype port = remote.lastIndexOf(u':');
  const bool oneHost = port > 0 && local.left(local.lastIndexOf(u':')) == remote.left(port);
  return local + QStringLiteral(" ⇄ ") + (oneHost ? remote.mid(port) : remote);
}

Result<void> SkeletonReader::readChannels() {
  return forEachRow(
      "SELECT c.id, c.process_id, c.kind, c.local, c.remote, q.rank, q.pid FROM channel c "
      "LEFT JOIN channel o ON o.id = c.peer_channel_id LEFT JOIN process q ON q.id = o.process_id "
      "ORDER BY c.kind, c.id",
      [&](const store::Statement& row) {
        TrackInfo track;
        track.owner = Owner::Channel;
        track.id = row.integer(0);
        const QString remote = qtext(row.text(4));
        const auto pid = row.optionalInteger(6);
        const auto rank = row.optionalInteger(5);
        // The address of a pipe's other end is not informative.
        QString peer = row.text(2) == "pipe" ? QStringLiteral("end not recorded") : remote;
        if (pid)
          peer = rank ? QStringLiteral("rank %1 (pid %2)").arg(*rank).arg(*pid)
                      : QStringLiteral("pid %1").arg(*pid);
        track.network = row.text(2) != "unix" && row.text(2) != "pipe";
        track.name = qtext(row.text(2)) + QStringLiteral(" ⇄ ") + peer;
        track.detail = endpoints(qtext(row.text(3)), remote);
        addTrack(std::move(track), row.integer(1));
      });
}

// A counter of a device belongs to the first process that used the device, and one of a machine to
// the machine's first process.
Result<void> SkeletonReader::readCounters() {
  SONDE_TRY_ASSIGN(auto counters, readCounterTracks(trace_, result_.skeleton.devices));
  QHash<int, int> users;  // by device; streams are read before
  for (const TrackInfo& track : result_.skeleton.tracks)
    if (track.owner == Owner::Stream) {
      const int known = users.value(track.device, track.process);
      users.insert(track.device, std::min(known, track.process));
    }
  for (CounterTrack& counter : counters) {
    TrackInfo& track = counter.track;
    if (counter.deviceId)
      track.device = devices_.value(*counter.deviceId, -1);
    const auto host = std::find(hosts_.begin(), hosts_.end(), counter.hostId);
    const int user = track.device < 0 ? -1 : users.value(track.device, -1);
    track.counter->isOfHost = !counter.processId && user < 0;
    if (counter.processId)
      addTrack(std::move(track), *counter.processId);
    else if (user >= 0)
      addTrack(std::move(track), result_.skeleton.processes[static_cast<std::size_t>(user)].id);
    else if (host != hosts_.end())
      addTrack(std::move(track),
               result_.skeleton.processes[static_cast<std::size_t>(host - hosts_.begin())].id);
  }
  return {};
}

Result<void> SkeletonReader::readLines() {
  return forEachRow(
      "SELECT owner, owner_id, lane, depth, start_ns, end_ns, count, min_level, max_level FROM "
      "line "
      "ORDER BY owner, owner_id, lane, depth",
      [&](const store::Statement& row) {
        const Owner owner = row.text(0) == "thread"   ? Owner::Thread
                            : row.text(0) == "stream" ? Owner::Stream
                                                      : Owner::Channel;
        const auto at = tracks_.constFind({static_cast<int>(owner), row.integer(1)});
        if (at == tracks_.constEnd())
          return;
        TrackInfo& track = result_.skeleton.tracks[*at];
        Line line;
        line.lane = static_cast<std::int32_t>(row.integer(2));
        line.depth = static_cast<std::int32_t>(row.integer(3));
        line.row = static_cast<std::uint16_t>(track.rows++);
        line.startNs = row.integer(4);
        line.endNs = row.integer(5);
        line.count = row.integer(6);
        line.minLevel = static_cast<int>(row.optionalInteger(7).value_or(-1));
        line.maxLevel = static_cast<int>(row.optionalInteger(8).value_or(-1));
        track.lines.push_back(line);
        track.count += line.count;
        const HostClock& clock = result_.clocks[static_cast<std::size_t>(track.process)];
        stretch(clock.toJob(line.startNs), clock.toJob(line.endNs));
      });
}

Result<void> SkeletonReader::readIterations() {
  SONDE_TRY(forEachRow(
      ("SELECT process_id, number, start_ns, dur_ns, slice_id, CASE WHEN dur_ns IS NULL "
       "THEN " +
       store::atMostSql("slice_id") + " END FROM iteration ORDER BY process_id, start_ns")
          .c_str(),
      [&](const store::Statement& row) {
        const auto process = processes_.constFind(row.integer(0));
        if (process == processes_.constEnd())
          return;
        const HostClock& clock = result_.clocks[static_cast<std::size_t>(*process)];
        const std::int64_t start = clock.toJob(row.integer(2));
        const std::int64_t dur = row.optionalInteger(3).value_or(Block::kOpen);
        result_.skeleton.iterations.push_back(
            {*process, row.integer(1), start, dur, row.integer(5), row.integer(4)});
        stretch(start, start + std::max<std::int64_t>(dur, 0));
      }));
  std::stable_sort(
      result_.skeleton.iterations.begin(),
      result_.skeleton.iterations.end(),
      [](const IterationInfo& a, const IterationInfo& b) { return a.process < b.process; });
  return {};
}

// Slices and device work are counted by their lines; synchronisation is not counted.
Result<void> SkeletonReader::readEvents() {
  return forEachRow(
      "SELECT (SELECT coalesce(sum(count), 0) FROM line WHERE owner <> 'stream' OR lane = 0)"
      " + (SELECT count(*) FROM collective)"
      " + (SELECT count(*) FROM scalar) + (SELECT count(*) FROM iteration)"
      " + (SELECT count(*) FROM sample)",
      [&](const store::Statement& row) { result_.skeleton.events = row.integer(0); });
}

Result<void> SkeletonReader::readBounds() {
  Skeleton& skeleton = result_.skeleton;
  if (first_ > last_)
    stretch(0, 0);
  skeleton.beginNs = first_;
  skeleton.endNs = last_;
  skeleton.originNs = first_;
  SONDE_TRY(forEachRow("SELECT 1 FROM meta WHERE key = 'replayed'",
                       [&](const store::Statement&) { skeleton.replayed = true; }));
  SONDE_TRY(
      forEachRow("SELECT method FROM overhead GROUP BY method ORDER BY min(rowid)",
                 [&](const store::Statement& row) { skeleton.costMethods << qtext(row.text(0)); }));
  return forEachRow("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'origin_ns'",
                    [&](const store::Statement& row) {
                      skeleton.originNs = std::min(row.integer(0), skeleton.beginNs);
                    });
}

void SkeletonReader::orderTracks() {
  auto& tracks = result_.skeleton.tracks;
  std::stable_sort(tracks.begin(), tracks.end(), [](const TrackInfo& a, const TrackInfo& b) {
    const auto place = [](const TrackInfo& track) {
      const bool byUse = track.owner != Owner::Thread;
      const bool isOfHost = track.counter && track.counter->isOfHost;
      return std::tuple(track.process,
                        track.owner,
                        isOfHost,
                        track.counter ? 0 : track.device,
                        !track.network,
                        byUse ? -track.count : 0);
    };
    return place(a) < place(b);
  });
}

}  // namespace

Result<ReadSkeleton> readSkeleton(const store::Database& trace) {
  return SkeletonReader(trace).read();
}

}  // namespace sonde::gui
