// Spans of lanes over a common time axis, in groups one above the other, such as an iteration as it
// was and as it would be. The wheel zooms at the mouse, a drag moves, a double click shows all
// again. Main thread.
#pragma once

#include "gui/models/place.h"
#include "gui/views/chart/chart_legend.h"

#include <QAbstractScrollArea>
#include <QColor>
#include <QString>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::gui {

struct LaneSpan {
  std::size_t lane = 0;  // of its group
  std::int64_t beginNs = 0;
  std::int64_t endNs = 0;
  QColor color;
  QString text;
};

struct LaneGroup {
  QString title;
  std::vector<QString> lanes;
  std::vector<LaneSpan> spans;  // by begin
  std::int64_t endNs = 0;       // marked by a line
};

// Two groups, the first above the second. With many lanes they would be far apart, so that there is
// a group for each lane then, with that lane of both.
[[nodiscard]] std::vector<LaneGroup> aboveEachOther(LaneGroup first, LaneGroup second);

struct LaneData {
  std::vector<LaneGroup> groups;
  std::vector<LegendKey> legend;
};

class LaneChart : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit LaneChart(QWidget* parent = nullptr);

  // Keeps the shown time if `keepRange`.
  void show(LaneData data, bool keepRange);
  [[nodiscard]] const LaneData& data() const { return data_; }
  [[nodiscard]] std::int64_t beginNs() const { return beginNs_; }
  [[nodiscard]] std::int64_t endNs() const { return endNs_; }
  void showRange(std::int64_t beginNs, std::int64_t endNs);
  // Where a span is drawn on the viewport.
  [[nodiscard]] QRectF rectOf(std::size_t group, const LaneSpan& span) const;
  [[nodiscard]] QSize sizeHint() const override { return {640, 260}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool viewportEvent(QEvent* event) override;

 private:
  [[nodiscard]] int headHeight() const;
  [[nodiscard]] int groupTop(std::size_t group) const;
  [[nodiscard]] int contentHeight() const;
  [[nodiscard]] QRect plotRect() const;
  [[nodiscard]] double xOf(std::int64_t ns) const;
  [[nodiscard]] std::int64_t timeAt(double x) const;
  [[nodiscard]] const LaneSpan* spanAt(const QPointF& at) const;
  void zoom(std::int64_t aroundNs, double factor);
  void layOut();
  void paintAxis(QPainter& painter) const;
  void paintGroup(QPainter& painter, std::size_t group) const;

  LaneData data_;
  std::int64_t wholeNs_ = 1;
  std::int64_t beginNs_ = 0;
  std::int64_t endNs_ = 1;
  int labelWidth_ = 0;
  std::vector<int> tops_{0};  // of the groups below the axis, and the end of the last one
  std::optional<std::pair<double, std::int64_t>> drag_;  // x and beginNs_ at its begin
};

}  // namespace sonde::gui
