// The timeline: ruler and iterations on top; below them processes with streams, threads and
// channels; labels on the left.
//
// Paints from TraceModels without queries; tells TimelineModel what is on screen. Keys and wheel
// follow Perfetto. Main thread; the models must outlive it.
#pragma once

#include "gui/models/trace_models.h"
#include "gui/views/slice_painter.h"
#include "gui/views/theme.h"

#include <QAbstractScrollArea>

#include <optional>
#include <vector>

namespace sonde::gui {

class TimelineView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  static constexpr int kRulerHeight = 28;
  static constexpr int kBandHeight = 18;

  explicit TimelineView(TraceModels& models, QWidget* parent = nullptr);

  void setColorBy(ColorBy colorBy);
  [[nodiscard]] ColorBy colorBy() const { return colorBy_; }
  [[nodiscard]] int labelWidth() const { return labelWidth_; }
  // The position of the viewport's pixel 0 and the content's first row in viewport() coordinates.
  [[nodiscard]] QPoint contentCorner() const;
  // The rectangle of a track's block in viewport() coordinates; empty if the track is folded away.
  [[nodiscard]] QRectF rectOf(int track, const Block& block) const;

  // Shows the whole trace, or its iterations if it has some.
  void showStart();
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
  enum class Drag { None, Pressed, Area, Pan, LabelWidth };
  struct Target {
    int track;
    Block block;
  };

  // timeline_view.cpp: geometry and requests
  [[nodiscard]] int headerHeight() const;
  [[nodiscard]] std::pair<std::size_t, std::size_t> visibleEntries(int margin) const;
  void updateScrollBar();
  void updateWidth();
  void request();
  // timeline_paint.cpp
  void paintTracks(QPainter& painter);
  void paintEntry(QPainter& painter, const LayoutEntry& entry, const PaintContext& context);
  void paintProcess(QPainter& painter, const QRect& rect, const LayoutEntry& entry);
  void paintLife(QPainter& painter, const QRect& rect, const ProcessInfo& process);
  void paintGroup(QPainter& painter, const QRect& rect, const LayoutEntry& entry);
  void paintTrackLabel(QPainter& painter, const QRect& rect, const TrackInfo& track);
  void paintHeader(QPainter& painter);
  void paintArea(QPainter& painter);
  void paintMessage(QPainter& painter);
  // timeline_arrows.cpp
  [[nodiscard]] QRectF anchorOf(const FoundEvent& event) const;
  void paintArrows(QPainter& painter);
  // timeline_input.cpp
  bool handleKey(int key, bool shift);
  void selectArea(const QPoint& from, const QPoint& to);
  void finishClick(const QPoint& at);
  void focusSelection();
  void markSelection(bool keep);
  void areaFromSelection();
  void clearAll();
  void zoom(double factor);
  [[nodiscard]] std::optional<Span> selectedSpan() const;
  // timeline_hover.cpp
  void updateHover(const QPoint& at);
  void showToolTip();
  [[nodiscard]] QString hoverText() const;
  [[nodiscard]] QString toolTipText() const;
  [[nodiscard]] QString processToolTip(int process) const;
  [[nodiscard]] const LayoutEntry* entryAt(const QPoint& at) const;
  [[nodiscard]] std::optional<Target> targetAt(const QPoint& at) const;

  TraceModels& models_;
  Theme theme_;
  ColorBy colorBy_ = ColorBy::Kind;
  int labelWidth_ = 236;
  Drag drag_ = Drag::None;
  QPoint pressedAt_;
  QPoint mouse_;
  Viewport pressedViewport_;
  int pressedScroll_ = 0;
  std::optional<Target> hover_;
  QString hoverScope_;
};

}  // namespace sonde::gui
