#include "analysis/engine/graph/trace_graph.h"

#include "analysis/engine/align/job_clock.h"
#include "analysis/engine/graph/copy_engines.h"
#include "analysis/engine/graph/device_meetings.h"
#include "analysis/engine/graph/graph_checks.h"
#include "analysis/engine/graph/lane_nodes.h"
#include "analysis/engine/graph/proxy_steps.h"
#include "analysis/engine/graph/resumes.h"
#include "analysis/engine/graph/thread_nodes.h"
#include "analysis/engine/iterations/iterations.h"
#include "analysis/engine/iterations/periodic.h"
#include "analysis/engine/waits/backward_waits.h"
#include "analysis/engine/waits/collective_bytes.h"
#include "analysis/engine/waits/loader_processes.h"
#include "analysis/engine/waits/loader_waits.h"
#include "analysis/engine/waits/queued_collectives.h"
#include "analysis/engine/waits/read_lanes.h"
#include "analysis/engine/waits/unrecorded_events.h"
#include "analysis/store/each_row.h"
#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace sonde::engine::graph {
namespace {

using iterations::Iteration;
using store::Statement;

// A lane's row: a thread or a stream, with its process.
struct LaneRow {
  std::int64_t id = 0;
  std::int64_t processId = 0;
  std::int64_t hostId = 0;
  std::int64_t pid = 0;
  std::optional<std::int64_t> rank;
  std::string name;

  SONDE_COLUMNS(id, processId, hostId, pid, rank, name)
};

struct DeviceWork {
  std::int64_t id = 0;
  std::int64_t streamId = 0;
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;
  bool isCopy = false;

  SONDE_COLUMNS(id, streamId, startNs, endNs, isCopy)
};

constexpr const char* kThreads =
    "SELECT t.id, t.process_id, p.host_id, p.pid, p.rank, iif(t.name LIKE 'thread %', t.name, "
    "'thread ' "
    "|| t.tid || coalesce(' ' "
    "|| nullif(t.name, ''), '')) AS name FROM thread t JOIN process p ON p.id = t.process_id";
constexpr const char* kStreams =
    "SELECT t.id, t.process_id, p.host_id, p.pid, p.rank, iif(t.name LIKE 'stream %', t.name, "
    "'stream ' "
    "|| t.number || "
    "coalesce(' ' || nullif(t.name, ''), '')) AS name FROM stream t JOIN process p ON p.id = "
    "t.process_id";
constexpr const char* kWork =
    "SELECT id, stream_id, start_ns, start_ns + dur_ns AS end_ns, is_copy FROM (SELECT id, "
    "stream_id, start_ns, dur_ns, 0 AS is_copy FROM kernel UNION ALL SELECT id, stream_id, "
    "start_ns, dur_ns, 1 FROM copy) WHERE dur_ns >= 0";

class Reader {
 public:
  explicit Reader(const store::Database& trace) : trace_(trace), nodes_(builder_) {}

  Result<TraceGraph> read() {
    SONDE_TRY_ASSIGN(clock_, align::JobClock::read(trace_));
    SONDE_TRY_ASSIGN(lanes_, waits::readLanes(trace_));
    SONDE_TRY_ASSIGN(waits_, waits::readWaits(trace_, lanes_, clock_));
    SONDE_TRY(waits::addBackwardWaits(trace_, lanes_, clock_, waits_));
    SONDE_TRY_ASSIGN(serving_, waits::addCollectiveBytes(trace_, lanes_, clock_, waits_));
    SONDE_TRY(waits::addQueuedCollectives(trace_, lanes_, clock_, waits_));
    SONDE_TRY(waits::addLoaderWaits(trace_, lanes_, clock_, waits_));
    SONDE_TRY(waits::addUnrecordedEvents(trace_, lanes_, clock_, waits_));
    SONDE_TRY(proxySteps_.read(trace_, clock_, lanes_));
    SONDE_TRY(addLanes());
    SONDE_TRY_ASSIGN(iterations_, readIterations());
    SONDE_TRY(readWork());
    convertThreads();
    resumes_ = resumesOf(waits_, lanes_);
    addNodes();
    addMeetings();
    addEdges();
    SONDE_TRY(addCopyEngines(trace_, builder_));
    if (builder_.soFar().nodes() == 0)
      return notFound("the trace has nothing that takes time: no slices, kernels or copies");
    TraceGraph found;
    found.iterationSource = source_;
    findIterations(found.iterations);
    SONDE_TRY_ASSIGN(found.graph, builder_.build());
    SONDE_TRY(addChecks(trace_, {waits_.early, builder_.circles()}, found));
    return found;
  }

 private:
  Result<std::vector<Iteration>> readIterations() {
    SONDE_TRY_ASSIGN(const iterations::Iterations recorded, iterations::Iterations::read(trace_));
    std::vector<Iteration> all = recorded.all();
    if (all.empty()) {
      SONDE_TRY_ASSIGN(all, iterations::readPeriodic(trace_));
      source_ = all.empty() ? IterationSource::None : IterationSource::Periodicity;
    }
    std::vector<Iteration> outer;
    for (const Iteration& each : all)
      if (!each.isInner() && each.durNs) {
        outer.push_back(each);
        const std::int64_t host = hosts_[each.processId];
        outer.back().startNs = clock_.toJob(host, each.startNs);
        outer.back().durNs = clock_.toJob(host, each.endNs()) - outer.back().startNs;
      }
    std::stable_sort(outer.begin(), outer.end(), [](const Iteration& a, const Iteration& b) {
      return std::tie(a.processId, a.startNs) < std::tie(b.processId, b.startNs);
    });
    return outer;
  }

  Result<void> readWork() {
    work_.resize(lanes_.count);
    SONDE_TRY(store::forEach<DeviceWork>(trace_, kWork, [&](const DeviceWork& row) {
      if (const auto lane = lanes_.ofStream.find(row.streamId); lane != lanes_.ofStream.end())
        work_[lane->second].push_back(row);
    }));
    for (LaneIndex lane = 0; lane < lanes_.count; ++lane) {
      std::vector<DeviceWork>& all = work_[lane];
      std::stable_sort(all.begin(), all.end(), [](const DeviceWork& a, const DeviceWork& b) {
        return std::tie(a.startNs, a.id) < std::tie(b.startNs, b.id);
      });
      const std::int64_t host = builder_.soFar().lanes[lane].hostId;
      for (DeviceWork& work : all) {
        work.startNs = clock_.toJob(host, work.startNs);
        work.endNs = clock_.toJob(host, work.endNs);
      }
    }
    return {};
  }

  Result<void> addLanes() {
    std::vector<Lane> lanes(lanes_.count);
    std::map<std::int64_t, std::int64_t> pids;  // by process
    const auto describe = [&](LaneKind kind, LaneIndex index, const LaneRow& row) {
      hosts_[row.processId] = row.hostId;
      pids[row.processId] = row.pid;
      if (index != waits::kNoLane)
        lanes[index] = {kind, row.id, row.processId, row.hostId, row.rank.value_or(-1), row.name};
    };
    SONDE_TRY(store::forEach<LaneRow>(trace_, kThreads, [&](const LaneRow& row) {
      describe(LaneKind::Thread, lanes_.ofThread(row.id), row);
    }));
    SONDE_TRY(store::forEach<LaneRow>(trace_, kStreams, [&](const LaneRow& row) {
      const auto found = lanes_.ofStream.find(row.id);
      describe(
          LaneKind::Stream, found == lanes_.ofStream.end() ? waits::kNoLane : found->second, row);
    }));
    SONDE_TRY_ASSIGN(const auto loaders, waits::readLoaderProcesses(trace_));
    for (Lane& lane : lanes) {
      if (const auto loader = loaders.find(lane.processId); loader != loaders.end()) {
        lane.background = Background::Loads;
        lane.backgroundNameId = loader->second.nameId;
      }
      if (lane.kind != LaneKind::Thread)
        continue;
      if (const auto serving = serving_.find(lane.id); serving != serving_.end()) {
        lane.background = Background::Transfers;
        lane.backgroundNameId = serving->second;
      }
    }
    proxySteps_.describe(lanes);
    for (Lane& lane : lanes) {
      lane.pid = pids[lane.processId];
      builder_.addLane(lane);
    }
    builder_.addLane({.kind = LaneKind::Meetings});
    return {};
  }

  // From the hosts' clocks to the job's.
  void convertThreads() {
    if (!clock_.hasMappedHosts())
      return;
    for (auto& [id, facts] : lanes_.threads) {
      const std::int64_t host = builder_.soFar().lanes[facts.lane].hostId;
      for (std::int64_t& end : facts.ends)
        end = clock_.toJob(host, end);
      for (waits::Outermost& each : facts.outermost) {
        each.begin = clock_.toJob(host, each.begin);
        each.end = clock_.toJob(host, each.end);
      }
    }
  }

  LaneIndex driverOf(const Iteration& each) const {
    const LaneIndex lane = lanes_.ofThread(each.threadId);
    if (lane != waits::kNoLane)
      return lane;
    const auto found = lanes_.ofProcess.find(each.processId);
    return found == lanes_.ofProcess.end() ? waits::kNoLane : found->second;
  }

  void cutThreads(ThreadNodes& threads) const;
  void addNodes();
  void addStream(LaneIndex lane);
  void addMeetings();
  void addEdges();
  void addWaitEdges(const Resume& resume, NodeIndex to);
  EdgeKind kindOf(LaneIndex waker, LaneIndex waiter) const;
  void findIterations(std::vector<IterationNodes>& found) const;

  const store::Database& trace_;
  align::JobClock clock_;
  std::map<std::int64_t, std::int64_t> hosts_;  // by process
  waits::Lanes lanes_;
  waits::ServingThreads serving_;
  waits::Waits waits_;
  ProxySteps proxySteps_;
  std::vector<Iteration> iterations_;
  IterationSource source_ = IterationSource::Recorded;
  std::vector<std::vector<DeviceWork>> work_;  // by lane
  std::vector<Resume> resumes_;
  GraphBuilder builder_;
  LaneNodes nodes_;
  std::vector<DeviceMeeting> deviceMeetings_;
  std::vector<NodeIndex> meetings_;  // by meeting
};

// Threads are divided where another lane depends on them, where they go on after a wait, and at
// iterations.
void Reader::cutThreads(ThreadNodes& threads) const {
  for (const waits::Wait& wait : waits_.waits)
    threads.need(wait.waker, wait.wakerNs);
  for (const waits::Meeting& meeting : waits_.meetings)
    for (const waits::Meeting::Arrival& each : meeting.arrivals)
      threads.need(each.lane, each.at);
  for (const Iteration& each : iterations_)
    if (const LaneIndex lane = driverOf(each); lane != waits::kNoLane) {
      threads.mark(lane, each.startNs);
      threads.need(lane, each.endNs());
    }
}

void Reader::addNodes() {
  std::vector<const waits::ThreadFacts*> threads(lanes_.count, nullptr);
  std::vector<bool> isDevice(lanes_.count, true);
  for (const auto& [id, facts] : lanes_.threads) {
    threads[facts.lane] = &facts;
    isDevice[facts.lane] = false;
  }
  deviceMeetings_ = deviceMeetingsOf(waits_.meetings, isDevice);
  ThreadNodes divided(lanes_.count, resumes_);
  cutThreads(divided);
  for (LaneIndex lane = 0; lane < lanes_.count; ++lane) {
    nodes_.beginLane();
    if (threads[lane] != nullptr)
      divided.add(*threads[lane], nodes_);
    else
      addStream(lane);
    proxySteps_.addNodes(lane, nodes_);
  }
  nodes_.beginLane();
}

// The end of a work that lies behind the begin of the next one is not credible.
void Reader::addStream(LaneIndex lane) {
  const std::vector<DeviceWork>& all = work_[lane];
  auto next = std::lower_bound(
      deviceMeetings_.begin(),
      deviceMeetings_.end(),
      lane,
      [](const DeviceMeeting& each, LaneIndex index) { return each.lane < index; });
  for (std::size_t i = 0; i < all.size(); ++i) {
    const DeviceWork& work = all[i];
    const std::int64_t end =
        i + 1 < all.size() ? std::min(work.endNs, all[i + 1].startNs) : work.endNs;
    const NodeKind kind = work.isCopy ? NodeKind::Copy : NodeKind::Kernel;
    while (next != deviceMeetings_.end() && next->place() < std::tie(lane, work.startNs))
      ++next;
    const bool meets =
        next != deviceMeetings_.end() && next->place() == std::tie(lane, work.startNs);
    const auto received = proxySteps_.lastReceiveNs(lane, work.startNs, end);
    const std::int64_t last =
        std::max(meets ? lastArrivalNs(waits_.meetings[next->meeting]) : work.startNs,
                 received.value_or(work.startNs));
    if (last > end)
      waits_.early.add(last - end);
    if ((!meets && !received) || last > end) {
      nodes_.add(kind, work.startNs, end, work.id);
      continue;
    }
    nodes_.add(kind, work.startNs, work.startNs, work.id);
    nodes_.add(NodeKind::Transfer, std::max(last, work.startNs), end, work.id);
  }
}

void Reader::addMeetings() {
  for (const waits::Meeting& meeting : waits_.meetings) {
    const NodeIndex at =
        nodes_.add(NodeKind::Meeting, lastArrivalNs(meeting), lastArrivalNs(meeting), 0);
    meetings_.push_back(at);
    for (const waits::Meeting::Arrival& each : meeting.arrivals)
      if (const NodeIndex from = nodes_.endedBy(each.lane, each.at); from != kNoNode)
        builder_.addEdge(from, at, EdgeKind::Arrival);
  }
}

EdgeKind Reader::kindOf(LaneIndex waker, LaneIndex waiter) const {
  const Lane& by = builder_.soFar().lanes[waker];
  const Lane& of = builder_.soFar().lanes[waiter];
  if (by.kind == LaneKind::Stream)
    return of.kind == LaneKind::Stream ? EdgeKind::StreamWait : EdgeKind::Sync;
  if (of.kind == LaneKind::Stream)
    return EdgeKind::Launch;
  return by.processId == of.processId ? EdgeKind::Handoff : EdgeKind::Message;
}

void Reader::addWaitEdges(const Resume& resume, NodeIndex to) {
  for (std::uint32_t i = resume.firstWait; i < resume.lastWait; ++i) {
    const waits::Wait& wait = waits_.waits[i];
    const NodeIndex from = nodes_.endedBy(wait.waker, wait.wakerNs);
    if (from != kNoNode && from != to)
      builder_.addEdge(from, to, kindOf(wait.waker, wait.lane), wait.lagNs + resume.lagNs);
  }
}

void Reader::addEdges() {
  for (LaneIndex lane = 0; lane < lanes_.count; ++lane) {
    const auto [first, last] = nodes_.rangeOf(lane);
    for (NodeIndex node = first + 1; node < last; ++node)
      builder_.addEdge(node - 1, node, EdgeKind::Order);
  }
  for (const Resume& each : resumes_) {
    const NodeIndex to = each.hasWaited ? nodes_.beginsFrom(each.lane, each.atNs)
                                        : nodes_.lastsFrom(each.lane, each.atNs);
    if (to == kNoNode)
      continue;
    if (each.meeting != kNoMeeting)
      builder_.addEdge(meetings_[each.meeting], to, EdgeKind::Release);
    addWaitEdges(each, to);
  }
  for (std::uint32_t i = 0; i < waits_.waits.size(); ++i) {
    const waits::Wait& wait = waits_.waits[i];
    if (builder_.soFar().lanes[wait.lane].kind != LaneKind::Stream)
      continue;
    if (const NodeIndex to = nodes_.beginsFrom(wait.lane, wait.end); to != kNoNode)
      addWaitEdges({.firstWait = i, .lastWait = i + 1}, to);
  }
  for (const auto& [lane, begin, meeting] : deviceMeetings_) {
    const NodeIndex kernel = nodes_.beginsFrom(lane, begin);
    if (kernel == kNoNode || kernel + 1 >= nodes_.rangeOf(lane).second)
      continue;
    if (builder_.soFar().kind[kernel + 1] == NodeKind::Transfer)
      builder_.addEdge(meetings_[meeting], kernel + 1, EdgeKind::Release);
  }
  proxySteps_.addEdges(nodes_, builder_);
}

void Reader::findIterations(std::vector<IterationNodes>& found) const {
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> occurrences;  // by process, number
  for (const Iteration& each : iterations_) {
    const LaneIndex lane = driverOf(each);
    const std::int64_t occurrence = occurrences[{each.processId, each.number}]++;
    if (lane == waits::kNoLane)
      continue;
    IterationNodes nodes;
    nodes.processId = each.processId;
    nodes.rank = builder_.soFar().lanes[lane].rank;
    nodes.number = each.number;
    nodes.occurrence = occurrence;
    nodes.first = nodes_.endedBy(lane, each.startNs);
    nodes.last = nodes_.endedBy(lane, each.endNs());
    nodes.isMasked = each.isMasked;
    if (nodes.first != kNoNode && nodes.last != kNoNode && nodes.first <= nodes.last)
      found.push_back(nodes);
  }
}

}  // namespace

Result<TraceGraph> readGraph(const store::Database& trace) {
  return Reader(trace).read();
}

}  // namespace sonde::engine::graph
