#include "analysis/engine/waits/collective_bytes.h"

#include "analysis/engine/waits/byte_senders.h"
#include "analysis/engine/waits/thread_pauses.h"
#include "analysis/engine/waits/wait_sink.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

namespace sonde::engine::waits {
namespace {

// A thread that runs a collective so soon after the last one had it waiting in a queue.
constexpr std::int64_t kQueueNs = 500'000;
// A thread that sends so soon after another one did something was asked by that one.
constexpr std::int64_t kPromptNs = 1'000'000;

// A collective, by the thread that runs it.
struct Run {
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;
  std::int64_t nameId = 0;

  SONDE_COLUMNS(threadId, startNs, endNs, nameId)
};

constexpr const char* kRuns =
    "SELECT thread_id, start_ns, start_ns + dur_ns AS end_ns, name_id FROM slice WHERE kind = "
    "'collective' AND dur_ns > 0 AND lane = 0 ORDER BY thread_id, start_ns";

// Bytes that a thread moved through a socket.
struct Moved {
  std::int64_t threadId = 0;
  std::int64_t channelId = 0;
  bool isSend = false;
  std::int64_t until = 0;  // offset behind the last byte
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;

  SONDE_COLUMNS(threadId, channelId, isSend, until, startNs, endNs)
};

constexpr const char* kMoved =
    "SELECT x.thread_id, x.channel_id, x.direction = 'send' AS is_send, x.offset + x.bytes AS "
    "until, x.start_ns, x.start_ns + x.dur_ns AS end_ns FROM transfer x JOIN channel c ON c.id = "
    "x.channel_id WHERE c.kind = 'tcp' AND x.thread_id IS NOT NULL AND x.dur_ns IS NOT NULL AND "
    "x.bytes > 0 ORDER BY x.thread_id, x.start_ns";

using Runs = std::vector<Run>;     // of one thread, by start
using Moves = std::vector<Moved>;  // of one thread, by start

// The collective that is open at `ns`; null: none.
const Run* runAt(const Runs& runs, std::int64_t ns) {
  const auto behind =
      std::upper_bound(runs.begin(), runs.end(), ns, [](std::int64_t at, const Run& each) {
        return at < each.startNs;
      });
  return behind == runs.begin() || (behind - 1)->endNs < ns ? nullptr : &*(behind - 1);
}

// The last end, in order of end, that is in (from, until]; nothing: `from`.
std::int64_t lastEndIn(const std::vector<std::int64_t>& ends,
                       std::int64_t from,
                       std::int64_t until) {
  const auto behind = std::upper_bound(ends.begin(), ends.end(), until);
  return behind == ends.begin() ? from : std::max(from, *(behind - 1));
}

// The name that most of them have.
std::int64_t commonName(const Runs& runs) {
  std::map<std::int64_t, std::size_t> counts;
  for (const Run& each : runs)
    ++counts[each.nameId];
  return std::max_element(counts.begin(),
                          counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

class CollectiveBytes {
 public:
  CollectiveBytes(const store::Database& trace, Lanes& lanes, const align::JobClock& clock)
      : trace_(trace), lanes_(lanes), sink_(lanes, clock) {}

  Result<ServingThreads> add(Waits& into) {
    SONDE_TRY(store::forEach<Run>(
        trace_, kRuns, [&](const Run& row) { runs_[row.threadId].push_back(row); }));
    if (runs_.empty())
      return ServingThreads();
    SONDE_TRY(store::forEach<Moved>(
        trace_, kMoved, [&](const Moved& row) { moves_[row.threadId].push_back(row); }));
    findUsers();
    findServing();
    if (serving_.empty())
      return ServingThreads();
    SONDE_TRY(sink_.readHosts(trace_));
    SONDE_TRY_ASSIGN(senders_, ByteSenders::read(trace_));
    for (const auto& [thread, name] : serving_)
      addServing(moves_.at(thread));
    for (const auto& [thread, runs] : runs_)
      addRunning(thread, runs);
    Waits found = sink_.take();
    dropFollowing(into.waits);
    std::move(found.waits.begin(), found.waits.end(), std::back_inserter(into.waits));
    return std::move(serving_);
  }

 private:
  // Which threads use a channel in their collectives.
  void findUsers() {
    for (const auto& [thread, runs] : runs_) {
      const auto moves = moves_.find(thread);
      if (moves == moves_.end())
        continue;
      for (const Moved& each : moves->second)
        if (runAt(runs, each.startNs) != nullptr)
          users_[each.channelId].insert(thread);
    }
  }
  void findServing() {
    for (const auto& [thread, moves] : moves_) {
      if (runs_.contains(thread))
        continue;
      for (const Moved& each : moves)
        if (const auto users = users_.find(each.channelId); users != users_.end()) {
          serving_.emplace(thread, commonName(runs_.at(*users->second.begin())));
          serverOf_[each.channelId] = thread;
        }
    }
  }

  void addServing(const Moves& moves) {
    std::int64_t idleFrom = Wait::kStart;
    std::vector<std::int64_t>& ends = ends_[moves.front().threadId];
    for (const Moved& each : moves) {
      const bool wasIdle = idleFrom == Wait::kStart || each.startNs - idleFrom >= kShortPauseNs;
      if (wasIdle && users_.contains(each.channelId)) {
        const bool isKnown =
            each.isSend ? waitsForRun(each, idleFrom) : waitsForSender(each, idleFrom);
        if (isKnown && idleFrom != Wait::kStart)
          addPause(sink_.laneOfThread(each.threadId), idleFrom, each.startNs);
      }
      idleFrom = std::max(idleFrom, each.endNs);
      ends.push_back(idleFrom);
    }
  }
  void addPause(LaneIndex lane, std::int64_t begin, std::int64_t end) {
    pauses_[lane].push_back({sink_.toJob(lane, begin), sink_.toJob(lane, end)});
  }
  bool waitsForSender(const Moved& received, std::int64_t idleFrom) {
    const Bytes* const sent = senders_.senderOf(
        {received.channelId, received.until, received.startNs, received.endNs, received.threadId});
    const LaneIndex lane = sink_.laneOfThread(received.threadId);
    const LaneIndex waker = sent == nullptr ? kNoLane : sink_.laneOfThread(sent->threadId);
    if (waker == kNoLane)
      return false;
    const std::int64_t lag = sink_.toJob(lane, received.endNs) - sink_.toJob(waker, sent->startNs);
    if (lag < 0 || lag > std::numeric_limits<std::uint32_t>::max())
      return false;
    sink_.add(
        {lane, waker, idleFrom, received.endNs, sent->startNs, static_cast<std::uint32_t>(lag)});
    return true;
  }
  // It was asked by the thread with a collective that did something last. If that was long
  // before, the thread was busy with its last send: a socket takes no more than the link carries.
  bool waitsForRun(const Moved& sent, std::int64_t idleFrom) {
    std::int64_t waker = 0;
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    for (const std::int64_t thread : users_.at(sent.channelId)) {
      const Run* const run = runAt(runs_.at(thread), sent.startNs);
      if (run == nullptr)
        continue;
      const auto facts = lanes_.threads.find(thread);
      const std::int64_t at = facts == lanes_.threads.end()
                                  ? run->startNs
                                  : lastEndIn(facts->second.ends, run->startNs, sent.startNs);
      if (at > last) {
        last = at;
        waker = thread;
      }
    }
    if (waker == 0)
      return false;
    if (sent.startNs - last <= kPromptNs || idleFrom == Wait::kStart)
      sink_.add({sink_.laneOfThread(sent.threadId),
                 sink_.laneOfThread(waker),
                 idleFrom,
                 sent.startNs,
                 last});
    return true;
  }

  void addRunning(std::int64_t thread, const Runs& runs) {
    const auto moves = moves_.find(thread);
    if (moves == moves_.end())
      return;
    auto next = moves->second.begin();
    for (const Run& run : runs) {
      next = std::lower_bound(
          next, moves->second.end(), run.startNs, [](const Moved& each, std::int64_t ns) {
            return each.startNs < ns;
          });
      std::int64_t idleFrom = run.startNs;
      std::int64_t channel = 0;
      for (; next != moves->second.end() && next->startNs <= run.endNs; ++next) {
        channel = next->channelId;
        waitsForServing(thread, channel, idleFrom, next->startNs);
        idleFrom = std::max(idleFrom, next->endNs);
      }
      waitsForServing(thread, channel, idleFrom, run.endNs);
    }
    for (std::size_t i = 1; i < runs.size(); ++i)
      if (runs[i].startNs - runs[i - 1].endNs <= kQueueNs)
        addPause(sink_.laneOfThread(thread), runs[i - 1].endNs, runs[i].startNs);
  }
  void waitsForServing(std::int64_t thread,
                       std::int64_t channel,
                       std::int64_t idleFrom,
                       std::int64_t untilNs) {
    const auto server = serverOf_.find(channel);
    if (server == serverOf_.end() || untilNs - idleFrom < kShortPauseNs)
      return;
    const std::int64_t last = lastEndIn(ends_.at(server->second), idleFrom, untilNs);
    if (last > idleFrom)
      sink_.add({sink_.laneOfThread(thread),
                 sink_.laneOfThread(server->second),
                 idleFrom,
                 untilNs,
                 last});
  }

  void dropFollowing(std::vector<Wait>& waits) {
    std::unordered_set<LaneIndex> drivers;
    for (const auto& [process, lane] : lanes_.ofProcess)
      drivers.insert(lane);
    std::erase_if(waits, [&](const Wait& wait) {
      const auto pauses = pauses_.find(wait.lane);
      if (pauses == pauses_.end() || wait.begin == Wait::kStart || !drivers.contains(wait.waker))
        return false;
      const auto behind =
          std::upper_bound(pauses->second.begin(),
                           pauses->second.end(),
                           wait.begin,
                           [](std::int64_t ns, const Pause& each) { return ns < each.begin; });
      return behind != pauses->second.begin() && wait.end <= (behind - 1)->end;
    });
  }

  const store::Database& trace_;
  Lanes& lanes_;
  WaitSink sink_;
  ByteSenders senders_;
  std::map<std::int64_t, Runs> runs_;                               // by thread
  std::map<std::int64_t, Moves> moves_;                             // by thread
  std::unordered_map<std::int64_t, std::set<std::int64_t>> users_;  // threads, by channel
  std::unordered_map<std::int64_t, std::int64_t> serverOf_;         // thread, by channel
  ServingThreads serving_;
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> ends_;  // by serving thread, in order
  std::unordered_map<LaneIndex, std::vector<Pause>> pauses_;  // that are explained, by job time
};

}  // namespace

Result<ServingThreads> addCollectiveBytes(const store::Database& trace,
                                          Lanes& lanes,
                                          const align::JobClock& clock,
                                          Waits& into) {
  return CollectiveBytes(trace, lanes, clock).add(into);
}

}  // namespace sonde::engine::waits
