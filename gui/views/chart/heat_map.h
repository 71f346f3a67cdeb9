// A matrix of values as colours, such as the times of iterations by rank. Any number of rows and
// columns fits: several that share a pixel show their largest value. Main thread.
//
// Keys: arrows move to another cell, with Shift they select a run, Enter is a click.
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
  struct Cell {
    std::size_t row;
    std::size_t column;
    bool operator==(const Cell&) const = default;
  };
  // Cells that follow each other down the columns, from left to right: a stretch of time if rows
  // are times within a column.
  struct Run {
    Cell first;
    Cell last;
    bool operator==(const Run&) const = default;
  };

  explicit HeatMap(QWidget* parent = nullptr);

  // Requires: as many values as rows × columns.
  void show(HeatData data);
  [[nodiscard]] const HeatData& data() const { return data_; }
  // Lets the user select runs.
  void setSelectable(bool isSelectable) { isSelectable_ = isSelectable; }
  // Outlines a run; nullopt: none. Requires: its cells exist.
  void setSelection(const std::optional<Run>& run);
  [[nodiscard]] const std::optional<Run>& selection() const { return selection_; }
  // Where a cell is drawn.
  [[nodiscard]] QRectF rectOf(std::size_t row, std::size_t column) const;
  [[nodiscard]] QSize sizeHint() const override { return {640, 360}; }

 signals:
  void clicked(std::size_t row, std::size_t column);
  // A click on a cell, or a drag from one to another.
  void runSelected(const sonde::gui::HeatMap::Run& run);
  void doubleClicked(std::size_t row, std::size_t column);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  [[nodiscard]] QRectF plotRect() const;
  [[nodiscard]] static Run runOf(const Cell& one, const Cell& other);
  [[nodiscard]] QString textOf(const Cell& cell) const;
  void moveTo(Cell cell, bool selects);
  [[nodiscard]] std::optional<Cell> hit(const QPointF& at) const;
  [[nodiscard]] QRgb colorOf(double value) const;
  void paintCells(QPainter& painter) const;
  void paintLabels(QPainter& painter) const;
  void paintScale(QPainter& painter) const;
  void paintSelection(QPainter& painter) const;

  HeatData data_;
  double low_ = 0;
  double high_ = 1;
  int labelWidth_ = 0;
  bool isSelectable_ = false;
  std::optional<Cell> pressed_;
  std::optional<Cell> current_;  // of the keyboard
  std::optional<Cell> anchor_;   // where its selection begins
  std::optional<Run> selection_;
};

}  // namespace sonde::gui
