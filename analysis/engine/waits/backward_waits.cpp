#include "analysis/engine/waits/backward_waits.h"

#include "analysis/engine/waits/quiet_times.h"
#include "analysis/engine/waits/wait_sink.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sonde::engine::waits {
namespace {

// An operator of an autograd thread, outermost there, and the thread it works for.
struct AutogradWork {
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;
  std::int64_t callerId = 0;  // 0: no scope shows it
  std::int64_t processId = 0;

  SONDE_COLUMNS(threadId, startNs, endNs, callerId, processId)
};

constexpr const char* kWork =
    "SELECT s.thread_id, s.start_ns, s.start_ns + s.dur_ns AS end_ns, o.thread_id AS caller_id, "
    "t.process_id FROM slice s JOIN thread t ON t.id = s.thread_id LEFT JOIN slice o ON o.id = "
    "s.scope_id WHERE s.kind = 'operator' AND s.parent_id IS NULL AND s.lane = 0 AND s.dur_ns IS "
    "NOT NULL AND (s.scope_how = 'inherited' AND o.thread_id <> s.thread_id OR s.scope_how = "
    "'none' AND s.name_id IN (SELECT id FROM string WHERE text GLOB "
    "'autograd::engine::evaluate_function*')) ORDER BY s.thread_id, s.start_ns";

// A collective that another thread ran in a backward pass.
struct Reduced {
  std::int64_t backwardId = 0;
  std::int64_t callerId = 0;
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;

  SONDE_COLUMNS(backwardId, callerId, threadId, startNs, endNs)
};

constexpr const char* kReduced =
    "SELECT b.id AS backward_id, b.thread_id AS caller_id, c.thread_id, c.start_ns, c.start_ns + "
    "c.dur_ns AS end_ns FROM slice b JOIN thread t ON t.id = b.thread_id JOIN thread u ON "
    "u.process_id = t.process_id AND u.id <> t.id JOIN slice c ON c.thread_id = u.id AND c.kind = "
    "'collective' AND c.start_ns >= b.start_ns AND c.start_ns + c.dur_ns <= b.start_ns + b.dur_ns "
    "WHERE b.kind = 'backward' ORDER BY b.id, c.start_ns";

// A collective that a thread ran, perhaps for the driver of its process.
struct Called {
  std::int64_t processId = 0;
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;
  bool isInBackward = false;

  SONDE_COLUMNS(processId, threadId, startNs, endNs, isInBackward)
};

constexpr const char* kCalled =
    "SELECT t.process_id, c.thread_id, c.start_ns, c.start_ns + c.dur_ns AS end_ns, "
    "coalesce(o.kind "
    "= 'backward', 0) AS is_in_backward FROM slice c JOIN thread t ON t.id = c.thread_id LEFT JOIN "
    "slice o ON o.id = c.scope_id WHERE c.kind = 'collective' AND c.dur_ns IS NOT NULL";

// A wait whose waker is known.
struct Blocked {
  std::int64_t threadId = 0;
  std::int64_t blockNs = 0;
  std::int64_t wakeNs = 0;

  SONDE_COLUMNS(threadId, blockNs, wakeNs)
};

constexpr const char* kBlocked =
    "SELECT wakee_thread_id AS thread_id, block_ns, wake_ns FROM handoff WHERE waker_thread_id IS "
    "NOT NULL AND waker_ns IS NOT NULL";

class BackwardWaits {
 public:
  BackwardWaits(const store::Database& trace,
                Lanes& lanes,
                const align::JobClock& clock,
                Waits& into)
      : trace_(trace), lanes_(lanes), sink_(lanes, clock), quiet_(trace, lanes), into_(into) {}

  Result<void> add() {
    SONDE_TRY(sink_.readHosts(trace_));
    for (const auto& [id, facts] : lanes_.threads)
      threadOf_.emplace(facts.lane, id);
    SONDE_TRY(store::forEach<AutogradWork>(trace_, kWork, [this](AutogradWork work) {
      if (work.callerId == 0)
        work.callerId = driverOf(work.processId);
      return addWork(work);
    }));
    SONDE_TRY(endBurst());
    SONDE_TRY(store::forEach<Blocked>(trace_, kBlocked, [this](const Blocked& wait) {
      blocked_[wait.threadId].push_back({wait.blockNs, wait.wakeNs});
    }));
    SONDE_TRY(store::forEach<Reduced>(
        trace_, kReduced, [this](const Reduced& each) { addReduced(each); }));
    endBackward();
    SONDE_TRY(store::forEach<Called>(
        trace_, kCalled, [this](const Called& each) { return addCalled(each); }));
    Waits found = sink_.take();
    dropPauses(found.waits);
    std::move(found.waits.begin(), found.waits.end(), std::back_inserter(into_.waits));
    return {};
  }

 private:
  // A thread that another one waits for does not wait for that one in its pauses.
  void dropPauses(const std::vector<Wait>& found) {
    std::map<std::pair<LaneIndex, LaneIndex>, std::vector<std::pair<std::int64_t, std::int64_t>>>
        bursts;  // by worker and caller: begin and end
    for (const Wait& wait : found)
      bursts[{wait.waker, wait.lane}].emplace_back(wait.begin, wait.end);
    for (auto& [lanes, all] : bursts)
      std::sort(all.begin(), all.end());
    std::erase_if(into_.waits, [&](const Wait& wait) {
      const auto burst = bursts.find({wait.lane, wait.waker});
      if (burst == bursts.end() || wait.begin == Wait::kStart)
        return false;
      const auto behind = std::upper_bound(
          burst->second.begin(), burst->second.end(), std::pair(wait.begin, INT64_MAX));
      return behind != burst->second.begin() && wait.end <= (behind - 1)->second;
    });
  }

  // The thread that drives the process; 0: unknown.
  std::int64_t driverOf(std::int64_t process) const {
    const auto found = threadOf_.find(sink_.laneOfProcess(process));
    return found == threadOf_.end() ? 0 : found->second;
  }

  // Works during which the caller records nothing are one burst.
  Result<void> addWork(const AutogradWork& work) {
    if (work.threadId == burst_.threadId && work.callerId == burst_.callerId) {
      SONDE_TRY_ASSIGN(const bool goesOn,
                       quiet_.isQuiet(work.callerId, burst_.startNs, work.endNs));
      if (goesOn) {
        burst_.endNs = std::max(burst_.endNs, work.endNs);
        return {};
      }
    }
    SONDE_TRY(endBurst());
    burst_ = work;
    return {};
  }
  Result<void> endBurst() {
    SONDE_TRY_ASSIGN(const bool isQuiet,
                     quiet_.isQuiet(burst_.callerId, burst_.startNs, burst_.endNs));
    if (burst_.threadId != 0 && isQuiet)
      wait(burst_.callerId, burst_.threadId, burst_.startNs, burst_.endNs);
    burst_ = {};
    return {};
  }

  // Keeps the last begin and the last end of a backward pass's collectives.
  void addReduced(const Reduced& each) {
    if (each.backwardId != last_.backwardId) {
      endBackward();
      last_ = each;
      return;
    }
    last_.startNs = each.startNs;
    if (each.endNs > last_.endNs) {
      last_.endNs = each.endNs;
      last_.threadId = each.threadId;
    }
  }
  void endBackward() {
    if (last_.backwardId != 0 && !hasRecordedWait(last_))
      wait(last_.callerId, last_.threadId, last_.startNs, last_.endNs);
    last_ = {};
  }
  Result<void> addCalled(const Called& each) {
    const std::int64_t caller = driverOf(each.processId);
    if (caller == 0 || caller == each.threadId || each.isInBackward)
      return {};
    SONDE_TRY_ASSIGN(const bool isQuiet, quiet_.isQuiet(caller, each.startNs, each.endNs));
    if (isQuiet && !hasRecordedWait({0, caller, each.threadId, each.startNs, each.endNs}))
      wait(caller, each.threadId, each.startNs, each.endNs);
    return {};
  }
  bool hasRecordedWait(const Reduced& each) const {
    const auto all = blocked_.find(each.callerId);
    return all != blocked_.end() &&
           std::any_of(all->second.begin(), all->second.end(), [&](const auto& wait) {
             return wait.first < each.endNs && wait.second > each.startNs;
           });
  }

  void wait(std::int64_t thread, std::int64_t waker, std::int64_t begin, std::int64_t end) {
    sink_.add({sink_.laneOfThread(thread), sink_.laneOfThread(waker), begin, end, end});
  }

  const store::Database& trace_;
  Lanes& lanes_;
  WaitSink sink_;
  QuietTimes quiet_;
  Waits& into_;
  std::unordered_map<LaneIndex, std::int64_t> threadOf_;  // by lane
  AutogradWork burst_;
  Reduced last_;
  // By thread: begin and end of its recorded waits.
  std::unordered_map<std::int64_t, std::vector<std::pair<std::int64_t, std::int64_t>>> blocked_;
};

}  // namespace

Result<void> addBackwardWaits(const store::Database& trace,
                              Lanes& lanes,
                              const align::JobClock& clock,
                              Waits& into) {
  return BackwardWaits(trace, lanes, clock, into).add();
}

}  // namespace sonde::engine::waits
