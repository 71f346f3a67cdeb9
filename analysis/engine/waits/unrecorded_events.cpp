#include "analysis/engine/waits/unrecorded_events.h"

#include "analysis/engine/waits/wait_sink.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <unordered_map>
#include <vector>

namespace sonde::engine::waits {
namespace {

// Streams take a few microseconds to notice an event.
constexpr std::int64_t kNoticeNs = 20'000;

struct EventCall {
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;

  SONDE_COLUMNS(threadId, startNs)
};

constexpr const char* kEventCalls =
    "SELECT s.thread_id, s.start_ns FROM slice s JOIN thread t ON t.id = s.thread_id WHERE s.kind "
    "= "
    "'api' AND s.name_id IN (SELECT id FROM string WHERE text GLOB 'cu*StreamWaitEvent*' OR text "
    "GLOB 'hipStreamWaitEvent*') AND t.process_id NOT IN (SELECT process_id FROM sync WHERE kind = "
    "'wait' AND process_id IS NOT NULL) ORDER BY s.thread_id, s.start_ns";

struct StreamWork {
  std::int64_t processId = 0;
  std::int64_t streamId = 0;
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;
  std::int64_t threadId = 0;
  std::int64_t calledNs = 0;

  SONDE_COLUMNS(processId, streamId, startNs, endNs, threadId, calledNs)
};

constexpr const char* kLaunched =
    "SELECT r.process_id, w.stream_id, w.start_ns, w.start_ns + w.dur_ns AS end_ns, s.thread_id, "
    "s.start_ns AS called_ns FROM (SELECT stream_id, start_ns, dur_ns, launch_slice_id FROM kernel "
    "UNION ALL SELECT stream_id, start_ns, dur_ns, launch_slice_id FROM copy) w JOIN stream r ON "
    "r.id = w.stream_id JOIN slice s ON s.id = w.launch_slice_id WHERE w.dur_ns >= 0 ORDER BY "
    "w.start_ns";

class EventWaits {
 public:
  EventWaits(const store::Database& trace, Lanes& lanes, const align::JobClock& clock, Waits& into)
      : trace_(trace), sink_(lanes, clock), into_(into) {}

  Result<void> add() {
    SONDE_TRY(store::forEach<EventCall>(trace_, kEventCalls, [this](const EventCall& call) {
      calls_[call.threadId].push_back(call.startNs);
    }));
    if (calls_.empty())
      return {};
    SONDE_TRY(sink_.readHosts(trace_));
    SONDE_TRY(store::forEach<StreamWork>(
        trace_, kLaunched, [this](const StreamWork& work) { addWork(work); }));
    Waits found = sink_.take();
    std::move(found.waits.begin(), found.waits.end(), std::back_inserter(into_.waits));
    return {};
  }

 private:
  struct StreamState {
    std::int64_t doneNs = 0;                        // the last end so far
    std::map<std::int64_t, std::int64_t> lastCall;  // by thread: its last launch here
  };

  void addWork(const StreamWork& work) {
    std::map<std::int64_t, StreamState>& streams = processes_[work.processId];
    StreamState& on = streams[work.streamId];
    const auto [last, isFirst] = on.lastCall.try_emplace(work.threadId, INT64_MIN);
    if (hasCallIn(work.threadId, last->second, work.calledNs))
      waitForLatest(work, on, streams);
    last->second = work.calledNs;
    on.doneNs = std::max(on.doneNs, work.endNs);
  }

  bool hasCallIn(std::int64_t thread, std::int64_t from, std::int64_t until) const {
    const auto calls = calls_.find(thread);
    if (calls == calls_.end())
      return false;
    const auto next = std::lower_bound(calls->second.begin(), calls->second.end(), from);
    return next != calls->second.end() && *next < until;
  }

  // The work before and the launch do not explain the begin if another stream ended after both.
  void waitForLatest(const StreamWork& work,
                     const StreamState& on,
                     const std::map<std::int64_t, StreamState>& streams) {
    std::int64_t latest = std::max(on.doneNs, work.calledNs);
    std::int64_t waker = 0;
    for (const auto& [id, stream] : streams)
      if (id != work.streamId && stream.doneNs > latest && stream.doneNs <= work.startNs) {
        latest = stream.doneNs;
        waker = id;
      }
    if (waker != 0 && work.startNs - latest <= kNoticeNs)
      sink_.add({sink_.laneOfStream(work.streamId),
                 sink_.laneOfStream(waker),
                 on.doneNs == 0 ? Wait::kStart : std::min(on.doneNs, work.startNs),
                 work.startNs,
                 latest,
                 static_cast<std::uint32_t>(work.startNs - latest)});
  }

  const store::Database& trace_;
  WaitSink sink_;
  Waits& into_;
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> calls_;  // by thread
  std::unordered_map<std::int64_t, std::map<std::int64_t, StreamState>>
      processes_;  // streams by id
};

}  // namespace

Result<void> addUnrecordedEvents(const store::Database& trace,
                                 Lanes& lanes,
                                 const align::JobClock& clock,
                                 Waits& into) {
  return EventWaits(trace, lanes, clock, into).add();
}

}  // namespace sonde::engine::waits
