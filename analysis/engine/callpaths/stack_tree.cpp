#include "analysis/engine/callpaths/path_trees.h"
#include "analysis/store/each_row.h"
#include "analysis/store/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <unordered_map>
#include <utility>

namespace sonde::engine::callpaths {
namespace {

using store::Statement;

struct Call {
  std::int64_t caller = 0;  // stack; 0: outermost
  CallName function = 0;
};
using Calls = std::unordered_map<std::int64_t, Call>;  // by stack

// A Python function has its file, since its name alone is often "forward".
Result<Calls> readCalls(const store::Database& trace, CallTreeBuilder& builder) {
  std::unordered_map<std::int64_t, CallName> functions;  // by frame
  SONDE_TRY(store::forEachRow(
      trace,
      "SELECT f.id, f.kind, n.text, p.text, f.line FROM frame f JOIN string n ON n.id = f.name_id "
      "LEFT JOIN string p ON p.id = f.path_id",
      [&](const Statement& row) -> Result<void> {
        std::string text(row.text(2));
        if (row.text(1) == "python")
          text += fmt::format(
              " ({}:{})", std::filesystem::path(row.text(3)).filename().string(), row.integer(4));
        functions.emplace(row.integer(0), builder.nameOf(text));
        return {};
      }));
  Calls calls;
  SONDE_TRY(store::forEachRow(
      trace,
      "SELECT id, parent_id, frame_id FROM stack",
      [&](const Statement& row) -> Result<void> {
        calls.emplace(row.integer(0), Call{row.integer(1), functions[row.integer(2)]});
        return {};
      }));
  return calls;
}

class StackNodes {
 public:
  StackNodes(Calls calls, CallTreeBuilder& builder)
      : calls_(std::move(calls)),
        builder_(builder),
        cut_(builder.nameOf("[truncated]")),
        unknown_(builder.nameOf("[unknown]")),
        other_(builder.nameOf("[not seen]")) {}

  // The node of a sample below `begin`.
  CallNode of(const metrics::StackSampleAt& sample, CallNode begin) {
    if (calls_.find(sample.stackId) == calls_.end())
      return builder_.child(begin, sample.isOther ? other_ : unknown_);
    if (sample.truncated)
      begin = builder_.child(begin, cut_);
    std::unordered_map<std::int64_t, CallNode>& known = known_[begin];
    path_.clear();
    CallNode node = begin;
    for (auto call = calls_.find(sample.stackId); call != calls_.end() && path_.size() <= kDeepest;
         call = calls_.find(call->second.caller)) {
      if (const auto found = known.find(call->first); found != known.end()) {
        node = found->second;
        break;
      }
      path_.push_back(call->first);
    }
    for (; !path_.empty(); path_.pop_back()) {
      node = builder_.child(node, calls_.at(path_.back()).function);
      known.emplace(path_.back(), node);
    }
    return node;
  }

 private:
  static constexpr std::size_t kDeepest = 0xffff;  // in a damaged file
  Calls calls_;
  CallTreeBuilder& builder_;
  CallName cut_;
  CallName unknown_;
  CallName other_;
  std::unordered_map<CallNode, std::unordered_map<std::int64_t, CallNode>> known_;  // by begin
  std::vector<std::int64_t> path_;
};

}  // namespace

Result<CallTree> stackTree(const store::Database& trace,
                           metrics::StackClock clock,
                           const PathFilter& filter) {
  CallTreeBuilder builder;
  SONDE_TRY_ASSIGN(const std::vector<PathThread> threads, readThreads(trace, filter));
  const std::vector<CallNode> nodes = threadNodes(threads, filter.byThread, builder);
  std::unordered_map<std::int64_t, CallNode> begins;  // by thread
  for (std::size_t at = 0; at < threads.size(); ++at)
    begins.emplace(threads[at].id, nodes[at]);
  if (filter.threads.empty() && filter.processes.empty())
    begins.emplace(0, kRoot);  // an allocation by an unknown thread
  SONDE_TRY_ASSIGN(Calls calls, readCalls(trace, builder));
  StackNodes stacks(std::move(calls), builder);
  metrics::StackFilter only{clock, filter.rank, {}, filter.operation, filter.range};
  SONDE_TRY(metrics::visitStackSamples(trace, only, [&](const metrics::StackSampleAt& sample) {
    if (const auto begin = begins.find(sample.threadId); begin != begins.end())
      builder.add(stacks.of(sample, begin->second), sample.ns);
  }));
  return std::move(builder).finish(CallTreeBuilder::Given::Selves);
}

}  // namespace sonde::engine::callpaths
