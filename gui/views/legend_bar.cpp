#include "gui/views/legend_bar.h"

#include "gui/views/theme.h"

#include <QPainter>

#include <algorithm>

namespace sonde::gui {
namespace {

constexpr int kMargin = 8;
constexpr int kSwatch = 12;
constexpr int kGap = 16;

}  // namespace

LegendBar::LegendBar(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName(tr("Legend"));
}

QSize LegendBar::sizeHint() const {
  return {400, fontMetrics().height() + 8};
}

void LegendBar::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const Theme theme(palette());
  painter.fillRect(rect(), theme.panel);
  painter.setPen(theme.border);
  painter.drawLine(rect().topLeft(), rect().topRight());
  int wanted = 2 * kMargin;
  for (const LegendEntry& entry : Theme::legend())
    wanted += kSwatch + 5 + painter.fontMetrics().horizontalAdvance(entry.label) + kGap;
  // Too narrow: texts are cut evenly rather than some left out.
  const double share = std::min(1.0, static_cast<double>(width()) / std::max(wanted, 1));
  double x = kMargin;
  for (const LegendEntry& entry : Theme::legend()) {
    const double text = painter.fontMetrics().horizontalAdvance(entry.label) + 1.0;
    const double cell = (kSwatch + 5 + text + kGap) * share;
    const QRectF swatch(x, (height() - kSwatch) / 2.0 + 1, kSwatch, kSwatch - 1);
    painter.fillRect(swatch, entry.color);
    painter.setPen(theme.dimText);
    const QRectF label(x + kSwatch + 5, 1, std::max(cell - kSwatch - 9, 0.0), height());
    painter.drawText(label,
                     Qt::AlignVCenter,
                     share < 1.0 ? painter.fontMetrics().elidedText(
                                       entry.label, Qt::ElideRight, static_cast<int>(label.width()))
                                 : entry.label);
    x += cell;
  }
}

}  // namespace sonde::gui
