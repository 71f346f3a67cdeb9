#include "analysis/engine/graph/collective_checks.h"

#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>

namespace sonde::engine::graph {
namespace {

// The calls of a group with one number.
struct Joint {
  std::string jobKey;
  std::int64_t seq = 0;
  std::int64_t size = 0;
  std::int64_t members = 0;  // in the trace
  std::int64_t operations = 0;
  std::int64_t clocks = 0;  // that cannot be compared

  SONDE_COLUMNS(jobKey, seq, size, members, operations, clocks)
};

constexpr const char* kJoint =
    "SELECT g.job_key, c.seq, max(g.size) AS size, count(DISTINCT c.process_id) AS members, "
    "count(DISTINCT c.op) AS operations, count(DISTINCT iif(p.host_id IN (SELECT host_id FROM "
    "clock_map), 0, p.host_id)) AS clocks FROM collective c JOIN communicator g ON g.id = "
    "c.communicator_id JOIN process p ON p.id = c.process_id WHERE c.seq IS NOT NULL AND c.op NOT "
    "IN ('send', 'receive') GROUP BY "
    "g.job_key, c.seq ORDER BY min(c.start_ns)";

struct Member {
  std::optional<std::int64_t> rank;
  std::string op;

  SONDE_COLUMNS(rank, op)
};

constexpr const char* kMembers =
    "SELECT p.rank, c.op FROM collective c JOIN communicator g ON g.id = c.communicator_id JOIN "
    "process p ON p.id = c.process_id WHERE g.job_key = ? AND c.seq = ? ORDER BY p.rank";

// "rank 0 allreduce, rank 1 broadcast", at most eight of them.
Result<std::string> membersOf(const store::Database& trace, const Joint& joint) {
  SONDE_TRY_ASSIGN(store::Statement rows, trace.prepare(kMembers));
  rows.bind(1, joint.jobKey);
  rows.bind(2, joint.seq);
  std::string text;
  int count = 0;
  SONDE_TRY(store::forEach<Member>(rows, [&](const Member& member) {
    if (++count <= 8)
      text += fmt::format("{}{} {}",
                          text.empty() ? "" : ", ",
                          member.rank ? fmt::format("rank {}", *member.rank) : "a process",
                          member.op);
  }));
  return count > 8 ? text + ", …" : text;
}

}  // namespace

Result<std::vector<Check>> collectiveChecks(const store::Database& trace) {
  Check partners{
      "partners",
      0,
      0,
      "collectives without all their members: give the traces of all ranks to see their waits"};
  Check mismatch{"mismatch", 0, 0, "collectives in which the ranks called different operations"};
  Check clocks{"clocks",
               0,
               0,
               "collectives between hosts whose clocks are unknown, so the graph lacks their waits "
               "for each other: 'sonde align --store' estimates them, or says why it cannot"};
  std::optional<Joint> first;
  SONDE_TRY(store::forEach<Joint>(trace, kJoint, [&](const Joint& joint) {
    partners.violations += joint.members < joint.size ? 1 : 0;
    clocks.violations += joint.clocks > 1 ? 1 : 0;
    if (joint.operations > 1) {
      ++mismatch.violations;
      if (!first)
        first = joint;
    }
  }));
  if (first) {
    SONDE_TRY_ASSIGN(const std::string members, membersOf(trace, *first));
    mismatch.text += fmt::format(
        "; the first is number {} of group '{}': {}", first->seq, first->jobKey, members);
  }
  return std::vector<Check>{partners, mismatch, clocks};
}

}  // namespace sonde::engine::graph
