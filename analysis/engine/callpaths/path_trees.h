// The trees of each kind of source, which callPaths() chooses from. On the caller's thread. Within
// engine/callpaths.
#pragma once

#include "analysis/engine/callpaths/call_tree.h"
#include "analysis/engine/callpaths/path_filter.h"
#include "analysis/engine/callpaths/slice_table.h"
#include "analysis/engine/metrics/stack_times.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

namespace sonde::engine::callpaths {

// The text of each row of `string` as a name of the builder, read when it is first needed. The
// number at the end of an iteration's name ("ProfilerStep#12") is left out, so that all have one
// path.
class NamesById {
 public:
  NamesById(const store::Database& trace, CallTreeBuilder& builder)
      : trace_(trace), builder_(builder) {}
  // Also sets the kind of the name.
  Result<CallName> of(const PathSlice& slice);
  Result<CallName> of(std::int64_t id, bool isIteration = false);

 private:
  const store::Database& trace_;
  CallTreeBuilder& builder_;
  std::optional<store::Statement> query_;
  std::unordered_map<std::int64_t, CallName> known_;
  std::unordered_map<std::int64_t, CallName> iterations_;
};

// The nodes that the paths of threads begin at: the root, or process and thread.
std::vector<CallNode> threadNodes(const std::vector<PathThread>& threads,
                                  bool byThread,
                                  CallTreeBuilder& builder);

// Requires: the source is one of stack samples.
metrics::StackClock stackClockOf(PathSource source);

Result<CallTree> sliceTree(const store::Database& trace, const PathFilter& filter);
Result<CallTree> deviceTree(const store::Database& trace, const PathFilter& filter);
Result<CallTree> stackTree(const store::Database& trace,
                           metrics::StackClock clock,
                           const PathFilter& filter);

}  // namespace sonde::engine::callpaths
