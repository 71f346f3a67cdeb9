// What lanes wait for, by the tables that tell of it.
#include "analysis/engine/correction/program_lanes.h"
#include "analysis/store/each_row.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace sonde::engine::correction {
namespace {

using store::Statement;

// A thread that had nothing to record for so long was waiting for work, as far as anybody knows.
constexpr std::int64_t kIdleNs = 20'000;

// Differences of times are numbers, too.
constexpr std::int64_t kMostNs = std::int64_t{1} << 61;

struct Work {
  std::int64_t begin;
  std::int64_t end;
  LaneIndex stream;
};

class WaitReader {
 public:
  WaitReader(const store::Database& trace, LanesOfTrace& lanes) : trace_(trace), lanes_(lanes) {}

  Result<void> read() {
    SONDE_TRY(readHandoffs());
    SONDE_TRY(readMessages());
    SONDE_TRY(readBytes());
    SONDE_TRY(readCollectives());
    SONDE_TRY(readWork());
    SONDE_TRY(readDeviceWaits());
    SONDE_TRY(readProcesses());
    followDrivers();
    return {};
  }

 private:
  // Rows of `sql`: who waits, for whom, from when, until when, and when that one had come so far.
  Result<void> addThreadWaits(std::string_view sql);
  Result<void> readHandoffs();
  Result<void> readMessages();
  Result<void> readBytes();
  Result<void> readCollectives();
  Result<void> readWork();
  Result<void> readDeviceWaits();
  Result<void> readProcesses();
  void followDrivers();

  LaneIndex laneOfThread(std::int64_t id) const { return find(lanes_.program.ofThread, id); }
  LaneIndex laneOfStream(std::int64_t id) const { return find(lanes_.program.ofStream, id); }
  static LaneIndex find(const std::unordered_map<std::int64_t, LaneIndex>& in, std::int64_t id) {
    const auto found = in.find(id);
    return found == in.end() ? kNoLane : found->second;
  }

  // What cannot be, as clocks of two processes that disagree have it, or a damaged file, is left
  // out.
  void add(const Wait& wait) {
    if (wait.lane == kNoLane || wait.waker == kNoLane || wait.lane == wait.waker ||
        wait.end < wait.begin || wait.wakerNs > wait.end)
      return;
    const auto isTime = [](std::int64_t ns) { return ns > -kMostNs && ns < kMostNs; };
    if (!isTime(wait.end) || !isTime(wait.wakerNs) ||
        !(isTime(wait.begin) || wait.begin == Wait::kStart))
      return;
    lanes_.program.program.waits.push_back(wait);
  }

  const store::Database& trace_;
  LanesOfTrace& lanes_;
  std::map<std::int64_t, std::vector<Work>> workOf_;  // by process, by end
};

Result<void> WaitReader::addThreadWaits(std::string_view sql) {
  return store::forEachRow(trace_, sql, [&](const Statement& row) -> Result<void> {
    add({laneOfThread(row.integer(0)),
         laneOfThread(row.integer(1)),
         row.integer(2),
         row.integer(3),
         row.integer(4)});
    return {};
  });
}

Result<void> WaitReader::readHandoffs() {
  return addThreadWaits(
      "SELECT wakee_thread_id, waker_thread_id, block_ns, wake_ns, waker_ns FROM handoff "
      "WHERE waker_thread_id IS NOT NULL AND waker_ns IS NOT NULL");
}

// Of MPI: a receive, or the wait for it, ends when its message has been sent.
Result<void> WaitReader::readMessages() {
  return addThreadWaits(
      "SELECT r.thread_id, s.thread_id, r.start_ns, r.start_ns + r.dur_ns, s.start_ns "
      "FROM transfer s JOIN channel c ON c.id = s.channel_id AND c.kind = 'mpi' "
      "JOIN process p ON p.id = c.process_id "
      "JOIN transfer r ON r.channel_id = c.peer_channel_id AND r.direction = 'receive' "
      "AND r.offset = s.offset AND r.tag IS s.tag "
      "JOIN channel d ON d.id = r.channel_id JOIN process q ON q.id = d.process_id "
      "WHERE s.direction = 'send' AND r.dur_ns IS NOT NULL AND q.host_id = p.host_id");
}

// Of sockets and pipes: a receive has its last byte when that was sent.
Result<void> WaitReader::readBytes() {
  struct Sent {
    std::int64_t until;  // offset behind the last byte
    std::int64_t at;
    LaneIndex lane;
  };
  std::map<std::int64_t, std::vector<Sent>> sent;  // by channel
  SONDE_TRY(store::forEachRow(
      trace_,
      "SELECT x.channel_id, x.offset + x.bytes, x.start_ns, x.thread_id FROM transfer x "
      "JOIN channel c ON c.id = x.channel_id WHERE c.kind IN ('tcp', 'unix', 'pipe') AND "
      "x.direction = 'send' AND x.bytes > 0 AND c.peer_channel_id IS NOT NULL "
      "ORDER BY x.channel_id, x.offset",
      [&](const Statement& row) -> Result<void> {
        sent[row.integer(0)].push_back(
            {row.integer(1), row.integer(2), laneOfThread(row.integer(3))});
        return {};
      }));
  return store::forEachRow(
      trace_,
      "SELECT x.thread_id, c.peer_channel_id, x.offset + x.bytes, x.start_ns, "
      "x.start_ns + x.dur_ns FROM transfer x JOIN channel c ON c.id = x.channel_id "
      "JOIN channel e ON e.id = c.peer_channel_id JOIN process p ON p.id = c.process_id "
      "JOIN process q ON q.id = e.process_id AND q.host_id = p.host_id "
      "WHERE c.kind IN ('tcp', 'unix', 'pipe') AND x.direction = 'receive' AND x.bytes > 0 "
      "AND x.dur_ns IS NOT NULL",
      [&](const Statement& row) -> Result<void> {
        const auto channel = sent.find(row.integer(1));
        if (channel == sent.end())
          return {};
        const auto by = std::lower_bound(
            channel->second.begin(),
            channel->second.end(),
            row.integer(2),
            [](const Sent& each, std::int64_t until) { return each.until < until; });
        if (by != channel->second.end())
          add({laneOfThread(row.integer(0)), by->lane, row.integer(3), row.integer(4), by->at});
        return {};
      });
}

// Whom a rank's part of a collective waits for: all others, or the root, or as the root all others.
bool waitsFor(std::string_view op, bool isRoot, bool isOtherRoot) noexcept {
  if (op == "broadcast" || op == "scatter")
    return isOtherRoot;
  if (op == "reduce" || op == "gather")
    return isRoot;
  return op == "allreduce" || op == "allgather" || op == "reducescatter" || op == "alltoall" ||
         op == "barrier";
}

// Ranks meet: none is done before all that it needs have come.
Result<void> WaitReader::readCollectives() {
  struct Part {
    std::int64_t host;
    LaneIndex lane;
    std::int64_t begin;
    std::int64_t end;
    bool isRoot;
    std::string op;
  };
  std::vector<Part> parts;
  std::pair<std::string, std::int64_t> last;
  const auto meet = [&] {
    for (const Part& self : parts)
      for (const Part& other : parts)
        if (&self != &other && self.host == other.host &&
            waitsFor(self.op, self.isRoot, other.isRoot))
          add({self.lane, other.lane, self.begin, self.end, other.begin});
    parts.clear();
  };
  SONDE_TRY(store::forEachRow(
      trace_,
      "SELECT g.job_key, c.seq, p.host_id, s.thread_id, c.start_ns, c.start_ns + c.dur_ns, "
      "c.root IS NOT NULL AND c.root = g.position, c.op FROM collective c "
      "JOIN communicator g ON g.id = c.communicator_id JOIN process p ON p.id = c.process_id "
      "JOIN slice s ON s.id = c.slice_id WHERE c.seq IS NOT NULL AND c.dur_ns IS NOT NULL AND "
      "c.kernel_id IS NULL AND g.backend <> 'nccl' ORDER BY g.job_key, c.seq",
      [&](const Statement& row) -> Result<void> {
        std::pair key(std::string(row.text(0)), row.integer(1));
        if (key != last)
          meet();
        last = std::move(key);
        parts.push_back({row.integer(2),
                         laneOfThread(row.integer(3)),
                         row.integer(4),
                         row.integer(5),
                         row.integer(6) != 0,
                         std::string(row.text(7))});
        return {};
      }));
  meet();
  return {};
}

// A device's work begins when it has been launched and its stream has come so far.
Result<void> WaitReader::readWork() {
  std::map<LaneIndex, std::int64_t> until;  // of a stream, the end of its last work
  return store::forEachRow(
      trace_,
      "SELECT w.stream_id, w.start_ns, w.start_ns + w.dur_ns, t.process_id, s.thread_id, "
      "s.start_ns, s.start_ns + s.dur_ns FROM (SELECT stream_id, start_ns, dur_ns, "
      "launch_slice_id FROM kernel UNION ALL SELECT stream_id, start_ns, dur_ns, launch_slice_id "
      "FROM copy) w JOIN stream t ON t.id = w.stream_id LEFT JOIN slice s ON s.id = "
      "w.launch_slice_id WHERE w.dur_ns >= 0 ORDER BY w.start_ns",
      [&](const Statement& row) -> Result<void> {
        const LaneIndex stream = laneOfStream(row.integer(0));
        const std::int64_t begin = row.integer(1);
        const auto before = until.find(stream);
        const bool returned = !row.isNull(6) && row.integer(6) <= begin;
        if (!row.isNull(4))
          add({stream,
               laneOfThread(row.integer(4)),
               before == until.end() ? Wait::kStart : std::min(before->second, begin),
               begin,
               returned ? row.integer(6) : row.integer(5)});
        std::int64_t& end = until.emplace(stream, begin).first->second;
        end = std::max(end, row.integer(2));
        workOf_[row.integer(3)].push_back({begin, row.integer(2), stream});
        return {};
      });
}

// A call that waits for a device ends after the last work that ended within it.
Result<void> WaitReader::readDeviceWaits() {
  for (auto& [process, work] : workOf_)
    std::sort(work.begin(), work.end(), [](const Work& a, const Work& b) { return a.end < b.end; });
  if (workOf_.empty())
    return {};
  return store::forEachRow(
      trace_,
      "SELECT t.process_id, s.thread_id, s.start_ns, s.start_ns + s.dur_ns FROM slice s "
      "JOIN string n ON n.id = s.name_id JOIN thread t ON t.id = s.thread_id "
      "WHERE s.kind = 'api' AND s.dur_ns > 0 AND (n.text LIKE '%Synchronize%' OR "
      "(n.text LIKE '%Memcpy%' AND n.text NOT LIKE '%Async%'))",
      [&](const Statement& row) -> Result<void> {
        const auto work = workOf_.find(row.integer(0));
        if (work == workOf_.end())
          return {};
        const auto after =
            std::upper_bound(work->second.begin(),
                             work->second.end(),
                             row.integer(3),
                             [](std::int64_t end, const Work& each) { return end < each.end; });
        if (after == work->second.begin() || (after - 1)->end <= row.integer(2))
          return {};
        const Work& last = *(after - 1);
        add({laneOfThread(row.integer(1)), last.stream, row.integer(2), row.integer(3), last.end});
        return {};
      });
}

// A process begins where its parent is.
Result<void> WaitReader::readProcesses() {
  std::map<LaneIndex, std::int64_t> first;
  for (const auto& [id, facts] : lanes_.threads)
    if (!facts.outermost.empty()) {
      std::int64_t& begin = first.emplace(facts.lane, INT64_MAX).first->second;
      for (const Outermost& each : facts.outermost)
        begin = std::min(begin, each.begin);
    }
  return store::forEachRow(
      trace_,
      "SELECT p.id, p.parent_id FROM process p JOIN process q ON q.id = p.parent_id AND "
      "q.host_id = p.host_id",
      [&](const Statement& row) -> Result<void> {
        const LaneIndex child = find(lanes_.program.ofProcess, row.integer(0));
        const LaneIndex parent = find(lanes_.program.ofProcess, row.integer(1));
        if (const auto begin = first.find(child); begin != first.end())
          add({child, parent, Wait::kStart, begin->second, begin->second});
        return {};
      });
}

// What lets a thread go on is often not recorded. Lest its times drift away from those of the
// threads that it works with, it goes on after each pause where the process's driver is.
void WaitReader::followDrivers() {
  for (auto& [id, facts] : lanes_.threads) {
    const LaneIndex driver = find(lanes_.program.ofProcess, facts.processId);
    if (driver == facts.lane || facts.hasIterations)
      continue;
    std::sort(facts.outermost.begin(),
              facts.outermost.end(),
              [](const Outermost& a, const Outermost& b) { return a.begin < b.begin; });
    std::int64_t until = Wait::kStart;
    for (const Outermost& each : facts.outermost) {
      if (until == Wait::kStart || each.begin - until >= kIdleNs)
        add({facts.lane, driver, until, each.begin, each.begin});
      until = std::max(until, each.end);
    }
  }
}

}  // namespace

Result<void> addWaits(const store::Database& trace, LanesOfTrace& lanes) {
  return WaitReader(trace, lanes).read();
}

}  // namespace sonde::engine::correction
