#include "gui/views/chart/chart_legend.h"

#include <QCoreApplication>

#include <algorithm>

namespace sonde::gui {
namespace {

constexpr double kBox = 10;
constexpr double kBeforeName = 5;
constexpr double kBetweenKeys = 16;

QString moreText(std::size_t count) {
  return QCoreApplication::translate("Legend", "and %1 more").arg(count);
}

// The rows of the keys: those that begin at `first`, and so on, until there is no room.
struct LegendRow {
  std::size_t first = 0;
  std::size_t end = 0;
};

std::vector<LegendRow> rowsOf(const std::vector<LegendKey>& keys,
                              const QFontMetricsF& font,
                              double width,
                              int mostRows) {
  const double more = font.horizontalAdvance(moreText(keys.size())) + kBetweenKeys;
  std::vector<LegendRow> rows;
  std::size_t at = 0;
  while (at < keys.size() && static_cast<int>(rows.size()) < mostRows) {
    const bool isLast = static_cast<int>(rows.size()) + 1 == mostRows;
    LegendRow row{at, at};
    double x = 0;
    for (; row.end < keys.size(); ++row.end) {
      const double end = x + kBox + kBeforeName + font.horizontalAdvance(keys[row.end].name);
      const bool needsMore = isLast && row.end + 1 < keys.size();
      if (row.end > row.first && end + (needsMore ? more : 0) > width)
        break;
      x = end + kBetweenKeys;
    }
    rows.push_back(row);
    at = row.end;
  }
  return rows;
}

}  // namespace

double legendRowHeight(const QFontMetricsF& font) {
  return font.height() + 2;
}

int legendRows(const std::vector<LegendKey>& keys,
               const QFontMetricsF& font,
               double width,
               int mostRows) {
  return static_cast<int>(rowsOf(keys, font, width, mostRows).size());
}

void paintLegend(QPainter& painter,
                 const QRectF& area,
                 const std::vector<LegendKey>& keys,
                 const QColor& text) {
  const QFontMetricsF font = QFontMetricsF(painter.font());
  const double height = legendRowHeight(font);
  const int room = std::max(1, static_cast<int>(area.height() / height));
  const std::vector<LegendRow> rows = rowsOf(keys, font, area.width(), room);
  painter.setPen(text);
  double y = area.top();
  for (const LegendRow& row : rows) {
    double x = area.left();
    for (std::size_t at = row.first; at < row.end; ++at) {
      painter.fillRect(QRectF(x, y + (font.height() - kBox) / 2, kBox, kBox), keys[at].color);
      x += kBox + kBeforeName;
      painter.drawText(QPointF(x, y + font.ascent()), keys[at].name);
      x += font.horizontalAdvance(keys[at].name) + kBetweenKeys;
    }
    if (&row == &rows.back() && row.end < keys.size())
      painter.drawText(QPointF(x, y + font.ascent()), moreText(keys.size() - row.end));
    y += height;
  }
}

}  // namespace sonde::gui
