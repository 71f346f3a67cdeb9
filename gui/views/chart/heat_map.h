// A matrix of values as colours, such as the times of iterations by rank. Any number of rows and
// columns fits: several that share a pixel show their largest value. Main thread.
#pragma once

#include "gui/models/table/value_table.h"

#include <QImage>
#include <QString>
#include <QWidget>

#include <cstddef>
#include <optional>
#include <vector>

namespace sonde::gui {

struct HeatData {
  QString rowTitle;
  QString columnTitle;
  std::vector<QString> rows;     // labels
  std::vector<QString> columns;  // labels
  std::vector<double> values;    // by row, then by column; NaN: none
  ValueKind unit = ValueKind::Duration;

  [[nodiscard]] double at(std::size_t row, std::size_t column) const {
    return values[row * columns.size() + column];
  }
};

class HeatMap : public QWidget {
  Q_OBJECT

 public:
  explicit HeatMap(QWidget* parent = nullptr);

  // Requires: as many values as rows × columns.
  void show(HeatData data);
  [[nodiscard]] const HeatData& data() const { return data_; }
  // Where a cell is drawn.
  [[nodiscard]] QRectF rectOf(std::size_t row, std::size_t column) const;
  [[nodiscard]] QSize sizeHint() const override { return {640, 360}; }

 signals:
  void clicked(std::size_t row, std::size_t column);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Cell {
    std::size_t row;
    std::size_t column;
  };
  [[nodiscard]] QRectF plotRect() const;
  [[nodiscard]] std::optional<Cell> hit(const QPointF& at) const;
  [[nodiscard]] QRgb colorOf(double value) const;
  void paintCells(QPainter& painter) const;
  void paintLabels(QPainter& painter) const;
  void paintScale(QPainter& painter) const;

  HeatData data_;
  double low_ = 0;
  double high_ = 1;
  int labelWidth_ = 0;
};

}  // namespace sonde::gui
