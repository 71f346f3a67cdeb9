#include "gui/views/chart/flame_layout.h"

#include <algorithm>
#include <utility>

namespace sonde::gui {
namespace {

using engine::callpaths::CallTree;
using engine::callpaths::kRoot;

constexpr double kNarrowest = 0.5;  // pixels

}  // namespace

void FlameLayout::show(Tree tree) {
  tree_ = std::move(tree);
  frames_.clear();
  rowBegin_.clear();
  childSums_.clear();
  if (tree_ == nullptr)
    return;
  childSums_.assign(tree_->size(), 0);
  for (Node node = 1; node < tree_->size(); ++node)
    childSums_[tree_->parents[node]] += static_cast<double>(tree_->totalNs[node]);
}

void FlameLayout::layOut(Node zoomed, double width) {
  frames_.clear();
  rowBegin_.clear();
  if (tree_ == nullptr || tree_->empty())
    return;
  rowBegin_.push_back(0);
  std::vector<Node> around;
  for (Node node = zoomed; node != kRoot; node = tree_->parents[node])
    around.push_back(node);
  around.push_back(kRoot);
  for (; !around.empty(); around.pop_back()) {
    frames_.push_back({around.back(), around.back(), 0, width});
    rowBegin_.push_back(frames_.size());
  }
  while (rowBegin_.back() > rowBegin_[rowBegin_.size() - 2]) {
    const std::size_t end = rowBegin_.back();
    for (std::size_t at = rowBegin_[rowBegin_.size() - 2]; at < end; ++at)
      layOutChildren(Frame(frames_[at]));
    rowBegin_.push_back(frames_.size());
  }
  rowBegin_.pop_back();
}

// Children are ordered by their time: the narrow ones are the last. If events overlap without
// nesting, children may have more time than their parent; then they share its width.
void FlameLayout::layOutChildren(const Frame& parent) {
  if (!parent.isOne())
    return;
  const double whole =
      std::max(static_cast<double>(tree_->totalNs[parent.node]), childSums_[parent.node]);
  if (whole <= 0)
    return;
  double left = parent.left;
  double rest = childSums_[parent.node] / whole * parent.width;
  const Node end = tree_->endOfChildren(parent.node);
  for (Node child = tree_->firstChild[parent.node]; child < end; ++child) {
    const double width = static_cast<double>(tree_->totalNs[child]) / whole * parent.width;
    if (width < kNarrowest) {
      frames_.push_back({child, end - 1, left, std::max(rest, 0.0)});
      return;
    }
    frames_.push_back({child, child, left, width});
    left += width;
    rest -= width;
  }
}

const FlameLayout::Frame* FlameLayout::find(Node node) const {
  const std::size_t row = tree_ == nullptr ? 0 : tree_->depths[node];
  if (row >= rows())
    return nullptr;
  const Frame* const at = std::partition_point(
      begin(row), end(row), [&](const Frame& frame) { return frame.last < node; });
  return at != end(row) && at->node <= node ? at : nullptr;
}

}  // namespace sonde::gui
