// A flame graph: frames as rectangles below the frames that they are called from, as wide as their
// time. Zooms into a frame, and marks the frames whose names contain a text. Any number of frames
// fits: neighbours narrower than half a pixel share one rectangle. Main thread.
//
// Keys: arrows move the current frame, Enter zooms into it, Backspace and Escape go back, Home
// shows everything.
#pragma once

#include "analysis/engine/callpaths/call_tree.h"
#include "gui/models/table/value_table.h"
#include "gui/models/view_state.h"
#include "gui/views/chart/flame_layout.h"

#include <QAbstractScrollArea>
#include <QColor>
#include <QString>

#include <memory>
#include <optional>
#include <vector>

namespace sonde::gui {

struct FlameData {
  std::shared_ptr<const engine::callpaths::CallTree> tree;  // nullptr: nothing
  ValueKind unit = ValueKind::Duration;
  QString rootName;
  QString eventName;  // of what is counted: "calls"
  ColorBy colorBy = ColorBy::Kind;
  [[nodiscard]] bool isEmpty() const { return tree == nullptr || tree->empty(); }
};

class FlameChart : public QAbstractScrollArea {
  Q_OBJECT

 public:
  using Node = engine::callpaths::CallNode;

  explicit FlameChart(QWidget* parent = nullptr);

  // Stays at the zoomed and the current frame as far as the tree has their paths; keeps the text to
  // mark.
  void show(FlameData data);
  [[nodiscard]] const FlameData& data() const { return data_; }
  // Requires for all nodes: the tree has them.
  void zoomTo(Node node);
  // To the frame that was zoomed into before.
  void back();
  [[nodiscard]] Node zoomed() const { return zoomed_; }
  void setCurrent(Node node);
  [[nodiscard]] Node current() const { return current_; }
  // Marks names that contain the text, ignoring case; empty: none.
  void mark(const QString& text);
  // The share of the whole that marked frames have; 0: none is marked.
  [[nodiscard]] double markedShare() const { return markedShare_; }
  void setColorBy(ColorBy colorBy);
  // Where a frame is drawn on the viewport; empty: it is not, or it shares a rectangle.
  [[nodiscard]] QRectF rectOf(Node node) const;
  // The number of rectangles that are drawn.
  [[nodiscard]] std::size_t rectangles() const { return layout_.rectangles(); }
  // "forward: 12 ms (34.5 %), 3 ms itself, calls: 20".
  [[nodiscard]] QString textOf(Node node) const;

 signals:
  // The current frame is another one.
  void currentChanged(sonde::engine::callpaths::CallNode node);
  void menuWanted(sonde::engine::callpaths::CallNode node, const QPoint& globalPos);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool viewportEvent(QEvent* event) override;

 private:
  using Frame = FlameLayout::Frame;
  void layOut();
  void choose(Node node);
  bool move(int key);
  [[nodiscard]] const Frame* hit(const QPointF& at) const;
  [[nodiscard]] QRectF rectOf(const Frame& frame, std::size_t row) const;
  [[nodiscard]] QString textOf(const Frame& frame) const;
  [[nodiscard]] QString nameOf(Node node) const;
  void paintFrame(QPainter& painter, const Frame& frame, std::size_t row) const;

  FlameData data_;
  std::vector<QString> names_;  // by name
  std::vector<bool> marked_;    // by name; empty: none
  QString markText_;
  double markedShare_ = 0;
  Node zoomed_ = engine::callpaths::kRoot;
  std::vector<Node> before_;  // zoomed into, the last one last
  Node current_ = engine::callpaths::kRoot;
  FlameLayout layout_;
};

}  // namespace sonde::gui
