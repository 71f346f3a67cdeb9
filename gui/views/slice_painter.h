// Paints the blocks of one track. Main thread; does not use the database.
//
// Blocks narrower than a pixel remain visible: the first one in a pixel column paints it, and later
// ones in the column are skipped. So a frame costs about the window's pixels, not the number of
// slices.
#pragma once

#include "gui/models/viewport.h"
#include "gui/trace/trace_data.h"
#include "gui/views/theme.h"

#include <QFontMetricsF>
#include <QHash>
#include <QPainter>

#include <optional>
#include <utility>
#include <vector>

namespace sonde::gui {

struct PaintContext {
  const Viewport& viewport;
  const Theme& theme;
  ColorBy colorBy = ColorBy::Kind;
  std::int64_t traceEndNs = 0;
  std::optional<EventRef> selected;
  std::optional<EventRef> hovered;
  QString searched;                       // names that contain it are outlined; empty: none
  std::optional<std::int64_t> mouseNs{};  // the time under the mouse
};

class SlicePainter {
 public:
  SlicePainter(QPainter& painter, const PaintContext& context);

  // `corner`: position of the viewport's pixel 0 and the track's row 0.
  void paint(const std::vector<Block>& blocks,
             const QHash<std::uint32_t, QString>& names,
             QPointF corner);

  // The rectangle of `block`; at least one pixel wide. An open block extends to the end of the
  // trace.
  [[nodiscard]] static QRectF rectOf(const Block& block,
                                     const Viewport& viewport,
                                     std::int64_t traceEndNs,
                                     QPointF corner);

 private:
  // Diamonds overlap their neighbours, so they come last.
  void paintMarks();
  void paintBlock(const Block& block, const QRectF& rect, const QString& name);
  void paintOpenEnd(const QRectF& rect, const QColor& fill);
  void paintText(const Block& block, const QRectF& rect, const QColor& fill, const QString& name);
  [[nodiscard]] QString elided(const QString& label, double room) const;
  void paintOutline(const QRectF& rect, const QColor& color, int width);

  QPainter& painter_;
  const PaintContext& context_;
  QFontMetricsF metrics_;
  double averageChar_;
  QRectF selectedRect_;
  std::vector<std::pair<QRectF, QColor>> marks_;
  QRectF window_;  // the columns of the viewport
};

}  // namespace sonde::gui
