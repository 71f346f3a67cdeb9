#include "gui/views/chart/line_chart.h"

#include "gui/views/chart/chart_legend.h"
#include "gui/views/theme.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sonde::gui {
namespace {

constexpr int kLeft = 84;
constexpr int kRight = 12;
constexpr int kTop = 22;
constexpr int kBottom = 20;
constexpr double kNearPx = 24;
constexpr double kPoint = 3;        // the radius of a single point
constexpr double kHeadroom = 1.04;  // above the highest value

// Marks at multiples of a step of 1, 2 or 5 × 10^n, not below `leastStep`: at most `most`, and few
// even if doubles can hardly tell the bounds apart.
std::vector<double> ticksOf(double low, double high, int most, double leastStep) {
  constexpr int kMost = 50;
  const double least = std::max((high - low) / std::clamp(most, 2, kMost), leastStep);
  if (!(least > 0) || !std::isfinite(least))
    return {};
  const double power = std::pow(10, std::floor(std::log10(least)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0})
    if (factor * power >= least)
      step = factor * power;
  std::vector<double> ticks;
  const double first = std::ceil(low / step);
  for (int at = 0; at <= kMost && (first + at) * step <= high; ++at)
    ticks.push_back((first + at) * step);
  return ticks;
}

// Bytes have marks at multiples of their binary unit.
std::vector<double> valueTicks(double low, double high, int most, ValueKind unit) {
  if ((unit != ValueKind::Bytes && unit != ValueKind::Rate) || !(high > 1))
    return ticksOf(low, high, most, 0);
  const double scale = std::pow(1024, std::floor(std::log2(high) / 10));
  std::vector<double> ticks = ticksOf(low / scale, high / scale, most, 0);
  for (double& tick : ticks)
    tick *= scale;
  return ticks;
}

// Bytes have enough digits to tell neighbours apart.
QString tickText(double tick, double step, double high, ValueKind unit) {
  const QString text = numberText(tick, unit);
  if ((unit != ValueKind::Bytes && unit != ValueKind::Rate) || !(high > 1) || !(step > 0))
    return text;
  const double scale = std::pow(1024, std::floor(std::log2(high) / 10));
  const int decimals = static_cast<int>(std::ceil(-std::log10(step / scale) - 1e-9));
  const QString ofHigh = numberText(high, unit);
  return decimals < 2 ? text
                      : QString::number(tick / scale, 'f', std::min(decimals, 4)) +
                            ofHigh.mid(ofHigh.indexOf(QChar::Nbsp));
}

}  // namespace

LineChart::LineChart(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
}

void LineChart::show(LineData data) {
  data_ = std::move(data);
  findBounds();
  lowX_ = data_.lowX.value_or(lowX_);
  highX_ = data_.highX.value_or(highX_);
  if (data_.fromZero) {
    lowY_ = std::min(lowY_, 0.0);
    highY_ = std::max(highY_, 0.0) * kHeadroom;
  }
  if (!(highX_ > lowX_)) {  // a single point is in the middle
    const double middle = std::isfinite(lowX_) ? lowX_ : 0.5;
    lowX_ = middle - 0.5;
    highX_ = middle + 0.5;
  }
  if (!(highY_ > lowY_))
    highY_ = (lowY_ = std::isfinite(lowY_) ? lowY_ : 0) + 1;
  // Values that doubles can hardly tell apart are a flat line in the middle.
  if (const double middle = lowY_ / 2 + highY_ / 2, least = std::abs(middle) * 1e-9;
      highY_ - lowY_ < least) {
    lowY_ = middle - least;
    highY_ = middle + least;
  }
  update();
}

// The range of all points.
void LineChart::findBounds() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  lowX_ = lowY_ = kInfinity;
  highX_ = highY_ = -kInfinity;
  for (const Series& series : data_.series)
    for (const ChartPoint& point : series.points) {
      lowX_ = std::min(lowX_, point.x);
      highX_ = std::max(highX_, point.x);
      if (!std::isfinite(point.y))
        continue;
      lowY_ = std::min(lowY_, point.y);
      highY_ = std::max(highY_, point.y);
    }
}

QRectF LineChart::plotRect() const {
  return QRectF(rect()).adjusted(kLeft, kTop, -kRight, -kBottom);
}

QPointF LineChart::positionOf(const ChartPoint& point) const {
  const QRectF plot = plotRect();
  return {plot.left() + (point.x - lowX_) / (highX_ - lowX_) * plot.width(),
          plot.bottom() - (point.y - lowY_) / (highY_ - lowY_) * plot.height()};
}

std::optional<LineChart::Hit> LineChart::nearest(const QPointF& at) const {
  std::optional<Hit> found;
  double best = kNearPx * kNearPx;
  for (const Series& series : data_.series)
    for (const ChartPoint& point : series.points) {
      const QPointF away = positionOf(point) - at;
      const double distance = QPointF::dotProduct(away, away);
      if (distance < best) {
        best = distance;
        found = Hit{&series, &point};
      }
    }
  return found;
}

void LineChart::mousePressEvent(QMouseEvent* event) {
  const QRectF plot = plotRect();
  if (plot.contains(event->position()))
    emit clickedAt(lowX_ + (event->position().x() - plot.left()) / plot.width() * (highX_ - lowX_));
  if (const auto hit = nearest(event->position()))
    emit clicked(Place(hit->point->place));
}

bool LineChart::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip)
    return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const auto hit = nearest(help->pos());
  QToolTip::showText(help->globalPos(),
                     hit ? tr("%1, %2 %3: %4")
                               .arg(hit->series->name, data_.xTitle)
                               .arg(hit->point->x)
                               .arg(numberText(hit->point->y, data_.unit))
                         : QString(),
                     this);
  return true;
}

void LineChart::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.fillRect(rect(), Theme(palette()).background);
  paintAxes(painter);
  painter.setRenderHint(QPainter::Antialiasing);
  for (const Series& series : data_.series) {
    const double over = series.points.size() == 1 ? kPoint + 1 : 1;  // a single point is whole
    painter.setClipRect(plotRect().adjusted(-over, -over, over, over));
    paintSeries(painter, series);
  }
  painter.setClipping(false);
  paintMarks(painter);
  paintLegend(painter);
}

void LineChart::paintAxes(QPainter& painter) const {
  const bool isEmpty = std::all_of(data_.series.begin(),
                                   data_.series.end(),
                                   [](const Series& each) { return each.points.empty(); });
  if (isEmpty)
    return;
  const Theme theme(palette());
  const QRectF plot = plotRect();
  const std::vector<double> ticks =
      valueTicks(lowY_, highY_, static_cast<int>(plot.height() / 36), data_.unit);
  const double step = ticks.size() < 2 ? 0 : ticks[1] - ticks[0];
  for (const double y : ticks) {
    const double at = positionOf({lowX_, y}).y();
    painter.setPen(theme.grid);
    painter.drawLine(QPointF(plot.left(), at), QPointF(plot.right(), at));
    painter.setPen(theme.dimText);
    painter.drawText(QRectF(0, at - 9, kLeft - 6, 18),
                     Qt::AlignRight | Qt::AlignVCenter,
                     tickText(y, step, highY_, data_.unit));
  }
  painter.setPen(theme.dimText);
  for (const double x :
       ticksOf(lowX_, highX_, static_cast<int>(plot.width() / 90), data_.leastStepX))
    painter.drawText(QRectF(positionOf({x, lowY_}).x() - 40, plot.bottom() + 2, 80, 16),
                     Qt::AlignCenter,
                     QString::number(x));
  painter.drawText(QRectF(plot.left(), 2, plot.width(), 16), Qt::AlignRight, data_.xTitle);
}

void LineChart::paintSeries(QPainter& painter, const Series& series) const {
  painter.setPen(QPen(series.color, 1.4));
  std::optional<QPointF> before;
  for (const ChartPoint& point : series.points) {
    if (!std::isfinite(point.y)) {
      before.reset();
      continue;
    }
    const QPointF at = positionOf(point);
    if (before && series.isStepped) {
      painter.drawLine(*before, QPointF(at.x(), before->y()));
      painter.drawLine(QPointF(at.x(), before->y()), at);
    } else if (before) {
      painter.drawLine(*before, at);
    } else {
      const double radius = series.points.size() > 1 ? 1.2 : kPoint;
      painter.setBrush(series.color);
      painter.drawEllipse(at, radius, radius);
    }
    before = at;
  }
}

void LineChart::paintMarks(QPainter& painter) const {
  const Theme theme(palette());
  const QRectF plot = plotRect();
  for (const ChartMark& mark : data_.marks) {
    const double x = positionOf({mark.x, lowY_}).x();
    if (x < plot.left() || x > plot.right())
      continue;
    painter.setPen(QPen(theme.mark, 1, Qt::DashLine));
    painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
    painter.setPen(theme.text);
    const int width = fontMetrics().horizontalAdvance(mark.label);
    const bool isLeft = x + 6 + width > plot.right();
    const QRectF room(isLeft ? x - 8 - width : x + 4, plot.top() + 1, width + 4, 16);
    painter.fillRect(room, theme.background);
    painter.drawText(room, Qt::AlignCenter, mark.label);
  }
}

void LineChart::paintLegend(QPainter& painter) const {
  if (data_.series.size() < 2)
    return;
  std::vector<LegendKey> keys;
  for (const Series& series : data_.series)
    keys.push_back({series.name, series.color});
  const double right = plotRect().right() - fontMetrics().horizontalAdvance(data_.xTitle) - 8;
  gui::paintLegend(painter, QRectF(kLeft, 2, right - kLeft, kTop), keys, Theme(palette()).dimText);
}

}  // namespace sonde::gui
