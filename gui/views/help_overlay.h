// Shows the keys over the whole window until any key or click. Main thread.
#pragma once

#include <QWidget>

namespace sonde::gui {

class HelpOverlay : public QWidget {
 public:
  // Covers `parent` and follows its size.
  explicit HelpOverlay(QWidget* parent);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace sonde::gui
