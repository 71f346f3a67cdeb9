// Distributions one above the other, such as a tensor's values by iteration: each is a filled
// curve, shifted upwards from the one before. Main thread.
#pragma once

#include "gui/models/table/value_table.h"

#include <QColor>
#include <QString>
#include <QWidget>

#include <cstddef>
#include <optional>
#include <vector>

namespace sonde::gui {

struct Ridge {
  QString label;
  std::vector<double> heights;  // by bin; all ridges have as many
  Place place{};
};

struct RidgeData {
  QString ridgeTitle;  // "iteration"
  QString heightTitle;
  double low = 0;  // the axis of x: where the first bin begins, and the last one ends
  double high = 1;
  std::vector<Ridge> ridges;  // from the bottom upwards
  QColor color;
};

class RidgeChart : public QWidget {
  Q_OBJECT

 public:
  explicit RidgeChart(QWidget* parent = nullptr);

  void show(RidgeData data);
  [[nodiscard]] const RidgeData& data() const { return data_; }
  // Where the top of a bin is drawn.
  [[nodiscard]] QPointF positionOf(std::size_t ridge, std::size_t bin) const;
  // The tooltip there; empty: nothing is near.
  [[nodiscard]] QString textAt(const QPointF& at) const;
  [[nodiscard]] QSize sizeHint() const override { return {360, 360}; }

 signals:
  void clicked(const sonde::gui::Place& place);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Hit {
    std::size_t ridge;
    std::size_t bin;
  };
  [[nodiscard]] double steps() const;
  [[nodiscard]] QRectF plotRect() const;
  [[nodiscard]] double baseOf(std::size_t ridge) const;
  [[nodiscard]] std::size_t bins() const;
  [[nodiscard]] std::optional<Hit> hit(const QPointF& at) const;
  void paintRidge(QPainter& painter, std::size_t ridge) const;
  void paintAxis(QPainter& painter) const;

  RidgeData data_;
  double highest_ = 1;
};

}  // namespace sonde::gui
