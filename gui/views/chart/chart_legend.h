// The names of a chart's colours, in rows. Plain functions; main thread.
#pragma once

#include <QColor>
#include <QPainter>
#include <QRectF>
#include <QString>

#include <vector>

namespace sonde::gui {

struct LegendKey {
  QString name;
  QColor color;
};

// A row's height in pixels.
[[nodiscard]] double legendRowHeight(const QFontMetricsF& font);
// The number of rows that the keys need in that width, at most `mostRows`.
[[nodiscard]] int legendRows(const std::vector<LegendKey>& keys,
                             const QFontMetricsF& font,
                             double width,
                             int mostRows);
// Draws as many rows as `area` has room for, and at the end the number of keys without room.
void paintLegend(QPainter& painter,
                 const QRectF& area,
                 const std::vector<LegendKey>& keys,
                 const QColor& text);

}  // namespace sonde::gui
