// The members of the groups of a job, as far as the trace knows them. Plain values; reading uses
// the database's thread.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace sonde::engine::standstill {

struct GroupMember {
  std::optional<std::int64_t> rank;
  std::int64_t processId = 0;  // 0: not in the trace
};

struct Group {
  std::int64_t size = 0;
  std::map<std::int64_t, GroupMember> members;  // by position
};

// By `communicator.job_key`.
using Groups = std::map<std::string, Group>;

// The groups that some process is in. A member without a record of the group is found by its rank.
// If a group was created again, the latest members count.
Result<Groups> readGroups(const store::Database& trace);

// "rank 3". `names`: of processes.
std::string nameOf(const GroupMember& member, const std::map<std::int64_t, std::string>& names);

}  // namespace sonde::engine::standstill
