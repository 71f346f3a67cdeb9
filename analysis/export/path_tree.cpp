#include "analysis/export/path_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace sonde::exports {

std::string frameText(std::string_view name) {
  std::string frame(name);
  std::replace(frame.begin(), frame.end(), ';', ':');
  std::replace(frame.begin(), frame.end(), '\n', ' ');
  std::replace(frame.begin(), frame.end(), '\r', ' ');
  return frame;
}

PathTree::Frame PathTree::frameOf(std::string_view text) {
  const auto known = frames_.find(text);
  if (known != frames_.end())
    return known->second;
  const auto added = frames_.emplace(text, static_cast<Frame>(texts_.size())).first;
  texts_.push_back(&added->first);
  return added->second;
}

PathTree::Path PathTree::newNode(Path parent, std::span<const Frame> frames) {
  const auto path = static_cast<Path>(nodes_.size());
  nodes_.push_back({parent, static_cast<std::uint32_t>(frames.size()), labels_.size()});
  labels_.insert(labels_.end(), frames.begin(), frames.end());
  children_[keyOf(parent, frames.front())] = path;
  return path;
}

// Moves the first `frames` of a node's own frames to a new node, which becomes its parent.
PathTree::Path PathTree::split(Path path, std::size_t frames) {
  const auto upper = static_cast<Path>(nodes_.size());
  const Node whole = nodes_[path];
  const auto size = static_cast<std::uint32_t>(frames);
  nodes_.push_back({whole.parent, size, whole.first});
  nodes_[path] = {upper, whole.frames - size, whole.first + size, whole.ns};
  children_[keyOf(whole.parent, labels_[whole.first])] = upper;
  children_[keyOf(upper, labels_[whole.first + size])] = path;
  return upper;
}

PathTree::Path PathTree::pathOf(Path parent, std::span<const Frame> frames) {
  while (!frames.empty()) {
    const auto child = children_.find(keyOf(parent, frames.front()));
    if (child == children_.end())
      return newNode(parent, frames);
    const auto label = labelOf(nodes_[child->second]);
    const auto parted = std::mismatch(label.begin(), label.end(), frames.begin(), frames.end());
    const auto common = static_cast<std::size_t>(parted.first - label.begin());
    parent = common < label.size() ? split(child->second, common) : child->second;
    frames = frames.subspan(common);
  }
  return parent;
}

// Uses an explicit stack: paths may be deeper than a thread's stack.
std::vector<PathTree::Path> PathTree::inOrder() const {
  std::vector<Path> byParent(nodes_.size() - 1);
  std::iota(byParent.begin(), byParent.end(), kRoot + 1);
  // Sorts children in reverse, since the stack reverses them again.
  std::sort(byParent.begin(), byParent.end(), [this](Path a, Path b) {
    const Node& left = nodes_[a];
    const Node& right = nodes_[b];
    return left.parent != right.parent
               ? left.parent < right.parent
               : *texts_[labels_[left.first]] > *texts_[labels_[right.first]];
  });
  std::vector<Path> order;
  order.reserve(byParent.size());
  std::vector<Path> ahead = {kRoot};
  while (!ahead.empty()) {
    const Path path = ahead.back();
    ahead.pop_back();
    if (path != kRoot)
      order.push_back(path);
    auto child = std::partition_point(
        byParent.begin(), byParent.end(), [&](Path each) { return nodes_[each].parent < path; });
    for (; child != byParent.end() && nodes_[*child].parent == path; ++child)
      ahead.push_back(*child);
  }
  return order;
}

std::vector<PathTree::Box> PathTree::boxes() const {
  struct Place {
    std::int64_t ns = 0;      // in it and below
    std::int64_t nextNs = 0;  // where its next child begins
    std::uint32_t depth = 0;  // of its children
  };
  const std::vector<Path> order = inOrder();
  std::vector<Place> places(nodes_.size());
  for (auto path = order.rbegin(); path != order.rend(); ++path) {
    places[*path].ns += nodes_[*path].ns;
    places[nodes_[*path].parent].ns += places[*path].ns;
  }
  std::vector<Box> boxes;
  for (const Path path : order) {
    const Node& node = nodes_[path];
    Place& place = places[path];
    Place& parent = places[node.parent];
    place.nextNs = parent.nextNs;
    place.depth = parent.depth;
    parent.nextNs += place.ns;
    for (const Frame frame : labelOf(node))
      boxes.push_back({frame, place.depth++, place.nextNs, place.ns});
  }
  return boxes;
}

Result<void> PathTree::write(OutputFile& output) const {
  std::vector<std::size_t> lengths(nodes_.size());
  std::string line;
  for (const Path path : inOrder()) {
    const Node& node = nodes_[path];
    line.resize(lengths[node.parent]);
    for (const Frame frame : labelOf(node))
      line.append(line.empty() ? "" : ";").append(*texts_[frame]);
    lengths[path] = line.size();
    if (node.ns > 0)
      SONDE_TRY(output.write(fmt::format("{} {}\n", line, node.ns)));
  }
  return {};
}

}  // namespace sonde::exports
