#include "gui/views/legend_bar.h"

#include "gui/views/theme.h"

#include <QPainter>
#include <QResizeEvent>

namespace sonde::gui {
namespace {

constexpr int kLegendMargin = 8;
constexpr int kSwatch = 12;
constexpr int kTextGap = 5;
constexpr int kEntryGap = 16;

}  // namespace

LegendBar::LegendBar(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName(tr("Legend"));
  setFixedHeight(lineHeight());
}

std::vector<QPoint> LegendBar::places(int width) const {
  std::vector<QPoint> result;
  QPoint at(kLegendMargin, 1);
  for (const LegendEntry& entry : Theme::legend()) {
    const int cell = kSwatch + kTextGap + fontMetrics().horizontalAdvance(entry.label) + kEntryGap;
    if (at.x() > kLegendMargin && at.x() + cell - kEntryGap > width - kLegendMargin)
      at = {kLegendMargin, at.y() + lineHeight()};
    result.push_back(at);
    at.rx() += cell;
  }
  result.emplace_back(kLegendMargin, at.y() + lineHeight());
  return result;
}

void LegendBar::resizeEvent(QResizeEvent* event) {
  const int height = places(event->size().width()).back().y();
  if (height != this->height())
    setFixedHeight(height);
}

void LegendBar::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const Theme theme(palette());
  painter.fillRect(rect(), theme.panel);
  painter.setPen(theme.border);
  painter.drawLine(rect().topLeft(), rect().topRight());
  const std::vector<QPoint> at = places(width());
  const std::vector<LegendEntry> entries = Theme::legend();
  for (std::size_t entry = 0; entry < entries.size(); ++entry) {
    const QRect line(at[entry], QSize(width(), lineHeight()));
    const int top = line.top() + (line.height() - kSwatch) / 2;
    // Stripes from the first colour to the last, each over the rest of the swatch.
    const std::vector<QColor>& colors = entries[entry].colors;
    for (std::size_t stripe = 0; stripe < colors.size(); ++stripe) {
      const int from = static_cast<int>(stripe * kSwatch / colors.size());
      painter.fillRect(line.left() + from, top, kSwatch - from, kSwatch, colors[stripe]);
    }
    painter.setPen(theme.dimText);
    painter.drawText(
        line.adjusted(kSwatch + kTextGap, 0, 0, 0), Qt::AlignVCenter, entries[entry].label);
  }
}

}  // namespace sonde::gui
