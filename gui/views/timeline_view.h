// The timeline: ruler and iterations on top; below them processes with streams, threads and
// channels; labels on the left.
//
// Handles the events of its widget; TimelineGeometry places what TrackPainter paints. Reads from
// TraceModels without queries, and tells TimelineModel what is on screen. Main thread; the models
// must outlive it.
#pragma once

#include "gui/models/trace_models.h"
#include "gui/views/theme.h"
#include "gui/views/timeline_geometry.h"
#include "gui/views/tracks/process_drag.h"

#include <QAbstractScrollArea>

#include <optional>

namespace sonde::gui {

class TimelineView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit TimelineView(TraceModels& models, QWidget* parent = nullptr);

  [[nodiscard]] int labelWidth() const { return labelWidth_; }
  [[nodiscard]] TimelineGeometry currentGeometry() const;

  // The line under the mouse; without one, that of the selected event.
  [[nodiscard]] std::optional<LayoutEntry> currentLine() const;

  // Brings an event into view: unfolds and scrolls as needed; zooms only if it would be tiny.
  void bringIntoView(const FoundEvent& event);
  void scrollToTrack(int track);

 signals:
  // The text about the item under the mouse, for the status line.
  void hovered(const QString& text);
  void labelWidthChanged(int width);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;

 private:
  enum class Drag { None, Pressed, Area, Pan, LabelWidth, Process };

  void connectModels();
  // Shows the whole trace, or its iterations if it has some.
  void showStart();
  void updateScrollBar();
  void updateWidth();
  void request();
  void finishClick(const QPoint& at);
  void updateHover(const QPoint& at);
  void showToolTip();

  TraceModels& models_;
  Theme theme_;
  int labelWidth_ = 236;
  Drag drag_ = Drag::None;
  QPoint pressedAt_;
  Viewport pressedViewport_;
  int pressedScroll_ = 0;
  int pinnedScroll_ = 0;
  ProcessDrag processDrag_;
  QPoint mouse_;
  std::optional<Target> hover_;
  std::optional<Target> clicked_;  // by the last click
  QString hoverScope_;             // of hover_; empty: not known
};

}  // namespace sonde::gui
