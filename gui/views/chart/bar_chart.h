// Horizontal bars of stacked parts with labels and a legend, such as where the time of each rank
// went. Scrolls if the bars need more room. Main thread.
#pragma once

#include "gui/models/table/value_table.h"
#include "gui/views/chart/chart_legend.h"

#include <QAbstractScrollArea>
#include <QColor>
#include <QString>

#include <optional>
#include <vector>

namespace sonde::gui {

// The parts that bars are made of; the index is that in BarData::parts.
struct Bar {
  QString label;
  std::vector<double> values;   // one a part, of one unit; 0: none
  std::optional<double> low{};  // of the sum: drawn as an interval at its end
  std::optional<double> high{};
  Place place{};
};

struct BarData {
  std::vector<LegendKey> parts;
  std::vector<Bar> bars;
  ValueKind unit = ValueKind::Duration;
};

class BarChart : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit BarChart(QWidget* parent = nullptr);

  void show(BarData data);
  [[nodiscard]] const BarData& data() const { return data_; }
  // The rectangle of a part on the viewport; empty if it has no width.
  [[nodiscard]] QRectF rectOf(std::size_t bar, std::size_t part) const;
  [[nodiscard]] QSize sizeHint() const override;

 signals:
  // A click on a bar; `part`: the name of the part, empty beside all.
  void clicked(const sonde::gui::Place& place, const QString& part);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  bool viewportEvent(QEvent* event) override;

 private:
  struct Hit {
    std::size_t bar;
    std::optional<std::size_t> part;
  };
  [[nodiscard]] int barTop(std::size_t bar) const;
  [[nodiscard]] double legendWidth() const;
  [[nodiscard]] int legendHeight() const;
  [[nodiscard]] double xOf(double value) const;
  [[nodiscard]] std::optional<Hit> hit(const QPointF& at) const;
  [[nodiscard]] QString textOf(const Hit& hit) const;
  void paintBar(QPainter& painter, std::size_t bar) const;
  void layOut();

  BarData data_;
  std::vector<LegendKey> legend_;  // the parts that any bar has
  double largest_ = 0;
  int labelWidth_ = 0;
};

}  // namespace sonde::gui
