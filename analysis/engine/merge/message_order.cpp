#include "analysis/engine/merge/message_order.h"

#include "analysis/store/recorded_parts.h"
#include "analysis/store/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace sonde::engine::merge {
namespace {

using store::Statement;

struct Message {
  std::int64_t id;
  std::int64_t offset;
  std::int64_t startNs;
  std::int64_t endNs;
  std::int64_t threadId;
  bool anySource;
  bool exact;
};

// Messages of one direction and tag of a channel, by begin; each overlaps an earlier one.
using Cluster = std::vector<Message>;

bool hasSeveralThreads(const Cluster& cluster) {
  return std::any_of(cluster.begin(), cluster.end(), [&](const Message& message) {
    return message.threadId != cluster.front().threadId;
  });
}

bool hasAnySource(const Cluster& cluster) {
  return std::any_of(
      cluster.begin(), cluster.end(), [](const Message& message) { return message.anySource; });
}

// `complete`: no message of the process was lost.
Result<void> settle(const Cluster& cluster, bool complete, Statement& update) {
  if (cluster.size() < 2 || !hasAnySource(cluster))
    return {};
  const bool several = hasSeveralThreads(cluster);
  std::vector<std::int64_t> offsets;
  offsets.reserve(cluster.size());
  for (const Message& message : cluster)
    offsets.push_back(message.offset);
  std::sort(offsets.begin(), offsets.end());
  for (std::size_t at = 0; at < cluster.size(); ++at) {
    const bool exact = cluster[at].exact && complete && !several;
    if (offsets[at] != cluster[at].offset || exact != cluster[at].exact)
      SONDE_TRY(update.bindAll(cluster[at].id, offsets[at], exact).run());
  }
  return {};
}

// Channels whose order is not settled; each direction and tag separately, by time. The recorder has
// already compared the messages that threads sent, or received from one peer, at the same time.
constexpr char kRows[] =
    "WITH unsettled AS (SELECT x.channel_id, x.direction FROM transfer x JOIN channel c ON c.id = "
    "x.channel_id WHERE c.kind = 'mpi' AND x.any_source = 1 GROUP BY 1, 2),"
    " lossy AS (SELECT DISTINCT process_id FROM loss WHERE probe = 'mpi' AND kind = 'message')"
    " SELECT x.channel_id, x.direction = 'send', x.tag, x.id, x.offset, x.start_ns,"
    " x.start_ns + coalesce(x.dur_ns, 0), x.thread_id, x.any_source, x.exact,"
    " c.process_id NOT IN (SELECT process_id FROM lossy) AND NOT {}"
    " FROM unsettled u JOIN transfer x ON x.channel_id = u.channel_id AND x.direction = u.direction"
    " JOIN channel c ON c.id = x.channel_id"
    " ORDER BY x.channel_id, x.direction, x.tag, x.start_ns, x.id";

// A row of kRows.
struct Row {
  std::tuple<std::int64_t, std::int64_t, std::int64_t> group;  // channel, way and tag
  Message message;
  bool complete;
};

Row rowOf(const Statement& rows) {
  return {{rows.integer(0), rows.integer(1), rows.integer(2)},
          {rows.integer(3),
           rows.integer(4),
           rows.integer(5),
           rows.integer(6),
           rows.integer(7),
           rows.integer(8) != 0,
           rows.integer(9) != 0},
          rows.integer(10) != 0};
}

// Groups messages that are open at the same time.
class Clusters {
 public:
  explicit Clusters(Statement update) : update_(std::move(update)) {}

  Result<void> add(const Row& row) {
    if (row.group != group_ || row.message.startNs >= untilNs_)
      SONDE_TRY(finish());
    group_ = row.group;
    complete_ = row.complete;
    untilNs_ = cluster_.empty() ? row.message.endNs : std::max(untilNs_, row.message.endNs);
    cluster_.push_back(row.message);
    return {};
  }
  Result<void> finish() {
    SONDE_TRY(settle(cluster_, complete_, update_));
    cluster_.clear();
    return {};
  }

 private:
  Statement update_;
  Cluster cluster_;
  std::tuple<std::int64_t, std::int64_t, std::int64_t> group_;
  bool complete_ = true;
  std::int64_t untilNs_ = 0;
};

}  // namespace

Result<void> orderMessages(store::Database& trace) {
  SONDE_TRY_ASSIGN(const std::int64_t any,
                   trace.queryInteger("SELECT count(*) FROM channel WHERE kind = 'mpi'"));
  if (any == 0)
    return {};
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare(fmt::format(kRows, store::kRecordedInPart)));
  SONDE_TRY_ASSIGN(Statement update,
                   trace.prepare("UPDATE transfer SET offset = ?2, exact = ?3 WHERE id = ?1"));
  Clusters clusters(std::move(update));
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return clusters.finish();
    SONDE_TRY(clusters.add(rowOf(rows)));
  }
}

}  // namespace sonde::engine::merge
