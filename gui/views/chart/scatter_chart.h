// Points on logarithmic axes with limits as lines, such as a roofline of kernels. The area of a
// point stands for its weight. Main thread.
#pragma once

#include "gui/models/table/value_table.h"
#include "gui/views/chart/chart_legend.h"

#include <QColor>
#include <QString>
#include <QWidget>

#include <cstddef>
#include <optional>
#include <vector>

namespace sonde::gui {

struct ScatterPoint {
  double x = 0;  // both above 0
  double y = 0;
  double weight = 0;
  QColor color;
  QString text;  // for the tooltip
};

// A limit: straight from one point to the next on logarithmic axes.
struct ScatterLine {
  QString name;
  std::vector<QPointF> points;  // by x; both values above 0
};

struct ScatterData {
  QString xTitle;
  QString yTitle;
  std::vector<ScatterPoint> points;
  std::vector<ScatterLine> lines;
  std::vector<LegendKey> legend{};
};

class ScatterChart : public QWidget {
  Q_OBJECT

 public:
  explicit ScatterChart(QWidget* parent = nullptr);

  // Points that are not above 0 are not drawn.
  void show(ScatterData data);
  [[nodiscard]] const ScatterData& data() const { return data_; }
  // Marks a point; unset: none.
  void select(std::optional<std::size_t> point);
  [[nodiscard]] std::optional<std::size_t> selected() const { return selected_; }
  // Where values are drawn. Requires: both are above 0.
  [[nodiscard]] QPointF positionOf(double x, double y) const;
  // The tooltip there; empty: no point is there.
  [[nodiscard]] QString textAt(const QPointF& at) const;
  [[nodiscard]] QSize sizeHint() const override { return {560, 420}; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {200, 150}; }

 signals:
  void clicked(std::size_t point);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  [[nodiscard]] QRectF plotRect() const;
  [[nodiscard]] double radiusOf(const ScatterPoint& point) const;
  [[nodiscard]] std::optional<std::size_t> hit(const QPointF& at) const;
  void paintAxes(QPainter& painter) const;
  void paintLines(QPainter& painter) const;
  void paintPoint(QPainter& painter, std::size_t at) const;

  ScatterData data_;
  std::vector<std::size_t> order_;  // of the drawn points: the heaviest first
  std::optional<std::size_t> selected_;
  double lowX_ = 0.1;  // of the axes, as values
  double highX_ = 10;
  double lowY_ = 0.1;
  double highY_ = 10;
  double heaviest_ = 0;
};

}  // namespace sonde::gui
