#include "analysis/engine/callpaths/call_views.h"

#include <algorithm>
#include <map>

namespace sonde::engine::callpaths {
namespace {

std::vector<Neighbour> byTime(const std::map<CallName, Neighbour>& found) {
  std::vector<Neighbour> all;
  all.reserve(found.size());
  for (const auto& [name, each] : found)
    all.push_back(each);
  std::stable_sort(
      all.begin(), all.end(), [](const Neighbour& a, const Neighbour& b) { return a.ns > b.ns; });
  return all;
}

void share(std::map<CallName, Neighbour>& found, CallName name, const CallTree& tree, CallNode at) {
  Neighbour& neighbour = found[name];
  neighbour.name = name;
  neighbour.ns += tree.totalNs[at];
  neighbour.count += tree.counts[at];
}

// By node: whether a frame of the same name is around it. Walks down and up again, so that the
// number of open frames of each name is known.
std::vector<bool> repeatedNodes(const CallTree& tree) {
  std::vector<bool> isRepeated(tree.size());
  std::vector<std::uint32_t> open(tree.texts.size());
  std::vector<CallNode> next(tree.firstChild);  // child to visit, by node
  for (CallNode node = kRoot;;) {
    if (next[node] < tree.endOfChildren(node)) {
      node = next[node]++;
      isRepeated[node] = open[tree.names[node]]++ > 0;
      continue;
    }
    if (node == kRoot)
      return isRepeated;
    --open[tree.names[node]];
    node = tree.parents[node];
  }
}

}  // namespace

CallTree inverted(const CallTree& tree) {
  CallTreeBuilder builder;
  std::vector<CallName> names;
  for (const std::string& text : tree.texts)
    names.push_back(builder.nameOf(text));
  for (CallNode node = 1; node < tree.size(); ++node) {
    if (tree.selfNs[node] <= 0)
      continue;
    CallNode path = kRoot;
    for (CallNode at = node; at != kRoot; at = tree.parents[at])
      path = builder.child(path, names[tree.names[at]]);
    builder.add(path, tree.selfNs[node], tree.counts[node]);
    builder.offer(path, tree.longest[node]);
  }
  CallTree result = std::move(builder).finish(CallTreeBuilder::Given::Selves);
  result.tables = tree.tables;  // names have the same numbers
  result.kinds = tree.kinds;
  return result;
}

std::vector<NameTime> timesByName(const CallTree& tree) {
  const std::vector<bool> isRepeated = repeatedNodes(tree);
  std::vector<NameTime> times(tree.texts.size());
  for (CallNode node = 1; node < tree.size(); ++node) {
    NameTime& time = times[tree.names[node]];
    time.name = tree.names[node];
    time.selfNs += tree.selfNs[node];
    time.count += tree.counts[node];
    if (!isRepeated[node])
      time.totalNs += tree.totalNs[node];
  }
  std::erase_if(times, [](const NameTime& time) { return time.count == 0; });
  std::stable_sort(times.begin(), times.end(), [](const NameTime& a, const NameTime& b) {
    return a.totalNs > b.totalNs;
  });
  return times;
}

CallNode samePath(const CallTree& tree, CallNode node, const CallTree& other) {
  std::vector<CallNode> path;
  for (; node != kRoot; node = tree.parents[node])
    path.push_back(node);
  CallNode found = kRoot;
  for (; !path.empty(); path.pop_back()) {
    CallNode child = other.firstChild[found];
    while (child < other.endOfChildren(found) && other.textOf(child) != tree.textOf(path.back()))
      ++child;
    if (child == other.endOfChildren(found))
      break;
    found = child;
  }
  return found;
}

std::int64_t timeOf(const CallTree& tree, const std::vector<bool>& marked) {
  std::vector<bool> isInside(tree.size());
  std::int64_t ns = 0;
  for (CallNode node = 1; node < tree.size(); ++node) {
    const bool isAround = isInside[tree.parents[node]];
    isInside[node] = isAround || marked[tree.names[node]];
    if (isInside[node] && !isAround)
      ns += tree.totalNs[node];
  }
  return ns;
}

Neighbours neighboursOf(const CallTree& tree, CallName name) {
  Neighbours found;
  found.time.name = name;
  const std::vector<bool> isRepeated = repeatedNodes(tree);
  std::map<CallName, Neighbour> callers;
  std::map<CallName, Neighbour> callees;
  for (CallNode node = 1; node < tree.size(); ++node) {
    const CallNode parent = tree.parents[node];
    if (parent != kRoot && tree.names[parent] == name)
      share(callees, tree.names[node], tree, node);
    if (tree.names[node] != name)
      continue;
    share(callers, parent == kRoot ? CallName{0} : tree.names[parent], tree, node);
    found.time.selfNs += tree.selfNs[node];
    found.time.count += tree.counts[node];
    if (!isRepeated[node])
      found.time.totalNs += tree.totalNs[node];
  }
  found.callers = byTime(callers);
  found.callees = byTime(callees);
  return found;
}

}  // namespace sonde::engine::callpaths
