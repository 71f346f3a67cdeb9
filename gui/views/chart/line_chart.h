// Series of values over a common axis, as lines or points, such as the times of iterations. Main
// thread.
#pragma once

#include "gui/models/table/value_table.h"

#include <QColor>
#include <QString>
#include <QWidget>

#include <optional>
#include <vector>

namespace sonde::gui {

struct ChartPoint {
  double x = 0;
  double y = 0;  // NaN: a gap
  Place place{};
};

struct Series {
  QString name;
  QColor color;
  std::vector<ChartPoint> points;  // by x
  bool isStepped = false;          // a value holds until the next point
};

// A vertical line, such as at a peak.
struct ChartMark {
  double x = 0;
  QString label;
};

struct LineData {
  QString xTitle;
  ValueKind unit = ValueKind::Real;  // of y
  bool fromZero = true;              // the axis of y
  std::vector<Series> series{};
  std::optional<double> lowX{};  // the axis of x; unset: from the first point to the last
  std::optional<double> highX{};
  double leastStepX = 1;  // between the numbers at the axis of x
  std::vector<ChartMark> marks{};
};

class LineChart : public QWidget {
  Q_OBJECT

 public:
  explicit LineChart(QWidget* parent = nullptr);

  void show(LineData data);
  [[nodiscard]] const LineData& data() const { return data_; }
  // Where a point is drawn.
  [[nodiscard]] QPointF positionOf(const ChartPoint& point) const;
  [[nodiscard]] QSize sizeHint() const override { return {480, 160}; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {120, 90}; }

 signals:
  // A point near the mouse.
  void clicked(const sonde::gui::Place& place);
  // Anywhere in the plot.
  void clickedAt(double x);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Hit {
    const Series* series;
    const ChartPoint* point;
  };
  [[nodiscard]] QRectF plotRect() const;
  [[nodiscard]] std::optional<Hit> nearest(const QPointF& at) const;
  void findBounds();
  void paintAxes(QPainter& painter) const;
  void paintSeries(QPainter& painter, const Series& series) const;
  void paintMarks(QPainter& painter) const;
  void paintLegend(QPainter& painter) const;

  LineData data_;
  double lowX_ = 0;
  double highX_ = 1;
  double lowY_ = 0;
  double highY_ = 1;
};

}  // namespace sonde::gui
