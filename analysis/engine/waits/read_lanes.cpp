#include "analysis/engine/waits/read_lanes.h"

#include "analysis/model/times.h"
#include "analysis/store/each_row.h"
#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_set>

namespace sonde::engine::waits {
namespace {

using store::Statement;

// A slice or transfer of a thread.
struct Recorded {
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;
  std::int64_t waitId = 0;  // of a wait for something other than a time
  bool isOutermost = false;
  bool completesRequests = false;

  SONDE_COLUMNS(threadId, startNs, durNs, waitId, isOutermost, completesRequests)
};

constexpr const char* kSlices =
    "SELECT s.thread_id, s.start_ns, s.dur_ns, iif(s.kind = 'wait' AND s.category = 'sync' AND "
    "s.name_id NOT IN (SELECT id FROM string WHERE text LIKE '%sleep%'), s.id, 0) AS wait_id, "
    "s.parent_id IS NULL AND s.lane = 0 AS is_outermost, s.kind = 'wait' AND s.category = 'mpi' AS "
    "completes_requests FROM slice s WHERE s.dur_ns IS NOT NULL AND s.kind <> 'mark'";
// For MPI and NCCL the call already stands for its messages.
constexpr const char* kTransfers =
    "SELECT x.thread_id, x.start_ns, coalesce(x.dur_ns, 0) AS dur_ns, 0 AS wait_id, 1 AS "
    "is_outermost, 0 AS completes_requests FROM transfer x JOIN channel c ON c.id = x.channel_id "
    "WHERE c.kind IN ('tcp', 'unix', 'pipe') AND x.thread_id IS NOT NULL";

class LaneRows {
 public:
  explicit LaneRows(const store::Database& trace) : trace_(trace) {}

  Result<Lanes> read() {
    SONDE_TRY(readThreads());
    const auto add = [this](const Recorded& row) { return this->add(row); };
    SONDE_TRY(store::forEach<Recorded>(trace_, kSlices, add));
    SONDE_TRY(store::forEach<Recorded>(trace_, kTransfers, add));
    SONDE_TRY(readIterations());
    for (auto& [id, facts] : lanes_.threads)
      sort(facts);
    chooseDrivers();
    SONDE_TRY(store::forEachRow(
        trace_, "SELECT id FROM stream ORDER BY id", [&](const Statement& row) -> Result<void> {
          lanes_.ofStream.emplace(row.integer(0), lanes_.add());
          return {};
        }));
    return std::move(lanes_);
  }

 private:
  Result<void> readThreads() {
    return store::forEachRow(trace_,
                             "SELECT t.id, t.process_id, t.tid = p.pid AS is_main FROM "
                             "thread t JOIN process p ON p.id = t.process_id ORDER BY t.id",
                             [&](const Statement& row) -> Result<void> {
                               ThreadFacts& facts = lanes_.threads[row.integer(0)];
                               facts.processId = row.integer(1);
                               facts.lane = lanes_.add();
                               if (row.integer(2) != 0)
                                 main_.insert(row.integer(0));
                               return {};
                             });
  }

  Result<void> add(const Recorded& row) {
    const auto owner = lanes_.threads.find(row.threadId);
    if (owner == lanes_.threads.end())
      return {};
    const std::int64_t duration = std::max<std::int64_t>(row.durNs, 0);
    const std::int64_t end = row.startNs + duration;
    if (!model::isTime(row.startNs) || !model::isTime(duration) || !model::isTime(end))
      return Error{ErrorCode::Corrupt,
                   fmt::format("the trace is damaged: it has an event at {} ns that lasts {} ns, "
                               "which are not valid times",
                               row.startNs,
                               duration)};
    ThreadFacts& facts = owner->second;
    facts.ends.push_back(end);
    if (row.completesRequests)
      facts.requestWaits.push_back({row.startNs, end});
    if (row.isOutermost)
      facts.outermost.push_back({row.startNs, end, row.waitId});
    return {};
  }

  Result<void> readIterations() {
    return store::forEachRow(trace_,
                             "SELECT DISTINCT s.thread_id FROM iteration i JOIN slice s ON s.id = "
                             "i.slice_id",
                             [&](const Statement& row) -> Result<void> {
                               const auto found = lanes_.threads.find(row.integer(0));
                               if (found != lanes_.threads.end())
                                 found->second.hasIterations = true;
                               return {};
                             });
  }

  static void sort(ThreadFacts& facts) {
    std::sort(facts.ends.begin(), facts.ends.end());
    std::sort(facts.requestWaits.begin(),
              facts.requestWaits.end(),
              [](const Outermost& a, const Outermost& b) { return a.end < b.end; });
  }

  void chooseDrivers() {
    std::map<std::int64_t, std::tuple<bool, bool, std::size_t, std::int64_t>> best;  // by process
    for (const auto& [id, facts] : lanes_.threads) {
      const bool isMain = main_.contains(id) && !facts.ends.empty();
      const std::tuple worth(facts.hasIterations, isMain, facts.ends.size(), -id);
      const auto [place, isNew] = best.emplace(facts.processId, worth);
      if (!isNew && place->second >= worth)
        continue;
      place->second = worth;
      lanes_.ofProcess[facts.processId] = facts.lane;
    }
  }

  const store::Database& trace_;
  Lanes lanes_;
  std::unordered_set<std::int64_t> main_;  // the first threads of processes
};

}  // namespace

Result<Lanes> readLanes(const store::Database& trace) {
  return LaneRows(trace).read();
}

}  // namespace sonde::engine::waits
