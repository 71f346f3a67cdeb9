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

PathTree::Path PathTree::pathOf(Path parent, Frame frame) {
  const std::uint64_t key = (std::uint64_t{parent} << 32U) | frame;
  const auto [child, added] = children_.emplace(key, static_cast<Path>(nodes_.size()));
  if (added)
    nodes_.push_back({parent, frame});
  return child->second;
}

std::vector<PathTree::Path> PathTree::byParent() const {
  std::vector<Path> paths(nodes_.size() - 1);
  std::iota(paths.begin(), paths.end(), kRoot + 1);
  std::sort(paths.begin(), paths.end(), [this](Path a, Path b) {
    const Node& left = nodes_[a];
    const Node& right = nodes_[b];
    return left.parent != right.parent ? left.parent < right.parent
                                       : *texts_[left.frame] > *texts_[right.frame];
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
    line.append(length > 0 ? ";" : "").append(*texts_[node.frame]);
    if (node.ns > 0)
      SONDE_TRY(output.write(fmt::format("{} {}\n", line, node.ns)));
    addChildren(path, line.size());
  }
  return {};
}

}  // namespace sonde::exports
