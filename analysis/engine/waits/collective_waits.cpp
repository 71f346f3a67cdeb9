// Waits of ranks for each other.
#include "analysis/engine/waits/wait_sink.h"
#include "analysis/model/words.h"
#include "analysis/store/each_row.h"

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace sonde::engine::waits {
namespace {

using store::Statement;

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
  using Key = std::tuple<std::string, std::int64_t, std::int64_t, std::string>;  // …, host, op

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

// Clocks of different hosts differ: a rank meets only ranks of its own host.
constexpr const char* kOrder = " ORDER BY g.job_key, c.seq, p.host_id, c.op";

// A rank's call does not end before all the ranks it needs have come.
Result<void> readCalls(const store::Database& trace, WaitSink& sink) {
  Parts parts(sink);
  return store::forEachRow(
      trace,
      std::string("SELECT g.job_key, c.seq, p.host_id, c.op, s.thread_id, c.start_ns, c.start_ns + "
                  "c.dur_ns, c.root IS NOT NULL AND c.root = g.position, s.start_ns + s.dur_ns "
                  "FROM collective c JOIN communicator g ON g.id = c.communicator_id JOIN process "
                  "p ON p.id = c.process_id JOIN slice s ON s.id = c.slice_id WHERE c.seq IS NOT "
                  "NULL AND c.dur_ns IS NOT NULL AND c.kernel_id IS NULL AND g.backend <> 'nccl'") +
          kOrder,
      [&](const Statement& row) -> Result<void> {
        const std::int64_t begin = row.integer(5);
        const std::int64_t end = row.integer(6);
        const std::int64_t callEnd = row.isNull(8) ? end : row.integer(8);
        parts.add(
            {std::string(row.text(0)), row.integer(1), row.integer(2), std::string(row.text(3))},
            {sink.laneOfThread(row.integer(4)),
             begin,
             sink.waitsFrom(row.integer(4), begin, callEnd, end),
             end,
             row.integer(7) != 0});
        return {};
      });
}

// If devices run the collective, their kernels wait for each other.
Result<void> readKernels(const store::Database& trace, WaitSink& sink) {
  Parts parts(sink);
  return store::forEachRow(
      trace,
      std::string("SELECT g.job_key, c.seq, p.host_id, c.op, k.stream_id, k.start_ns, k.start_ns + "
                  "k.dur_ns, c.root IS NOT NULL AND c.root = g.position FROM collective c JOIN "
                  "communicator g ON g.id = c.communicator_id JOIN process p ON p.id = "
                  "c.process_id JOIN kernel k ON k.id = c.kernel_id WHERE c.seq IS NOT NULL AND "
                  "k.dur_ns IS NOT NULL") +
          kOrder,
      [&](const Statement& row) -> Result<void> {
        const std::int64_t begin = row.integer(5);
        parts.add(
            {std::string(row.text(0)), row.integer(1), row.integer(2), std::string(row.text(3))},
            {sink.laneOfStream(row.integer(4)), begin, begin, row.integer(6), row.integer(7) != 0});
        return {};
      });
}

}  // namespace

Result<void> addCollectiveWaits(const store::Database& trace, WaitSink& sink) {
  SONDE_TRY(readCalls(trace, sink));
  return readKernels(trace, sink);
}

}  // namespace sonde::engine::waits
