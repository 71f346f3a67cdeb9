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

struct BackwardPass {
  std::int64_t threadId = 0;
  std::int64_t processId = 0;
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;

  SONDE_COLUMNS(threadId, processId, startNs, endNs)
};

constexpr const char* kPasses =
    "SELECT b.thread_id, t.process_id, b.start_ns, b.start_ns + b.dur_ns AS end_ns FROM slice b "
    "JOIN thread t ON t.id = b.thread_id WHERE b.kind = 'backward' AND b.dur_ns IS NOT NULL ORDER "
    "BY b.id";

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
    "slice o ON o.id = c.scope_id WHERE c.kind = 'collective' AND c.dur_ns IS NOT NULL "
    "ORDER BY c.start_ns, c.id";

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
    keepLatestEnds();
    SONDE_TRY(store::forEach<Called>(
        trace_, kCalled, [this](const Called& each) { called_[each.processId].push_back(each); }));
    SONDE_TRY(store::forEach<BackwardPass>(
        trace_, kPasses, [this](const BackwardPass& each) { addBackward(each); }));
    for (const auto& [process, all] : called_)
      for (const Called& each : all)
        SONDE_TRY(addCalled(each));
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

  // Waits from the last begin to the last end of the collectives that other threads run in the
  // pass.
  void addBackward(const BackwardPass& pass) {
    const auto all = called_.find(pass.processId);
    if (all == called_.end())
      return;
    auto each =
        std::lower_bound(all->second.begin(),
                         all->second.end(),
                         pass.startNs,
                         [](const Called& one, std::int64_t ns) { return one.startNs < ns; });
    const Called* last = nullptr;  // to end
    std::int64_t beginNs = 0;
    for (; each != all->second.end() && each->startNs <= pass.endNs; ++each) {
      if (each->threadId == pass.threadId || each->endNs > pass.endNs)
        continue;
      beginNs = each->startNs;
      if (last == nullptr || each->endNs > last->endNs)
        last = &*each;
    }
    if (last != nullptr && !hasRecordedWait(pass.threadId, beginNs, last->endNs))
      wait(pass.threadId, last->threadId, beginNs, last->endNs);
  }
  Result<void> addCalled(const Called& each) {
    const std::int64_t caller = driverOf(each.processId);
    if (caller == 0 || caller == each.threadId || each.isInBackward)
      return {};
    SONDE_TRY_ASSIGN(const bool isQuiet, quiet_.isQuiet(caller, each.startNs, each.endNs));
    if (isQuiet && !hasRecordedWait(caller, each.startNs, each.endNs))
      wait(caller, each.threadId, each.startNs, each.endNs);
    return {};
  }
  void keepLatestEnds() {
    for (auto& [thread, waits] : blocked_) {
      std::sort(waits.begin(), waits.end());
      for (std::size_t i = 1; i < waits.size(); ++i)
        waits[i].second = std::max(waits[i].second, waits[i - 1].second);
    }
  }
  // Whether a recorded wait of the thread has a part in (beginNs, endNs).
  bool hasRecordedWait(std::int64_t thread, std::int64_t beginNs, std::int64_t endNs) const {
    const auto all = blocked_.find(thread);
    if (all == blocked_.end())
      return false;
    const auto behind = std::lower_bound(
        all->second.begin(), all->second.end(), endNs, [](const auto& wait, std::int64_t ns) {
          return wait.first < ns;
        });
    return behind != all->second.begin() && (behind - 1)->second > beginNs;
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
  std::unordered_map<std::int64_t, std::vector<Called>> called_;  // by process, then by begin
  // By thread: begins of its recorded waits, each with the latest end of all up to it.
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
