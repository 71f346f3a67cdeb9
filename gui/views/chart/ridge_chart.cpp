#include "gui/views/chart/ridge_chart.h"

#include "gui/views/theme.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace sonde::gui {
namespace {

constexpr int kRidgeLeft = 64;
constexpr int kRidgeRight = 12;
constexpr int kRidgeTop = 8;
constexpr int kRidgeBottom = 22;
// The highest curve reaches over so many of the ones above it.
constexpr double kOverlap = 3;
// The height of a curve by the width of the chart, at most: few ridges do not fill a tall chart.
constexpr double kTallest = 0.4;

}  // namespace

RidgeChart::RidgeChart(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
}

void RidgeChart::show(RidgeData data) {
  data_ = std::move(data);
  highest_ = 0;
  for (const Ridge& ridge : data_.ridges)
    for (const double height : ridge.heights)
      highest_ = std::max(highest_, height);
  update();
}

std::size_t RidgeChart::bins() const {
  return data_.ridges.empty() ? 0 : data_.ridges.front().heights.size();
}

// The steps between ridges; the last ridge has room for its whole curve.
double RidgeChart::steps() const {
  return static_cast<double>(data_.ridges.size()) + kOverlap - 1;
}

QRectF RidgeChart::plotRect() const {
  QRectF plot = QRectF(rect()).adjusted(kRidgeLeft, kRidgeTop, -kRidgeRight, -kRidgeBottom);
  plot.setHeight(std::min(plot.height(), plot.width() * kTallest / kOverlap * steps()));
  return plot;
}

// Where a height of 0 is drawn.
double RidgeChart::baseOf(std::size_t ridge) const {
  const QRectF plot = plotRect();
  const double step = plot.height() / steps();
  return plot.bottom() - static_cast<double>(ridge) * step;
}

QPointF RidgeChart::positionOf(std::size_t ridge, std::size_t bin) const {
  const QRectF plot = plotRect();
  const double step = plot.height() / steps();
  const double height = data_.ridges.at(ridge).heights.at(bin);
  return {
      plot.left() + (static_cast<double>(bin) + 0.5) / static_cast<double>(bins()) * plot.width(),
      baseOf(ridge) - (highest_ > 0 ? height / highest_ * step * kOverlap : 0)};
}

// The lowest ridge in front whose curve is over the position.
std::optional<RidgeChart::Hit> RidgeChart::hit(const QPointF& at) const {
  const QRectF plot = plotRect();
  if (bins() == 0 || !plot.contains(at))
    return std::nullopt;
  const auto bin = std::min(
      static_cast<std::size_t>((at.x() - plot.left()) / plot.width() * static_cast<double>(bins())),
      bins() - 1);
  constexpr double kNear = 3;
  for (std::size_t ridge = 0; ridge < data_.ridges.size(); ++ridge)
    if (at.y() >= positionOf(ridge, bin).y() - kNear && at.y() <= baseOf(ridge) + kNear)
      return Hit{ridge, bin};
  return std::nullopt;
}

QString RidgeChart::textAt(const QPointF& at) const {
  const auto found = hit(at);
  if (!found)
    return {};
  const double width = (data_.high - data_.low) / static_cast<double>(bins());
  const double begin = data_.low + static_cast<double>(found->bin) * width;
  const Ridge& ridge = data_.ridges[found->ridge];
  return tr("%1 %2, %3 to %4: %5 %6")
      .arg(data_.ridgeTitle,
           ridge.label,
           numberText(begin, ValueKind::Real),
           numberText(begin + width, ValueKind::Real),
           numberText(ridge.heights[found->bin], ValueKind::Share),
           data_.heightTitle);
}

void RidgeChart::mousePressEvent(QMouseEvent* event) {
  if (const auto found = hit(event->position()))
    emit clicked(Place(data_.ridges[found->ridge].place));
}

bool RidgeChart::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip)
    return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  QToolTip::showText(help->globalPos(), textAt(help->pos()), this);
  return true;
}

void RidgeChart::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.fillRect(rect(), Theme(palette()).background);
  if (bins() == 0)
    return;
  paintAxis(painter);
  painter.setRenderHint(QPainter::Antialiasing);
  for (std::size_t ridge = data_.ridges.size(); ridge-- > 0;)
    paintRidge(painter, ridge);
}

void RidgeChart::paintRidge(QPainter& painter, std::size_t ridge) const {
  const Theme theme(palette());
  QPainterPath curve(QPointF(plotRect().left(), baseOf(ridge)));
  for (std::size_t bin = 0; bin < bins(); ++bin)
    curve.lineTo(positionOf(ridge, bin));
  curve.lineTo(plotRect().right(), baseOf(ridge));
  // Later ones are paler.
  const double share = data_.ridges.size() < 2 ? 0
                                               : static_cast<double>(ridge) /
                                                     static_cast<double>(data_.ridges.size() - 1);
  painter.setPen(QPen(theme.background, 1));
  painter.setBrush(theme.faded(data_.color, 1 - 0.6 * share));
  painter.drawPath(curve);
}

void RidgeChart::paintAxis(QPainter& painter) const {
  const Theme theme(palette());
  const QRectF plot = plotRect();
  constexpr int kMarks = 4;
  for (int mark = 0; mark <= kMarks; ++mark) {
    const double share = static_cast<double>(mark) / kMarks;
    const double x = plot.left() + share * plot.width();
    painter.setPen(theme.grid);
    painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
    painter.setPen(theme.dimText);
    const double value = data_.low + share * (data_.high - data_.low);
    const bool isZero = std::abs(value) < (data_.high - data_.low) * 1e-9;
    painter.drawText(QRectF(x - 40, plot.bottom() + 3, mark == kMarks ? 40 + kRidgeRight : 80, 16),
                     mark == kMarks ? Qt::AlignRight : Qt::AlignHCenter,
                     QString::number(isZero ? 0 : value, 'g', 3));
  }
  const double step = plot.height() / steps();
  if (!(step > 0))
    return;
  const auto every =
      static_cast<std::size_t>(std::max(std::ceil(fontMetrics().height() / step), 1.0));
  painter.setPen(theme.dimText);
  for (std::size_t ridge = 0; ridge < data_.ridges.size(); ridge += every)
    painter.drawText(QRectF(0, baseOf(ridge) - 9, kRidgeLeft - 6, 18),
                     Qt::AlignRight | Qt::AlignVCenter,
                     data_.ridges[ridge].label);
}

}  // namespace sonde::gui
