// Shows the colours of kinds, in as many lines as the width requires. Main thread.
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
  // The position of each entry in lines of length `width`; the last point is the begin of the next
  // line.
  [[nodiscard]] std::vector<QPoint> places(int width) const;
  [[nodiscard]] int lineHeight() const { return fontMetrics().height() + 6; }
};

}  // namespace sonde::gui
