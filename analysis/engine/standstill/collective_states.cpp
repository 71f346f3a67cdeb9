#include "analysis/engine/standstill/collective_states.h"

#include "analysis/engine/standstill/dumps.h"
#include "analysis/engine/standstill/group_members.h"
#include "analysis/engine/standstill/standstill.h"
#include "analysis/store/each_row.h"

#include <algorithm>
#include <map>
#include <utility>

namespace sonde::engine::standstill {
namespace {

using store::Statement;
using Cell = CollectiveStates::Cell;

// ?1: the group, ?2: the number of collectives. While a process runs, an open call has no
// collective.
constexpr std::string_view kLastCalls =
    "WITH call AS (SELECT id, process_id, seq, op, start_ns, dur_ns, slice_id FROM v_collective"
    " WHERE job_key = ?1 AND seq IS NOT NULL AND op NOT IN ('send', 'receive') UNION ALL SELECT"
    " NULL, process_id, seq, op, start_ns, NULL, slice_id FROM v_open_call WHERE job_key = ?1 AND"
    " kind = 'collective' AND seq IS NOT NULL AND collective_id IS NULL AND op NOT IN ('send',"
    " 'receive')), recent AS (SELECT seq, op, min(start_ns) AS first_ns FROM call GROUP BY seq, op"
    " ORDER BY 3 DESC, 1 DESC, 2 LIMIT ?2)"
    " SELECT r.op, r.seq, r.first_ns, c.process_id, c.start_ns, c.dur_ns, (SELECT s.id FROM slice s"
    " WHERE s.id = c.slice_id), c.dur_ns IS NOT NULL OR EXISTS (SELECT 1 FROM arg a JOIN string k"
    " ON k.id = a.key_id WHERE a.owner = 'collective' AND a.owner_id = c.id AND k.text IN"
    " ('completed', 'unfinished')) FROM recent r JOIN call c ON c.seq = r.seq AND c.op = r.op"
    " ORDER BY r.first_ns, r.seq, r.op, c.start_ns";

// The begin of each process's records of the group ?1.
constexpr std::string_view kFirstCalls =
    "SELECT process_id, min(start_ns) FROM v_collective WHERE job_key = ?1 GROUP BY process_id";

// Dumps: the number up to which collectives of the group ?1 are done, or called, by the key ?2.
// Unset where the group's numbers count other things, too.
constexpr std::string_view kDumpedUntil =
    "SELECT m.process_id, max(a.value) FROM communicator m JOIN arg a ON a.owner = 'communicator'"
    " AND a.owner_id = m.id JOIN string k ON k.id = a.key_id WHERE m.job_key = ?1 AND k.text = ?2"
    " AND NOT EXISTS (SELECT 1 FROM communicator o JOIN arg b ON b.owner = 'communicator' AND"
    " b.owner_id = o.id JOIN string j ON j.id = b.key_id WHERE o.job_key = ?1 AND j.text ="
    " 'has_messages') GROUP BY m.process_id";

using NumberByProcess = std::map<std::int64_t, std::int64_t>;

// `key`: of an argument, if `sql` needs one.
Result<NumberByProcess> readNumbers(const store::Database& trace,
                                    std::string_view sql,
                                    const std::string& group,
                                    std::string_view key = {}) {
  NumberByProcess numbers;
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare(sql));
  rows.bind(1, std::string_view(group));
  if (!key.empty())
    rows.bind(2, key);
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return numbers;
    numbers[rows.integer(0)] = rows.integer(1);
  }
}

// The group in which somebody is missing, else behind, else waiting.
std::string groupOf(const Standstill& found) {
  if (!found.rendezvous.empty() && !found.rendezvous.front().absent.empty())
    return found.rendezvous.front().group;
  if (!found.behind.empty())
    return found.behind.front().group;
  if (!found.rendezvous.empty())
    return found.rendezvous.front().group;
  for (const RankState& rank : found.ranks)
    for (const OpenCall& call : rank.open)
      if (call.kind == "collective" && !call.group.empty())
        return call.group;
  return {};
}

// When the traces of running members end, by name.
std::map<std::string, std::int64_t> knownUntil(const Standstill& found, const std::string& group) {
  std::map<std::string, std::int64_t> known;
  for (const Rendezvous& one : found.rendezvous)
    for (const Rendezvous::Member& member : one.absent)
      if (one.group == group && member.knownUntilNs)
        known[member.name] = *member.knownUntilNs;
  return known;
}

class Matrix {
 public:
  // Requires: `trace` outlives it.
  Matrix(const store::Database& trace, std::string group) : trace_(trace) {
    matrix_.group = std::move(group);
  }

  Result<CollectiveStates> read(const Standstill& found, std::size_t most) {
    SONDE_TRY_ASSIGN(const Groups groups, readGroups(trace_));
    SONDE_TRY_ASSIGN(first_, readNumbers(trace_, kFirstCalls, matrix_.group));
    SONDE_TRY_ASSIGN(completed_,
                     readNumbers(trace_, kDumpedUntil, matrix_.group, "last_completed"));
    SONDE_TRY_ASSIGN(called_, readNumbers(trace_, kDumpedUntil, matrix_.group, "last_enqueued"));
    SONDE_TRY(readCalls(most));
    std::map<std::int64_t, std::string> names;
    for (const RankState& rank : found.ranks)
      names[rank.processId] = rank.name;
    const auto known = knownUntil(found, matrix_.group);
    const auto group = groups.find(matrix_.group);
    if (group == groups.end())
      return std::move(matrix_);
    for (const auto& [position, member] : group->second.members) {
      CollectiveStates::Row row{standstill::nameOf(member, names), member.rank, {}};
      const auto until = known.find(row.name);
      for (std::size_t column = 0; column < matrix_.columns.size(); ++column)
        row.cells.push_back(
            cellOf(member.processId, column, until == known.end() ? INT64_MAX : until->second));
      matrix_.rows.push_back(std::move(row));
    }
    return std::move(matrix_);
  }

 private:
  Result<void> readCalls(std::size_t most) {
    SONDE_TRY_ASSIGN(Statement rows, trace_.prepare(kLastCalls));
    rows.bindAll(std::string_view(matrix_.group), static_cast<std::int64_t>(most));
    while (true) {
      SONDE_TRY_ASSIGN(const bool row, rows.step());
      if (!row)
        return {};
      auto& columns = matrix_.columns;
      if (columns.empty() || columns.back().op != rows.text(0) ||
          columns.back().seq != rows.integer(1))
        columns.push_back({std::string(rows.text(0)), rows.integer(1), rows.integer(2)});
      const bool isDone = rows.integer(7) != 0;
      calls_[{rows.integer(3), columns.size() - 1}] = {
          isDone ? CollectiveState::Done : CollectiveState::Waiting,
          rows.integer(4),
          rows.optionalInteger(5),
          rows.optionalInteger(6)};
    }
  }

  // `knownUntilNs`: end of the process's records.
  [[nodiscard]] Cell cellOf(std::int64_t processId,
                            std::size_t column,
                            std::int64_t knownUntilNs) const {
    const CollectiveStates::Column& collective = matrix_.columns[column];
    const auto reaches = [&](const NumberByProcess& until) {
      const auto found = until.find(processId);
      return found != until.end() && collective.seq <= found->second;
    };
    Cell cell;
    if (const auto call = calls_.find({processId, column}); call != calls_.end())
      cell = call->second;
    else if (called_.count(processId) > 0)
      cell.state = reaches(called_) ? CollectiveState::Waiting : CollectiveState::NotEntered;
    else
      cell.state = isKnown(processId, collective, knownUntilNs) ? CollectiveState::NotEntered
                                                                : CollectiveState::Unknown;
    if (reaches(completed_))
      cell.state = CollectiveState::Done;
    return cell;
  }

  // Whether the process would have a record of the collective if it had called it. One that has
  // never used the group is in the trace from its begin.
  [[nodiscard]] bool isKnown(std::int64_t processId,
                             const CollectiveStates::Column& collective,
                             std::int64_t knownUntilNs) const {
    const auto first = first_.find(processId);
    const bool isBefore = first != first_.end() && collective.firstNs < first->second;
    return processId != 0 && !isBefore && collective.firstNs <= knownUntilNs;
  }

  const store::Database& trace_;
  CollectiveStates matrix_;
  std::map<std::pair<std::int64_t, std::size_t>, Cell> calls_;  // by process and column
  NumberByProcess first_;
  NumberByProcess completed_;  // up to this number; only of dumps
  NumberByProcess called_;
};

}  // namespace

Result<std::optional<CollectiveStates>> readCollectiveStates(const store::Database& trace,
                                                             std::string_view group,
                                                             std::size_t most) {
  SONDE_TRY_ASSIGN(const bool isDump, holdsDumps(trace));
  SONDE_TRY_ASSIGN(const std::optional<Standstill> found,
                   isDump ? readDumps(trace) : readStandstill(trace));
  if (!found)
    return std::optional<CollectiveStates>();
  std::string chosen = group.empty() ? groupOf(*found) : std::string(group);
  if (chosen.empty())
    return std::optional<CollectiveStates>();
  SONDE_TRY_ASSIGN(CollectiveStates states, Matrix(trace, std::move(chosen)).read(*found, most));
  if (states.columns.empty())
    return std::optional<CollectiveStates>();
  return std::optional(std::move(states));
}

}  // namespace sonde::engine::standstill
