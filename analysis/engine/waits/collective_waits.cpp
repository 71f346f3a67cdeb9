// Waits of ranks for each other.
#include "analysis/engine/waits/wait_sink.h"
#include "analysis/model/words.h"
#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace sonde::engine::waits {
namespace {

// A rank's part of a collective.
struct RankPart {
  LaneIndex lane;
  std::int64_t arrives;
  std::int64_t waitsFrom;
  std::int64_t end;
  bool isRoot;
};

using Needs = model::CollectiveNeeds;

Meeting meetingOf(Needs needs, const std::vector<RankPart>& parts) {
  Meeting meeting;
  for (const RankPart& part : parts) {
    if (needs != Needs::Root || part.isRoot)
      meeting.arrivals.push_back({part.lane, part.arrives});
    if (needs == Needs::All || part.isRoot == (needs == Needs::RootAll))
      meeting.waiting.push_back({part.lane, part.waitsFrom, part.end});
  }
  return meeting;
}

// Collects the parts of one collective after the other.
class Parts {
 public:
  using Key = std::tuple<std::string, std::int64_t, std::int64_t, std::string>;  // …, clock, op

  explicit Parts(WaitSink& sink) : sink_(sink) {}
  ~Parts() { meet(); }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  void add(Key key, const RankPart& part) {
    if (key != last_)
      meet();
    last_ = std::move(key);
    parts_.push_back(part);
  }

 private:
  void meet() {
    const Needs needs = model::needsOf(std::get<3>(last_));
    if (needs != Needs::Nothing && parts_.size() > 1)
      sink_.add(meetingOf(needs, parts_));
    parts_.clear();
  }

  WaitSink& sink_;
  Key last_;
  std::vector<RankPart> parts_;
};

// A rank's call of a collective, or the kernel of it.
struct RankCall {
  std::string jobKey;
  std::int64_t seq = 0;
  std::int64_t clockId = 0;
  std::string op;
  std::int64_t laneId = 0;  // of its thread, or stream
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;
  bool isRoot = false;
  std::optional<std::int64_t> callEndNs;  // of a call

  SONDE_COLUMNS(jobKey, seq, clockId, op, laneId, startNs, endNs, isRoot, callEndNs)
};

// Clocks of hosts that are not mapped differ: a rank meets only ranks of its own host there. {} is
// the clock of a host.
constexpr const char* kCalls =
    "SELECT g.job_key, c.seq, {} AS clock_id, c.op, s.thread_id AS lane_id, c.start_ns, c.start_ns "
    "+ "
    "c.dur_ns AS end_ns, c.root IS NOT NULL AND c.root = g.position AS is_root, s.start_ns + "
    "s.dur_ns AS call_end_ns FROM collective c JOIN communicator g ON g.id = c.communicator_id "
    "JOIN process p ON p.id = c.process_id JOIN slice s ON s.id = c.slice_id WHERE c.seq IS NOT "
    "NULL AND c.dur_ns IS NOT NULL AND c.kernel_id IS NULL AND g.backend <> 'nccl' "
    "ORDER BY g.job_key, c.seq, clock_id, c.op";
constexpr const char* kKernels =
    "SELECT g.job_key, c.seq, {} AS clock_id, c.op, k.stream_id AS lane_id, k.start_ns, k.start_ns "
    "+ "
    "k.dur_ns AS end_ns, c.root IS NOT NULL AND c.root = g.position AS is_root, NULL AS "
    "call_end_ns FROM collective c JOIN communicator g ON g.id = c.communicator_id JOIN process p "
    "ON p.id = c.process_id JOIN kernel k ON k.id = c.kernel_id WHERE c.seq IS NOT NULL AND "
    "k.dur_ns IS NOT NULL ORDER BY g.job_key, c.seq, clock_id, c.op";

// 0 if the host is mapped, else the host itself.
std::string withClock(const char* query, const align::JobClock& clock) {
  const char* const mapped = "iif(p.host_id IN (SELECT host_id FROM clock_map), 0, p.host_id)";
  return fmt::format(fmt::runtime(query), clock.hasMappedHosts() ? mapped : "p.host_id");
}

// A rank's call does not end before all the ranks it needs have come.
Result<void> readCalls(const store::Database& trace, WaitSink& sink) {
  Parts parts(sink);
  return store::forEach<RankCall>(trace, withClock(kCalls, sink.clock()), [&](const RankCall& row) {
    parts.add(
        {row.jobKey, row.seq, row.clockId, row.op},
        {sink.laneOfThread(row.laneId),
         row.startNs,
         sink.waitsFrom(row.laneId, row.startNs, row.callEndNs.value_or(row.endNs), row.endNs),
         row.endNs,
         row.isRoot});
  });
}

// If devices run the collective, their kernels wait for each other.
Result<void> readKernels(const store::Database& trace, WaitSink& sink) {
  Parts parts(sink);
  return store::forEach<RankCall>(
      trace, withClock(kKernels, sink.clock()), [&](const RankCall& row) {
        parts.add({row.jobKey, row.seq, row.clockId, row.op},
                  {sink.laneOfStream(row.laneId), row.startNs, row.startNs, row.endNs, row.isRoot});
      });
}

}  // namespace

Result<void> addCollectiveWaits(const store::Database& trace, WaitSink& sink) {
  SONDE_TRY(readCalls(trace, sink));
  return readKernels(trace, sink);
}

}  // namespace sonde::engine::waits
