// Which colour stands for which kinds, in one line or as many as the width asks for. Main thread.
#pragma once

#include <QPoint>
#include <QWidget>

#include <vector>

namespace sonde::gui {

class LegendBar : public QWidget {
 public:
  explicit LegendBar(QWidget* parent = nullptr);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  // Where each entry stands when lines are `width` long; the last point is where the next line
  // would begin.
  [[nodiscard]] std::vector<QPoint> places(int width) const;
  [[nodiscard]] int lineHeight() const { return fontMetrics().height() + 6; }
};

}  // namespace sonde::gui
