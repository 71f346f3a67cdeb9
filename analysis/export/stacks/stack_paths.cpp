#include "analysis/export/stacks/stack_paths.h"

#include "analysis/store/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

namespace sonde::exports {
namespace {

using Frames = std::map<std::int64_t, PathTree::Frame>;  // by id

Result<Frames> processFrames(const store::Database& trace, PathTree& paths) {
  SONDE_TRY_ASSIGN(store::Statement rows,
                   trace.prepare("SELECT id, rank, command, pid FROM v_process"));
  Frames frames;
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      return frames;
    frames[rows.integer(0)] = paths.frameOf(
        rows.isNull(1) ? fmt::format("{} {}", frameText(rows.text(2)), rows.integer(3))
                       : fmt::format("rank {}", rows.integer(1)));
  }
}

Result<Frames> threadFrames(const store::Database& trace, PathTree& paths) {
  SONDE_TRY_ASSIGN(store::Statement rows, trace.prepare("SELECT id, name, tid FROM thread"));
  Frames frames;
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      return frames;
    frames[rows.integer(0)] = paths.frameOf(fmt::format(
        "{} {}", rows.text(1).empty() ? "thread" : frameText(rows.text(1)), rows.integer(2)));
  }
}

Result<Frames> codeFrames(const store::Database& trace, PathTree& paths) {
  SONDE_TRY_ASSIGN(store::Statement rows,
                   trace.prepare("SELECT f.id, f.kind, n.text, p.text, f.line FROM frame f"
                                 " JOIN string n ON n.id = f.name_id"
                                 " LEFT JOIN string p ON p.id = f.path_id"));
  Frames frames;
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      return frames;
    std::string text = frameText(rows.text(2));
    if (rows.text(1) == "python")
      text += fmt::format(" ({}:{})",
                          frameText(std::filesystem::path(rows.text(3)).filename().string()),
                          rows.integer(4));
    frames[rows.integer(0)] = paths.frameOf(text);
  }
}

struct Call {
  std::int64_t caller = 0;  // 0: none
  std::int64_t frame = 0;
};

Result<std::map<std::int64_t, Call>> callsOf(const store::Database& trace) {
  SONDE_TRY_ASSIGN(store::Statement rows,
                   trace.prepare("SELECT id, parent_id, frame_id FROM stack"));
  std::map<std::int64_t, Call> calls;
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      return calls;
    calls[rows.integer(0)] = {rows.integer(1), rows.integer(2)};
  }
}

}  // namespace

Result<PathTree> stackPaths(const store::Database& trace,
                            std::span<const model::StackTime> times,
                            bool byThread) {
  PathTree paths;
  SONDE_TRY_ASSIGN(const Frames processes, processFrames(trace, paths));
  SONDE_TRY_ASSIGN(const Frames threads, threadFrames(trace, paths));
  SONDE_TRY_ASSIGN(const Frames code, codeFrames(trace, paths));
  SONDE_TRY_ASSIGN(const auto calls, callsOf(trace));
  const PathTree::Frame cut = paths.frameOf("[truncated]");
  const PathTree::Frame other = paths.frameOf("[not seen]");
  const PathTree::Frame unknown = paths.frameOf("[unknown]");
  std::vector<PathTree::Frame> frames;
  for (const model::StackTime& time : times) {
    frames.clear();
    for (auto call = calls.find(time.stackId.value); call != calls.end();
         call = calls.find(call->second.caller))
      frames.push_back(code.at(call->second.frame));
    if (frames.empty())
      frames.push_back(time.isOther ? other : unknown);
    else if (time.truncated)
      frames.push_back(cut);
    if (byThread)
      frames.push_back(threads.at(time.threadId.value));
    frames.push_back(processes.at(time.processId.value));
    std::reverse(frames.begin(), frames.end());
    paths.add(paths.pathOf(PathTree::kRoot, frames), time.ns);
  }
  return paths;
}

}  // namespace sonde::exports
