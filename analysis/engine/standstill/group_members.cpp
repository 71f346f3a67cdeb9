#include "analysis/engine/standstill/group_members.h"

#include "analysis/store/each_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace sonde::engine::standstill {
namespace {

using store::Statement;

// The known members of the groups that some process is in. `process_id`: if the trace has the
// process; found by rank if the process has no record of the group. If a group was created again,
// the latest members count.
constexpr std::string_view kMembers =
    "WITH member(job_key, size, position, rank, process_id) AS ("
    "SELECT m.job_key, m.size, b.position, b.rank, coalesce(b.process_id, (SELECT p.id FROM process"
    " p WHERE p.rank = b.rank AND NOT EXISTS (SELECT 1 FROM process q WHERE q.id = p.parent_id AND"
    " q.rank = p.rank) ORDER BY p.start_ns DESC LIMIT 1)) FROM"
    " communicator m JOIN communicator_member b ON b.communicator_id = m.id"
    " UNION SELECT m.job_key, m.size, m.position, p.rank, m.process_id FROM communicator m JOIN"
    " process p ON p.id = m.process_id)"
    " SELECT m.job_key, m.size, m.position, m.rank, m.process_id FROM member m LEFT JOIN process p"
    " ON p.id = m.process_id ORDER BY p.start_ns, m.rank";

}  // namespace

Result<Groups> readGroups(const store::Database& trace) {
  Groups groups;
  SONDE_TRY(store::forEachRow(trace, kMembers, [&](const Statement& row) -> Result<void> {
    Group& group = groups[std::string(row.text(0))];
    group.size = std::max(group.size, row.integer(1));
    GroupMember& member = group.members[row.integer(2)];
    if (row.integer(4) != 0)
      member.processId = row.integer(4);
    if (const auto rank = row.optionalInteger(3))
      member.rank = rank;
    return {};
  }));
  return groups;
}

std::string nameOf(const GroupMember& member, const std::map<std::int64_t, std::string>& names) {
  if (const auto found = names.find(member.processId); found != names.end())
    return found->second;
  return member.rank ? fmt::format("rank {}", *member.rank) : "a rank";
}

}  // namespace sonde::engine::standstill
