// Waits of threads of which the trace does not name the waker. Such a thread goes on where its
// process's driver is, so that its times stay close to those of the threads it works with.
#include "analysis/engine/waits/thread_pauses.h"
#include "analysis/engine/waits/wait_sink.h"
#include "analysis/store/each_row.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace sonde::engine::waits {
namespace {

using store::Statement;

class Followers {
 public:
  Followers(const store::Database& trace, WaitSink& sink) : trace_(trace), sink_(sink) {}

  Result<void> follow() {
    SONDE_TRY(readHandoffs());
    SONDE_TRY(readAccounts());
    for (auto& [id, facts] : sink_.lanes().threads) {
      const LaneIndex driver = sink_.laneOfProcess(facts.processId);
      if (driver != facts.lane && !facts.hasIterations)
        follow(id, facts, driver);
    }
    return {};
  }

 private:
  // Reads the waits for another thread whose waker is known.
  Result<void> readHandoffs() {
    return store::forEachRow(
        trace_, "SELECT slice_id FROM handoff", [&](const Statement& row) -> Result<void> {
          handedOff_.insert(row.integer(0));
          return {};
        });
  }

  // Totals of the time a thread ran or was runnable. A total that did not change may have no
  // sample.
  Result<void> readAccounts() {
    struct {
      std::int64_t thread = 0;
      std::int64_t at = 0;
      double ran = 0;
      double queued = 0;
    } last;
    return store::forEachRow(
        trace_,
        "SELECT c.thread_id, x.ts_ns, max(iif(n.text = 'cpu time', x.value, 0)), max(iif(n.text = "
        "'run queue time', x.value, 0)) FROM counter c JOIN string n ON n.id = c.name_id JOIN "
        "sample x ON x.counter_id = c.id WHERE c.thread_id IS NOT NULL AND n.text IN ('cpu time', "
        "'run queue time') AND x.value IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2",
        [&](const Statement& row) -> Result<void> {
          if (row.integer(0) != last.thread) {
            last = {row.integer(0), row.integer(1), row.real(2), row.real(3)};
            return {};
          }
          const double ran = std::max(row.real(2), last.ran);
          const double queued = std::max(row.real(3), last.queued);
          const double busy = ran - last.ran + queued - last.queued;
          const auto length = static_cast<double>(row.integer(1) - last.at);
          accounts_[last.thread].push_back(
              {last.at, row.integer(1), static_cast<std::int64_t>(std::max(0.0, length - busy))});
          last = {last.thread, row.integer(1), ran, queued};
          return {};
        });
  }

  void follow(std::int64_t id, ThreadFacts& facts, LaneIndex driver) {
    std::vector<Outermost>& all = facts.outermost;
    std::sort(all.begin(), all.end(), [](const Outermost& a, const Outermost& b) {
      return a.begin < b.begin;
    });
    if (all.empty())
      return;
    sink_.add({facts.lane, driver, Wait::kStart, all.front().begin, all.front().begin});
    std::vector<Pause> pauses;
    std::int64_t until = all.front().begin;
    for (const Outermost& each : all) {
      if (each.begin > until)
        pauses.push_back({until, each.begin});
      if (each.waitId != 0 && each.begin >= until && each.end - each.begin >= kShortPauseNs &&
          !handedOff_.contains(each.waitId))
        waits(facts.lane, driver, {each.begin, each.end});
      until = std::max(until, each.end);
    }
    const auto account = accounts_.find(id);
    for (const Pause& pause :
         idlePauses(std::move(pauses),
                    account == accounts_.end() ? std::vector<Accounted>() : account->second))
      waits(facts.lane, driver, pause);
  }

  void waits(LaneIndex lane, LaneIndex driver, const Pause& pause) {
    sink_.add({lane, driver, pause.begin, pause.end, pause.end});
  }

  const store::Database& trace_;
  WaitSink& sink_;
  std::unordered_set<std::int64_t> handedOff_;                         // slices
  std::unordered_map<std::int64_t, std::vector<Accounted>> accounts_;  // by thread
};

}  // namespace

Result<void> followDrivers(const store::Database& trace, WaitSink& sink) {
  return Followers(trace, sink).follow();
}

}  // namespace sonde::engine::waits
