// Waits of devices for threads, of streams for each other, and of threads for devices.
//
// A stream does its work in launch order. When a call makes the host or another stream wait, it
// waits for the stream's last work that was launched before the call, or before an event's record,
// and for what the stream itself had to wait for since then.
#include "analysis/engine/waits/device_launches.h"
#include "analysis/engine/waits/device_stream.h"
#include "analysis/engine/waits/wait_sink.h"
#include "analysis/store/each_row.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace sonde::engine::waits {
namespace {

using store::Statement;

// A host call that waits, and what it waits for according to `sync`.
struct HostSync {
  enum class For { Stream, Device, Event };
  For what = For::Device;
  std::int64_t stream = 0;  // that is waited for, or that the event was recorded on; 0: unknown
  std::int64_t recorded = 0;
};

struct Call {
  std::int64_t process;
  std::int64_t thread;
  std::int64_t begin;
  std::int64_t end;
};

// A kernel or copy, and the call that launched it, if known.
struct LaunchedWork {
  std::int64_t streamId = 0;
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;
  std::int64_t threadId = 0;
  std::optional<std::int64_t> calledNs;
  std::optional<std::int64_t> returnedNs;
  std::int64_t nameId = 0;
  bool isCopy = false;

  SONDE_COLUMNS(streamId, startNs, endNs, threadId, calledNs, returnedNs, nameId, isCopy)
};

// A stream that waits for an event of another one.
struct EventWait {
  std::int64_t streamId = 0;
  std::int64_t startNs = 0;
  std::int64_t recordedStreamId = 0;
  std::int64_t recordedNs = 0;

  SONDE_COLUMNS(streamId, startNs, recordedStreamId, recordedNs)
};

// The subject of a host call that waits.
struct HostWait {
  std::int64_t processId = 0;
  std::int64_t correlationId = 0;
  std::string_view kind;
  std::optional<std::int64_t> streamId;
  std::int64_t recordedStreamId = 0;
  std::int64_t recordedNs = 0;

  SONDE_COLUMNS(processId, correlationId, kind, streamId, recordedStreamId, recordedNs)
};

// A call that synchronises.
struct SyncCall {
  std::int64_t processId = 0;
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;
  std::optional<std::int64_t> correlationId;
  bool isOfDevice = false;

  SONDE_COLUMNS(processId, threadId, startNs, endNs, correlationId, isOfDevice)
};

class DeviceWaits {
 public:
  DeviceWaits(const store::Database& trace, WaitSink& sink) : trace_(trace), sink_(sink) {}

  Result<void> read() {
    SONDE_TRY(readStreams());
    if (streams_.empty())
      return {};
    SONDE_TRY(readWork());
    SONDE_TRY(readEventWaits());
    SONDE_TRY(readSyncs());
    return readCalls();
  }

 private:
  Result<void> readStreams();
  Result<void> readWork();
  void addWork(const LaunchedWork& work);
  Result<void> readEventWaits();
  Result<void> readSyncs();
  Result<void> readCalls();
  void waitFor(const HostSync& what, const Call& call);
  void waitForDevice(const Call& call);
  void waitForAny(const Call& call);
  std::optional<std::int64_t> deviceOf(const Call& call) const;

  DeviceStream* stream(std::int64_t id) {
    const auto found = streams_.find(id);
    return found == streams_.end() ? nullptr : &found->second;
  }
  void add(const Call& call, const StreamDone& done) {
    sink_.add({sink_.laneOfThread(call.thread), done.lane, call.begin, call.end, done.ns});
  }

  const store::Database& trace_;
  WaitSink& sink_;
  std::unordered_map<std::int64_t, DeviceStream> streams_;              // by id
  std::map<std::int64_t, std::vector<const DeviceStream*>> streamsOf_;  // by process
  std::unordered_set<std::int64_t> asynchronous_;                       // names of calls
  std::map<std::pair<std::int64_t, std::int64_t>, HostSync> syncs_;  // by process and correlation
  // by thread and launch: the device that got work
  std::map<std::int64_t, std::map<std::int64_t, std::int64_t>> devices_;
  std::map<std::int64_t, std::int64_t> waitedUntil_;  // by thread: its last wait for a device
};

Result<void> DeviceWaits::readStreams() {
  SONDE_TRY(store::forEachRow(
      trace_,
      "SELECT id, process_id, coalesce(device_id, 0) FROM stream",
      [&](const Statement& row) -> Result<void> {
        const LaneIndex lane = sink_.laneOfStream(row.integer(0));
        streams_.emplace(row.integer(0), DeviceStream(lane, row.integer(1), row.integer(2)));
        return {};
      }));
  for (const auto& [id, stream] : streams_)
    streamsOf_[stream.process()].push_back(&stream);
  return store::forEachRow(trace_,
                           "SELECT id FROM string WHERE text LIKE '%Async%'",
                           [&](const Statement& row) -> Result<void> {
                             asynchronous_.insert(row.integer(0));
                             return {};
                           });
}

// Work begins when it has been launched and its stream is ready. A copy waits inside its own call,
// unless the call is asynchronous.
void DeviceWaits::addWork(const LaunchedWork& work) {
  DeviceStream* const on = stream(work.streamId);
  if (on == nullptr)
    return;
  const std::int64_t after =
      on->add(work.calledNs.value_or(work.startNs), work.startNs, work.endNs);
  if (!work.calledNs)
    return;
  const bool hasReturned = work.returnedNs && *work.returnedNs <= work.startNs;
  on->launches().push_back({sink_.laneOfThread(work.threadId),
                            hasReturned,
                            hasReturned ? *work.returnedNs : *work.calledNs,
                            after,
                            work.startNs});
  std::map<std::int64_t, std::int64_t>& devices = devices_[work.threadId];
  if (devices.empty() || devices.rbegin()->second != on->device())
    devices[*work.calledNs] = on->device();
  if (work.isCopy && work.returnedNs && work.endNs <= *work.returnedNs &&
      !asynchronous_.contains(work.nameId))
    sink_.add({sink_.laneOfThread(work.threadId),
               on->lane(),
               *work.calledNs,
               *work.returnedNs,
               work.endNs});
}

// Sorts the work itself: rows and their calls lie in the file in the order of recording.
Result<void> DeviceWaits::readWork() {
  SONDE_TRY_ASSIGN(
      std::vector<LaunchedWork> all,
      store::readAll<LaunchedWork>(
          trace_,
          "SELECT w.stream_id, w.start_ns, w.start_ns + w.dur_ns AS end_ns, s.thread_id, "
          "s.start_ns AS called_ns, s.start_ns + s.dur_ns AS returned_ns, s.name_id, w.is_copy "
          "FROM (SELECT stream_id, start_ns, dur_ns, launch_slice_id, 0 AS is_copy FROM kernel "
          "UNION ALL SELECT stream_id, start_ns, dur_ns, launch_slice_id, 1 FROM copy) w LEFT JOIN "
          "slice s ON s.id = w.launch_slice_id WHERE w.dur_ns >= 0"));
  std::vector<std::pair<std::int64_t, std::size_t>> byBegin;
  byBegin.reserve(all.size());
  for (std::size_t at = 0; at < all.size(); ++at)
    byBegin.emplace_back(all[at].startNs, at);
  std::sort(byBegin.begin(), byBegin.end());
  for (const auto& [begin, at] : byBegin)
    addWork(all[at]);
  std::map<std::int64_t, LaunchLatency> latencies;  // by process
  for (auto& [id, each] : streams_)
    latencies[each.process()].add(each.launches());
  for (auto& [id, each] : streams_)
    addLaunchWaits(each.lane(), each.launches(), latencies[each.process()], sink_);
  return {};
}

// A stream that waits for an event starts its next work when the work before that event is done.
// By time: an event may stand for waits of its stream.
Result<void> DeviceWaits::readEventWaits() {
  return store::forEach<EventWait>(
      trace_,
      "SELECT w.stream_id, w.start_ns, r.stream_id AS recorded_stream_id, r.start_ns AS "
      "recorded_ns "
      "FROM sync w JOIN sync r ON r.id = w.waits_for_id WHERE w.kind = 'wait' AND w.stream_id IS "
      "NOT NULL AND r.stream_id IS NOT NULL AND r.stream_id <> w.stream_id ORDER BY w.start_ns",
      [&](const EventWait& row) {
        DeviceStream* const waits = stream(row.streamId);
        const DeviceStream* const waker = stream(row.recordedStreamId);
        if (waits == nullptr || waker == nullptr)
          return;
        const std::vector<StreamDone> needs = waker->needsAt(row.recordedNs);
        waits->addWait(row.startNs, needs);
        if (const DeviceStream::Work* const next = waits->nextAfter(row.startNs))
          for (const StreamDone& each : needs)
            sink_.add({waits->lane(), each.lane, next->after, next->begin, each.ns});
      });
}

Result<void> DeviceWaits::readSyncs() {
  return store::forEach<HostWait>(
      trace_,
      "SELECT y.process_id, y.correlation_id, y.kind, y.stream_id, r.stream_id AS "
      "recorded_stream_id, r.start_ns AS recorded_ns FROM sync y LEFT JOIN sync r ON r.id = "
      "y.waits_for_id WHERE y.kind IN ('stream', 'context', 'event') AND y.correlation_id IS NOT "
      "NULL",
      [&](const HostWait& row) {
        HostSync what;
        if (row.kind == "stream" && row.streamId)
          what = {HostSync::For::Stream, *row.streamId, 0};
        else if (row.kind == "event")
          what = {HostSync::For::Event, row.recordedStreamId, row.recordedNs};
        syncs_.emplace(std::pair(row.processId, row.correlationId), what);
      });
}

// By thread in the order of time, as waitedUntil_ requires.
Result<void> DeviceWaits::readCalls() {
  return store::forEach<SyncCall>(
      trace_,
      "SELECT t.process_id, s.thread_id, s.start_ns, s.start_ns + s.dur_ns AS end_ns, "
      "s.correlation_id, n.text LIKE '%Device%' OR n.text LIKE '%Ctx%' OR n.text LIKE '%Context%' "
      "AS is_of_device FROM slice s CROSS JOIN string n ON n.id = s.name_id CROSS JOIN thread t ON "
      "t.id = s.thread_id WHERE s.kind = 'api' AND s.dur_ns > 0 AND s.name_id IN (SELECT id FROM "
      "string WHERE text LIKE '%Synchronize%') ORDER BY s.thread_id, s.start_ns",
      [&](const SyncCall& row) {
        const Call call{row.processId, row.threadId, row.startNs, row.endNs};
        const auto known =
            row.correlationId ? syncs_.find({call.process, *row.correlationId}) : syncs_.end();
        if (known != syncs_.end())
          waitFor(known->second, call);
        else if (row.isOfDevice)
          waitForDevice(call);
        else
          waitForAny(call);
      });
}

void DeviceWaits::waitFor(const HostSync& what, const Call& call) {
  if (what.what == HostSync::For::Device)
    return waitForDevice(call);
  const DeviceStream* const on = stream(what.stream);
  if (on == nullptr)
    return waitForAny(call);
  for (const StreamDone& each :
       on->needsAt(what.what == HostSync::For::Event ? what.recorded : call.begin))
    add(call, each);
}

// The trace does not name the device. Assumes the one that the thread gave work to last.
std::optional<std::int64_t> DeviceWaits::deviceOf(const Call& call) const {
  const auto given = devices_.find(call.thread);
  if (given == devices_.end())
    return std::nullopt;
  const auto behind = given->second.upper_bound(call.begin);
  return behind == given->second.begin() ? std::nullopt : std::optional(std::prev(behind)->second);
}

// Waits for all streams of the device. Leaves out work that was done at the thread's last wait.
void DeviceWaits::waitForDevice(const Call& call) {
  const auto device = deviceOf(call);
  const auto [waited, isFirst] = waitedUntil_.emplace(call.thread, INT64_MIN);
  for (const DeviceStream* const on : streamsOf_[call.process])
    if (const auto done = on->doneBefore(call.begin);
        done && *done > waited->second && (!device || on->device() == *device))
      add(call, {on->lane(), *done});
  waited->second = std::max(waited->second, call.begin);
}

// Only the wait itself is known: assumes the last work that ended during it.
void DeviceWaits::waitForAny(const Call& call) {
  const DeviceStream* last = nullptr;
  std::optional<std::int64_t> done;
  for (const DeviceStream* const on : streamsOf_[call.process]) {
    const auto end = on->lastEndIn(call.begin, call.end);
    if (end && (!done || *end > *done)) {
      done = end;
      last = on;
    }
  }
  if (last != nullptr)
    add(call, {last->lane(), *done});
}

}  // namespace

Result<void> addDeviceWaits(const store::Database& trace, WaitSink& sink) {
  return DeviceWaits(trace, sink).read();
}

}  // namespace sonde::engine::waits
