#include "analysis/engine/callpaths/launched_work.h"
#include "analysis/engine/callpaths/path_trees.h"
#include "analysis/store/communication_kernels.h"

#include <algorithm>
#include <utility>

namespace sonde::engine::callpaths {
namespace {

// The nodes of slices, made when work below them is found.
class LaunchNodes {
 public:
  LaunchNodes(const SliceTable& table, CallTreeBuilder& builder, bool byThread)
      : table_(table),
        builder_(builder),
        begins_(threadNodes(table.threads(), byThread, builder)),
        nodes_(table.slices().size(), kRoot) {}

  Result<CallNode> of(std::size_t place, NamesById& names) {
    path_.clear();
    // The bound holds for damaged files, in which slices are around each other.
    for (std::size_t at = place; at != SliceTable::kNone && table_.isInside(at) &&
                                 nodes_[at] == kRoot && path_.size() <= kDeepest;
         at = table_.placeOf(table_.slices()[at].parent))
      path_.push_back(at);
    for (; !path_.empty(); path_.pop_back()) {
      const PathSlice& slice = table_.slices()[path_.back()];
      const std::size_t parent = table_.placeOf(slice.parent);
      const bool hasParent = parent != SliceTable::kNone && nodes_[parent] != kRoot;
      SONDE_TRY_ASSIGN(const CallName name, names.of(slice));
      nodes_[path_.back()] =
          builder_.child(hasParent ? nodes_[parent] : begins_[slice.thread], name);
    }
    return nodes_[place];
  }

 private:
  static constexpr std::size_t kDeepest = 0xffff;
  const SliceTable& table_;
  CallTreeBuilder& builder_;
  std::vector<CallNode> begins_;  // by thread
  std::vector<CallNode> nodes_;   // by place; kRoot: not made yet
  std::vector<std::size_t> path_;
};

// The range of slices that have the launches of all work in the filter's range.
Result<std::optional<metrics::Interval>> launchRange(const WorkReader& work,
                                                     const PathFilter& filter) {
  if (!filter.range)
    return std::optional<metrics::Interval>();
  metrics::Interval range = *filter.range;
  SONDE_TRY(work.visit(filter.range, [&](const LaunchedWork& each) -> Result<void> {
    range.begin = std::min(range.begin, each.launchNs);
    return {};
  }));
  return std::optional<metrics::Interval>(range);
}

Result<void> markCollectives(const store::Database& trace, CallTree& tree) {
  SONDE_TRY_ASSIGN(const auto communication, store::CommunicationKernels::read(trace));
  for (CallName name = 0; name < tree.texts.size(); ++name)
    if (tree.tables[name] == Instance::Table::Kernel && communication.holds(tree.texts[name]))
      tree.kinds[name] = model::SliceKind::Collective;
  return {};
}

std::int64_t clippedWorkNs(const Instance& event, const std::optional<metrics::Interval>& range) {
  return range ? std::min(event.endNs, range->end) - std::max(event.beginNs, range->begin)
               : event.durNs();
}

}  // namespace

Result<CallTree> deviceTree(const store::Database& trace, const PathFilter& filter) {
  SONDE_TRY_ASSIGN(const WorkReader work, WorkReader::prepare(trace, filter));
  SONDE_TRY_ASSIGN(const auto range, launchRange(work, filter));
  SONDE_TRY_ASSIGN(const SliceTable table, SliceTable::read(trace, filter, range));
  CallTreeBuilder builder;
  NamesById names(trace, builder);
  LaunchNodes launches(table, builder, filter.byThread);
  const CallName notRecorded = builder.nameOf("[launch not recorded]");
  const auto add = [&](const LaunchedWork& each) -> Result<void> {
    const std::size_t launch = table.placeOf(each.launchId);
    const bool isKnown = launch != SliceTable::kNone;
    if (each.launchId != 0 && !isKnown)  // by a thread that is not selected
      return {};
    const std::size_t scope = isKnown ? launch : table.placeOf(each.scopeId);
    const bool isEverything = filter.operation.empty() && filter.threads.empty();
    if (scope == SliceTable::kNone ? !isEverything : !table.isInside(scope))
      return {};
    SONDE_TRY_ASSIGN(
        const CallNode parent,
        isKnown ? launches.of(launch, names) : Result<CallNode>(builder.child(kRoot, notRecorded)));
    SONDE_TRY_ASSIGN(const CallName name, names.of(each.nameId));
    const CallNode node = builder.child(parent, name);
    builder.add(node, clippedWorkNs(each.event, filter.range));
    builder.offer(node, each.event);
    return {};
  };
  SONDE_TRY(work.visit(filter.range, add));
  CallTree tree = std::move(builder).finish(CallTreeBuilder::Given::Selves);
  SONDE_TRY(markCollectives(trace, tree));
  return tree;
}

}  // namespace sonde::engine::callpaths
