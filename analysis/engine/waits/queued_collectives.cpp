#include "analysis/engine/waits/queued_collectives.h"

#include "analysis/engine/waits/thread_pauses.h"
#include "analysis/engine/waits/wait_sink.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sonde::engine::waits {
namespace {

// A thread takes the next collective from its queue this soon; later if it has to wait for a
// processor, which counts if the gradients must have been ready before.
constexpr std::int64_t kQueuedNs = 500'000;
constexpr std::int64_t kMostQueuedNs = 10'000'000;

struct Pass {
  std::int64_t threadId = 0;
  std::int64_t processId = 0;
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;

  SONDE_COLUMNS(threadId, processId, startNs, endNs)
};
constexpr const char* kPasses =
    "SELECT s.thread_id, t.process_id, s.start_ns, s.start_ns + s.dur_ns AS end_ns FROM slice s "
    "JOIN "
    "thread t ON t.id = s.thread_id WHERE s.kind = 'backward' AND s.dur_ns IS NOT NULL ORDER BY "
    "t.process_id, s.start_ns";

struct Reduction {
  std::int64_t threadId = 0;
  std::int64_t processId = 0;
  std::int64_t bytes = 0;
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;
  std::optional<std::int64_t> sinceNs = {};  // the end of the thread's collective before
  bool isQueued = false;

  SONDE_COLUMNS(threadId, processId, bytes, startNs, endNs)
};
constexpr const char* kReductions =
    "SELECT s.thread_id, t.process_id, c.bytes, s.start_ns, s.start_ns + s.dur_ns AS end_ns FROM "
    "collective c JOIN slice s ON s.id = c.slice_id JOIN thread t ON t.id = s.thread_id WHERE "
    "c.kernel_id IS NULL AND c.op IN ('allreduce', 'reducescatter') AND c.bytes > 0 AND s.dur_ns "
    "IS "
    "NOT NULL ORDER BY t.process_id, s.start_ns";

struct Block {
  std::int64_t threadId = 0;
  std::int64_t blockNs = 0;
  std::int64_t wakeNs = 0;

  SONDE_COLUMNS(threadId, blockNs, wakeNs)
};
constexpr const char* kBlocks =
    "SELECT wakee_thread_id AS thread_id, block_ns, wake_ns FROM handoff WHERE wakee_thread_id IS "
    "NOT NULL AND wake_ns IS NOT NULL ORDER BY 1, 2";

// So many bytes of gradients were ready at a time.
struct Ready {
  std::int64_t bytes;
  std::int64_t ns;
};

class QueuedCollectives {
 public:
  QueuedCollectives(const store::Database& trace,
                    Lanes& lanes,
                    const align::JobClock& clock,
                    Waits& into)
      : trace_(trace), sink_(lanes, clock), into_(into) {}

  Result<void> add() {
    SONDE_TRY(sink_.readHosts(trace_));
    SONDE_TRY(store::forEach<Reduction>(
        trace_, kReductions, [this](Reduction each) { addReduction(each); }));
    if (!mayBeQueued_)
      return {};
    SONDE_TRY(store::forEach<Block>(trace_, kBlocks, [this](const Block& each) {
      if (each.wakeNs - each.blockNs >= kShortPauseNs)
        blocks_[each.threadId].push_back(each.blockNs);
    }));
    SONDE_TRY(store::forEach<Pass>(trace_, kPasses, [this](const Pass& each) { addPass(each); }));
    moveBegins();
    Waits found = sink_.take();
    std::move(found.waits.begin(), found.waits.end(), std::back_inserter(into_.waits));
    return {};
  }

 private:
  void addReduction(Reduction each) {
    const auto before = ends_.find(each.threadId);
    if (before != ends_.end() && each.startNs - before->second <= kMostQueuedNs) {
      each.sinceNs = before->second;
      mayBeQueued_ = true;
    }
    ends_[each.threadId] = each.endNs;
    reductions_[each.processId].push_back(each);
  }

  void addPass(const Pass& pass) {
    const std::vector<Reduction>& all = reductions_[pass.processId];
    const auto first =
        std::lower_bound(all.begin(), all.end(), pass.startNs, [](const Reduction& each, auto ns) {
          return each.startNs < ns;
        });
    std::vector<Reduction> inside;
    for (auto each = first; each != all.end() && each->startNs <= pass.endNs; ++each)
      if (each->threadId != pass.threadId)
        inside.push_back(*each);
    findQueued(pass, inside);
    const bool isAny = std::any_of(
        inside.begin(), inside.end(), [](const Reduction& each) { return each.isQueued; });
    if (!isAny)
      return;
    const std::vector<Ready> points = pointsOf(pass, inside);
    std::int64_t bytes = 0;
    for (const Reduction& each : inside) {
      bytes += each.bytes;
      if (!each.isQueued)
        continue;
      const std::int64_t ready = std::min(readyAt(points, bytes), each.startNs);
      const LaneIndex driver = sink_.laneOfThread(pass.threadId);
      sink_.add({sink_.laneOfThread(each.threadId), driver, each.startNs, each.startNs, ready});
      begins_[{driver, sink_.toJob(driver, each.startNs)}] = sink_.toJob(driver, ready);
    }
  }

  // The first one is not: the driver was not ahead of the pass.
  static void findQueued(const Pass& pass, std::vector<Reduction>& inside) {
    std::vector<Ready> known = {{0, pass.startNs}};
    std::int64_t bytes = 0;
    for (Reduction& each : inside) {
      bytes += each.bytes;
      if (known.size() > 1 && each.sinceNs)
        each.isQueued =
            each.startNs - *each.sinceNs <= kQueuedNs || readyAt(known, bytes) <= *each.sinceNs;
      if (!each.isQueued)
        known.push_back({bytes, each.startNs});
    }
  }

  // From the begin of the pass on; at least two.
  std::vector<Ready> pointsOf(const Pass& pass, const std::vector<Reduction>& inside) const {
    std::vector<Ready> points = {{0, pass.startNs}};
    std::int64_t bytes = 0;
    for (const Reduction& each : inside) {
      bytes += each.bytes;
      if (!each.isQueued)
        points.push_back({bytes, each.startNs});
    }
    const auto blocks = blocks_.find(pass.threadId);
    if (points.back().bytes == bytes || blocks == blocks_.end())
      return points;
    const auto block =
        std::lower_bound(blocks->second.begin(), blocks->second.end(), points.back().ns);
    if (block != blocks->second.end() && *block <= pass.endNs)
      points.push_back({bytes, *block});
    return points;
  }

  // Between the points, or as from the pass's begin to the last one.
  static std::int64_t readyAt(const std::vector<Ready>& points, std::int64_t bytes) {
    auto after = std::lower_bound(
        points.begin() + 1, points.end(), bytes, [](const Ready& each, std::int64_t of) {
          return each.bytes < of;
        });
    auto before = after == points.end() ? points.begin() : after - 1;
    if (after == points.end())
      --after;
    const double perByte = static_cast<double>(after->ns - before->ns) /
                           static_cast<double>(after->bytes - before->bytes);
    return before->ns +
           static_cast<std::int64_t>(perByte * static_cast<double>(bytes - before->bytes));
  }

  // The thread of the pass waits from when its last gradients are ready, not from when their
  // reduction begins.
  void moveBegins() {
    for (Wait& wait : into_.waits)
      if (const auto found = begins_.find({wait.lane, wait.begin}); found != begins_.end())
        wait.begin = found->second;
  }

  const store::Database& trace_;
  WaitSink sink_;
  Waits& into_;
  bool mayBeQueued_ = false;
  std::unordered_map<std::int64_t, std::int64_t> ends_;  // by thread, of its last one
  std::unordered_map<std::int64_t, std::vector<Reduction>> reductions_;  // by process and begin
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> blocks_;   // begins, by thread
  std::map<std::pair<LaneIndex, std::int64_t>, std::int64_t> begins_;    // of waits: old to new
};

}  // namespace

Result<void> addQueuedCollectives(const store::Database& trace,
                                  Lanes& lanes,
                                  const align::JobClock& clock,
                                  Waits& into) {
  return QueuedCollectives(trace, lanes, clock, into).add();
}

}  // namespace sonde::engine::waits
