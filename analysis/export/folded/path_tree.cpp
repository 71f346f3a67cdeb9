#include "analysis/export/folded/path_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace sonde::exports {

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

// Gives the first `frames` of what a node adds to one of their own, which it hangs from then.
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

std::vector<PathTree::Path> PathTree::byParent() const {
  std::vector<Path> paths(nodes_.size() - 1);
  std::iota(paths.begin(), paths.end(), kRoot + 1);
  std::sort(paths.begin(), paths.end(), [this](Path a, Path b) {
    const Node& left = nodes_[a];
    const Node& right = nodes_[b];
    return left.parent != right.parent
               ? left.parent < right.parent
               : *texts_[labels_[left.first]] > *texts_[labels_[right.first]];
  });
  return paths;
}

// With a stack of its own: paths may be deeper than that of a thread.
Result<void> PathTree::write(OutputFile& output) const {
  const std::vector<Path> paths = byParent();
  std::vector<std::pair<Path, std::size_t>> ahead;  // and the length of the parent's line
  const auto addChildren = [&](Path parent, std::size_t length) {
    auto child = std::partition_point(
        paths.begin(), paths.end(), [&](Path path) { return nodes_[path].parent < parent; });
    for (; child != paths.end() && nodes_[*child].parent == parent; ++child)
      ahead.emplace_back(*child, length);
  };
  std::string line;
  addChildren(kRoot, 0);
  while (!ahead.empty()) {
    const auto [path, length] = ahead.back();
    ahead.pop_back();
    const Node& node = nodes_[path];
    line.resize(length);
    for (const Frame frame : labelOf(node))
      line.append(line.empty() ? "" : ";").append(*texts_[frame]);
    if (node.ns > 0)
      SONDE_TRY(output.write(fmt::format("{} {}\n", line, node.ns)));
    addChildren(path, line.size());
  }
  return {};
}

}  // namespace sonde::exports
