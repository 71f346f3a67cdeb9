// Shows the whole trace in a strip: the activity of each process, and the timeline's window.
//
// Click or drag moves the window there; the wheel zooms it. Main thread; the models must outlive
// it.
#pragma once

#include "gui/models/trace_models.h"
#include "gui/views/theme.h"

#include <QWidget>

namespace sonde::gui {

class OverviewStrip : public QWidget {
  Q_OBJECT

 public:
  explicit OverviewStrip(TraceModels& models, QWidget* parent = nullptr);

  void setLabelWidth(int width);
  [[nodiscard]] QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void changeEvent(QEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;

 private:
  [[nodiscard]] QRect timeRect() const;
  [[nodiscard]] double xAt(std::int64_t ns) const;
  void moveTo(int x);
  void paintRows(QPainter& painter, const QRect& rect);
  void paintWindow(QPainter& painter, const QRect& rect);

  TraceModels& models_;
  Theme theme_;
  int labelWidth_ = 0;
};

}  // namespace sonde::gui
