// Which colour stands for which kinds, in one line. Main thread.
#pragma once

#include <QWidget>

namespace sonde::gui {

class LegendBar : public QWidget {
 public:
  explicit LegendBar(QWidget* parent = nullptr);

  [[nodiscard]] QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace sonde::gui
