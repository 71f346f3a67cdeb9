#include "analysis/engine/standstill/rank_stacks.h"

#include "analysis/store/read_rows.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace sonde::engine::standstill {
namespace {

// The main thread has the process's id. An imported process may have none: then the first one.
constexpr std::string_view kNewestStack =
    "SELECT x.stack_id AS id FROM stack_sample x WHERE x.thread_id = (SELECT t.id FROM thread t "
    "JOIN"
    " process p ON p.id = t.process_id WHERE t.process_id = ?1 ORDER BY t.tid <> p.pid, t.id LIMIT"
    " 1) AND x.stack_id IS NOT NULL ORDER BY x.ts_ns DESC, x.rowid DESC LIMIT 1";

constexpr std::string_view kFrames =
    "WITH RECURSIVE up(id, frame_id, parent_id, depth) AS (SELECT id, frame_id, parent_id, 0 FROM"
    " stack WHERE id = ?1 UNION ALL SELECT s.id, s.frame_id, s.parent_id, up.depth + 1 FROM up JOIN"
    " stack s ON s.id = up.parent_id WHERE up.depth < 200) SELECT n.text AS name, coalesce(f.text,"
    " '') AS path, coalesce(r.line, 0) AS line, r.kind = 'python' AS is_python FROM up JOIN frame r"
    " ON r.id = up.frame_id JOIN string n ON n.id = r.name_id LEFT JOIN string f ON f.id ="
    " r.path_id ORDER BY up.depth";

struct StackIdRow {
  std::int64_t id = 0;

  SONDE_COLUMNS(id)
};

struct StackFrameRow {
  std::string name;
  std::string path;
  std::int64_t line = 0;
  bool isPython = false;

  SONDE_COLUMNS(name, path, line, isPython)
};

Result<std::vector<StackFrame>> framesOf(const store::Database& trace, std::int64_t process) {
  std::vector<StackFrame> frames;
  SONDE_TRY_ASSIGN(store::Statement newest, trace.prepare(kNewestStack));
  newest.bindAll(process);
  std::optional<std::int64_t> stack;
  SONDE_TRY(store::forEach<StackIdRow>(newest, [&](const StackIdRow& row) { stack = row.id; }));
  if (!stack)
    return frames;
  SONDE_TRY_ASSIGN(store::Statement rows, trace.prepare(kFrames));
  rows.bindAll(*stack);
  SONDE_TRY(store::forEach<StackFrameRow>(rows, [&](const StackFrameRow& row) {
    frames.push_back({row.name, row.path, row.line, row.isPython});
  }));
  return frames;
}

}  // namespace

Result<std::vector<StackGroup>> readRankStacks(const store::Database& trace,
                                               const std::vector<RankState>& ranks) {
  std::vector<StackGroup> groups;
  for (const RankState& rank : ranks) {
    SONDE_TRY_ASSIGN(std::vector<StackFrame> frames, framesOf(trace, rank.processId));
    if (frames.empty())
      continue;
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const StackGroup& group) {
      return group.frames == frames;
    });
    if (same == groups.end())
      groups.push_back({{rank.name}, std::move(frames)});
    else
      same->ranks.push_back(rank.name);
  }
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return a.ranks.size() > b.ranks.size();
  });
  return groups;
}

}  // namespace sonde::engine::standstill
