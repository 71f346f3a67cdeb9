// Paints the blocks of one track. Main thread; knows nothing of databases.
//
// What is narrower than a pixel still shows: the first such block of a pixel column paints it,
// later ones of the column are passed over, so a frame costs about the window's pixels and not the
// number of slices.
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
  QString searched;  // names that contain it are outlined; empty: none
};

class SlicePainter {
 public:
  SlicePainter(QPainter& painter, const PaintContext& context);

  // `left` and `top` are where the viewport's pixel 0 and the track's row 0 lie.
  void paint(const std::vector<Block>& blocks,
             const QHash<std::uint32_t, QString>& names,
             QPointF corner);

  // Where `block` is drawn; at least one pixel wide. An open block reaches to the end of the trace.
  [[nodiscard]] static QRectF rectOf(const Block& block,
                                     const PaintContext& context,
                                     QPointF corner);

 private:
  // Diamonds reach over what stands beside them, so they come last.
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
