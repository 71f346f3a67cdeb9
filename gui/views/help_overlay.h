// Shows the keys over the whole window until any key or click. Main thread.
#pragma once

#include <QString>
#include <QWidget>

#include <vector>

namespace sonde::gui {

struct HelpLine {
  QString keys;
  QString what;
};

class HelpOverlay : public QWidget {
 public:
  // Covers `parent` and follows its size.
  HelpOverlay(std::vector<HelpLine> lines, QWidget* parent);

  [[nodiscard]] const std::vector<HelpLine>& lines() const { return lines_; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void paintLine(QPainter& painter, const QRect& line, const HelpLine& help) const;

  std::vector<HelpLine> lines_;
};

}  // namespace sonde::gui
