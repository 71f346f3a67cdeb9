#include "analysis/engine/callpaths/call_tree.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sonde::engine::callpaths {

CallTreeBuilder::CallTreeBuilder() : nodes_(1) {
  nameOf({});
}

CallName CallTreeBuilder::nameOf(std::string_view text) {
  const auto [at, isNew] =
      names_.try_emplace(std::string(text), static_cast<CallName>(texts_.size()));
  if (isNew) {
    texts_.emplace_back(text);
    kinds_.emplace_back();
  }
  return at->second;
}

void CallTreeBuilder::setKind(CallName name, model::SliceKind kind) {
  if (!kinds_[name])
    kinds_[name] = kind;
}

CallNode CallTreeBuilder::child(CallNode parent, CallName name) {
  const std::uint64_t key = std::uint64_t{parent} << 32U | name;
  const auto [at, isNew] = children_.try_emplace(key, static_cast<CallNode>(nodes_.size()));
  if (isNew)
    nodes_.push_back({parent, name});
  return at->second;
}

void CallTreeBuilder::add(CallNode node, std::int64_t ns, std::int64_t count) {
  nodes_[node].ns += ns;
  nodes_[node].count += count;
}

void CallTreeBuilder::offer(CallNode node, const Instance& event) {
  Instance& longest = nodes_[node].longest;
  if (event.table != Instance::Table::None &&
      (longest.table == Instance::Table::None || event.durNs() > longest.durNs()))
    longest = event;
}

// A parent has a smaller number than its children.
void CallTreeBuilder::sumUp(Given given) {
  totals_.assign(nodes_.size(), 0);  // at first of the children
  selves_.assign(nodes_.size(), 0);
  counts_.assign(nodes_.size(), 0);
  for (std::size_t node = nodes_.size(); node-- > 0;) {
    const Node& each = nodes_[node];
    if (given == Given::Selves) {
      selves_[node] = each.ns;
      totals_[node] += each.ns;
      counts_[node] += each.count;
    } else if (each.count > 0) {
      selves_[node] = std::max<std::int64_t>(each.ns - totals_[node], 0);
      totals_[node] = each.ns;
      counts_[node] = each.count;
    }
    if (node == kRoot)
      return;
    totals_[each.parent] += totals_[node];
    counts_[each.parent] += counts_[node];
    if (given == Given::Selves || nodes_[each.parent].count == 0)
      offer(each.parent, each.longest);
  }
}

CallTree CallTreeBuilder::finish(Given given) && {
  std::vector<Instance::Table> tables(texts_.size());
  for (const Node& node : nodes_)
    if (node.longest.table != Instance::Table::None)
      tables[node.name] = node.longest.table;
  sumUp(given);
  CallTree tree = numbered();
  tree.tables = std::move(tables);
  tree.kinds = std::move(kinds_);
  return tree;
}

// Breadth first, and children by falling total.
CallTree CallTreeBuilder::numbered() {
  std::vector<CallNode> order(nodes_.size() - 1);
  std::iota(order.begin(), order.end(), CallNode{1});
  std::erase_if(order, [&](CallNode node) { return counts_[node] == 0; });
  std::sort(order.begin(), order.end(), [&](CallNode a, CallNode b) {
    if (nodes_[a].parent != nodes_[b].parent)
      return nodes_[a].parent < nodes_[b].parent;
    if (totals_[a] != totals_[b])
      return totals_[a] > totals_[b];
    return texts_[nodes_[a].name] < texts_[nodes_[b].name];
  });
  std::vector<std::size_t> childrenBegin(nodes_.size(), 0);  // in `order`
  std::vector<CallNode> childCounts(nodes_.size(), 0);
  for (std::size_t at = order.size(); at-- > 0;) {
    childrenBegin[nodes_[order[at]].parent] = at;
    ++childCounts[nodes_[order[at]].parent];
  }
  CallTree tree;
  std::vector<CallNode> old;  // by new number
  const auto append = [&](CallNode node, CallNode parent, std::uint16_t depth) {
    old.push_back(node);
    tree.parents.push_back(parent);
    tree.names.push_back(nodes_[node].name);
    tree.depths.push_back(depth);
    tree.totalNs.push_back(totals_[node]);
    tree.selfNs.push_back(selves_[node]);
    tree.counts.push_back(counts_[node]);
    tree.longest.push_back(nodes_[node].longest);
  };
  append(kRoot, kRoot, 0);
  for (CallNode node = 0; node < old.size(); ++node) {
    const CallNode before = old[node];
    tree.firstChild.push_back(static_cast<CallNode>(old.size()));
    tree.childCount.push_back(childCounts[before]);
    for (std::size_t at = 0; at < childCounts[before]; ++at)
      append(order[childrenBegin[before] + at],
             node,
             static_cast<std::uint16_t>(std::min<int>(tree.depths[node] + 1, 0xffff)));
  }
  tree.texts = std::move(texts_);
  return tree;
}

}  // namespace sonde::engine::callpaths
