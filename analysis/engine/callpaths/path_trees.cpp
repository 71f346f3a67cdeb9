#include "analysis/engine/callpaths/path_trees.h"

#include "analysis/engine/callpaths/call_paths.h"
#include "analysis/store/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde::engine::callpaths {
namespace {

using metrics::StackClock;

// By PathSource: a row that the source needs.
constexpr const char* kNeeded[] = {
    "SELECT 1 FROM slice WHERE kind NOT IN ('range', 'mark')",
    "SELECT 1 FROM (SELECT id FROM kernel UNION ALL SELECT id FROM copy)",
    "SELECT 1 FROM stack_sample WHERE kind = 'cpu'",
    "SELECT 1 FROM stack_sample WHERE kind = 'blocked'",
    "SELECT 1 FROM stack_sample WHERE kind = 'other'",
    "SELECT 1 FROM slice WHERE kind = 'api' AND stack_id IS NOT NULL",
    "SELECT 1 FROM allocation WHERE stack_id IS NOT NULL",
};

// "ProfilerStep" of "ProfilerStep#12".
std::string_view withoutNumber(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  return last != std::string_view::npos && last > 0 && last + 1 < name.size() && name[last] == '#'
             ? name.substr(0, last)
             : name;
}

std::int64_t clippedSliceNs(const PathSlice& slice, const std::optional<metrics::Interval>& range) {
  return range ? std::min(slice.endNs, range->end) - std::max(slice.beginNs, range->begin)
               : slice.endNs - slice.beginNs;
}

}  // namespace

StackClock stackClockOf(PathSource source) {
  switch (source) {
    case PathSource::CpuSamples:
      return StackClock::Cpu;
    case PathSource::WaitSamples:
      return StackClock::Blocked;
    case PathSource::LaunchSamples:
      return StackClock::Device;
    case PathSource::AllocationSamples:
      return StackClock::Allocated;
    default:
      return StackClock::Wall;
  }
}

Result<CallName> NamesById::of(const PathSlice& slice) {
  SONDE_TRY_ASSIGN(const CallName name, of(slice.name, slice.kind == model::SliceKind::Iteration));
  builder_.setKind(name, slice.kind);
  return name;
}

Result<CallName> NamesById::of(std::int64_t id, bool isIteration) {
  std::unordered_map<std::int64_t, CallName>& names = isIteration ? iterations_ : known_;
  if (const auto known = names.find(id); known != names.end())
    return known->second;
  if (!query_) {
    SONDE_TRY_ASSIGN(query_, trace_.prepare("SELECT text FROM string WHERE id = ?1"));
  }
  query_->reset();
  query_->bindAll(id);
  SONDE_TRY_ASSIGN(const bool exists, query_->step());
  const std::string_view text = exists ? query_->text(0) : std::string_view("[unknown]");
  const CallName name = builder_.nameOf(isIteration ? withoutNumber(text) : text);
  names.emplace(id, name);
  return name;
}

std::vector<CallNode> threadNodes(const std::vector<PathThread>& threads,
                                  bool byThread,
                                  CallTreeBuilder& builder) {
  std::vector<CallNode> nodes;
  nodes.reserve(threads.size());
  for (const PathThread& thread : threads)
    nodes.push_back(byThread ? builder.child(builder.child(kRoot, builder.nameOf(thread.process)),
                                             builder.nameOf(thread.name))
                             : kRoot);
  return nodes;
}

Result<CallTree> sliceTree(const store::Database& trace, const PathFilter& filter) {
  SONDE_TRY_ASSIGN(const SliceTable table, SliceTable::read(trace, filter, filter.range));
  CallTreeBuilder builder;
  NamesById names(trace, builder);
  const std::vector<CallNode> begins = threadNodes(table.threads(), filter.byThread, builder);
  std::vector<CallNode> nodes(table.slices().size(), kRoot);
  Result<void> read;
  table.forEachParentFirst([&](std::size_t place, std::size_t parent) {
    if (!read || !table.isInside(place))
      return;
    const PathSlice& slice = table.slices()[place];
    const auto name = names.of(slice);
    if (!name) {
      read = name.error();
      return;
    }
    const bool hasParent = parent != SliceTable::kNone && table.isInside(parent);
    const CallNode node = builder.child(hasParent ? nodes[parent] : begins[slice.thread], *name);
    nodes[place] = node;
    builder.add(node, clippedSliceNs(slice, filter.range));
    builder.offer(node, {Instance::Table::Slice, slice.id, slice.beginNs, slice.endNs});
  });
  SONDE_TRY(read);
  return std::move(builder).finish(CallTreeBuilder::Given::Totals);
}

Result<std::vector<PathSource>> pathSources(const store::Database& trace) {
  std::vector<PathSource> sources;
  for (std::size_t source = 0; source < std::size(kNeeded); ++source) {
    SONDE_TRY_ASSIGN(const std::int64_t any,
                     trace.queryInteger(fmt::format("SELECT EXISTS ({})", kNeeded[source])));
    if (any != 0)
      sources.push_back(static_cast<PathSource>(source));
  }
  return sources;
}

Result<CallTree> callPaths(const store::Database& trace,
                           PathSource source,
                           const PathFilter& filter) {
  switch (source) {
    case PathSource::Slices:
      return sliceTree(trace, filter);
    case PathSource::DeviceWork:
      return deviceTree(trace, filter);
    default:
      return stackTree(trace, stackClockOf(source), filter);
  }
}

}  // namespace sonde::engine::callpaths
