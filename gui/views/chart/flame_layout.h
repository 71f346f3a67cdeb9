// Where the frames of a flame graph are: rows of rectangles below the frames that they are called
// from. Neighbours narrower than half a pixel share a rectangle, so the number of rectangles
// depends on the width, not on the tree. A plain value; any thread.
#pragma once

#include "analysis/engine/callpaths/call_tree.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace sonde::gui {

class FlameLayout {
 public:
  using Node = engine::callpaths::CallNode;
  using Tree = std::shared_ptr<const engine::callpaths::CallTree>;

  // A rectangle: one frame, or the neighbours from `node` to `last` that are too narrow.
  struct Frame {
    Node node;
    Node last;
    double left;
    double width;
    [[nodiscard]] bool isOne() const { return node == last; }
  };

  // nullptr: nothing.
  void show(Tree tree);
  // `zoomed` and the frames around it have the whole width. Requires: the tree has the node.
  void layOut(Node zoomed, double width);

  [[nodiscard]] std::size_t rows() const { return rowBegin_.empty() ? 0 : rowBegin_.size() - 1; }
  // From left to right, and so by node. Requires: the row exists.
  [[nodiscard]] const Frame* begin(std::size_t row) const {
    return frames_.data() + rowBegin_[row];
  }
  [[nodiscard]] const Frame* end(std::size_t row) const {
    return frames_.data() + rowBegin_[row + 1];
  }
  [[nodiscard]] std::size_t rectangles() const { return frames_.size(); }
  // The rectangle of a node; nullptr: it is not visible.
  [[nodiscard]] const Frame* find(Node node) const;

 private:
  void layOutChildren(const Frame& parent);

  Tree tree_;
  std::vector<double> childSums_;      // by node
  std::vector<Frame> frames_;          // by row
  std::vector<std::size_t> rowBegin_;  // in frames_; one more than there are rows
};

}  // namespace sonde::gui
