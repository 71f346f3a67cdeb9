#include "gui/views/chart/scatter_chart.h"

#include "gui/views/theme.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace sonde::gui {
namespace {

constexpr int kScatterLeft = 70;
constexpr int kScatterRight = 16;
constexpr int kScatterTop = 22;     // the title
constexpr int kScatterLegend = 22;  // below it
constexpr int kScatterMargin = 8;
constexpr int kScatterBottom = 38;
constexpr double kLeastRadius = 3;
constexpr double kMostRadius = 18;

bool isDrawn(double x, double y) {
  return x > 0 && y > 0 && std::isfinite(x) && std::isfinite(y);
}

// The powers of ten around, with some room.
void widen(double& low, double& high) {
  constexpr double kRoom = 1.3;
  low = std::pow(10, std::floor(std::log10(low / kRoom)));
  high = std::pow(10, std::ceil(std::log10(high * kRoom)));
}

}  // namespace

ScatterChart::ScatterChart(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
}

void ScatterChart::show(ScatterData data) {
  data_ = std::move(data);
  selected_.reset();
  order_.clear();
  lowX_ = lowY_ = HUGE_VAL;
  highX_ = highY_ = heaviest_ = 0;
  const auto cover = [this](double x, double y) {
    lowX_ = std::min(lowX_, x);
    highX_ = std::max(highX_, x);
    lowY_ = std::min(lowY_, y);
    highY_ = std::max(highY_, y);
  };
  for (std::size_t at = 0; at < data_.points.size(); ++at) {
    const ScatterPoint& point = data_.points[at];
    if (!isDrawn(point.x, point.y))
      continue;
    order_.push_back(at);
    cover(point.x, point.y);
    heaviest_ = std::max(heaviest_, point.weight);
  }
  for (const ScatterLine& line : data_.lines)
    for (const QPointF& point : line.points)
      cover(point.x(), point.y());
  if (!isDrawn(lowX_, lowY_) || !isDrawn(highX_, highY_)) {
    lowX_ = lowY_ = 0.1;
    highX_ = highY_ = 10;
  }
  widen(lowX_, highX_);
  widen(lowY_, highY_);
  std::stable_sort(order_.begin(), order_.end(), [this](std::size_t a, std::size_t b) {
    return data_.points[a].weight > data_.points[b].weight;
  });
  update();
}

void ScatterChart::select(std::optional<std::size_t> point) {
  selected_ = point;
  update();
}

QRectF ScatterChart::plotRect() const {
  return QRectF(rect()).adjusted(
      kScatterLeft, kScatterTop + kScatterLegend, -kScatterRight, -kScatterBottom);
}

QPointF ScatterChart::positionOf(double x, double y) const {
  const QRectF plot = plotRect();
  const auto share = [](double value, double low, double high) {
    return std::log(value / low) / std::log(high / low);
  };
  return {plot.left() + share(x, lowX_, highX_) * plot.width(),
          plot.bottom() - share(y, lowY_, highY_) * plot.height()};
}

double ScatterChart::radiusOf(const ScatterPoint& point) const {
  const double share = heaviest_ > 0 ? std::max(point.weight, 0.0) / heaviest_ : 0;
  return std::max(kLeastRadius, kMostRadius * std::sqrt(share));
}

// The lightest one there, which is drawn over the others.
std::optional<std::size_t> ScatterChart::hit(const QPointF& at) const {
  constexpr double kNear = 3;
  for (auto place = order_.rbegin(); place != order_.rend(); ++place) {
    const ScatterPoint& point = data_.points[*place];
    const QPointF away = positionOf(point.x, point.y) - at;
    const double reach = radiusOf(point) + kNear;
    if (QPointF::dotProduct(away, away) <= reach * reach)
      return *place;
  }
  return std::nullopt;
}

QString ScatterChart::textAt(const QPointF& at) const {
  const auto found = hit(at);
  return found ? data_.points[*found].text : QString();
}

void ScatterChart::mousePressEvent(QMouseEvent* event) {
  if (const auto found = hit(event->position()))
    emit clicked(*found);
}

bool ScatterChart::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip)
    return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  QToolTip::showText(help->globalPos(), textAt(help->pos()), this);
  return true;
}

void ScatterChart::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.fillRect(rect(), Theme(palette()).background);
  paintAxes(painter);
  painter.setRenderHint(QPainter::Antialiasing);
  for (const std::size_t at : order_)
    paintPoint(painter, at);
  if (selected_)
    paintPoint(painter, *selected_);
  paintLines(painter);
  painter.setRenderHint(QPainter::Antialiasing, false);
  paintLegend(painter,
              QRectF(kScatterMargin, kScatterTop, width() - 2 * kScatterMargin, kScatterLegend),
              data_.legend,
              Theme(palette()).dimText);
}

// A mark at each power of ten.
void ScatterChart::paintAxes(QPainter& painter) const {
  const Theme theme(palette());
  const QRectF plot = plotRect();
  constexpr double kRounding = 1.0001;
  for (double x = lowX_; x <= highX_ * kRounding; x *= 10) {
    const double at = positionOf(x, lowY_).x();
    painter.setPen(theme.grid);
    painter.drawLine(QPointF(at, plot.top()), QPointF(at, plot.bottom()));
    painter.setPen(theme.dimText);
    painter.drawText(QRectF(at - 40, plot.bottom() + 2, 80, 16),
                     Qt::AlignCenter,
                     numberText(x, ValueKind::Scaled));
  }
  for (double y = lowY_; y <= highY_ * kRounding; y *= 10) {
    const double at = positionOf(lowX_, y).y();
    painter.setPen(theme.grid);
    painter.drawLine(QPointF(plot.left(), at), QPointF(plot.right(), at));
    painter.setPen(theme.dimText);
    painter.drawText(QRectF(0, at - 9, kScatterLeft - 6, 18),
                     Qt::AlignRight | Qt::AlignVCenter,
                     numberText(y, ValueKind::Scaled));
  }
  painter.setPen(theme.dimText);
  painter.drawText(
      QRectF(plot.left(), plot.bottom() + 18, plot.width(), 16), Qt::AlignCenter, data_.xTitle);
  painter.drawText(QRectF(kScatterMargin, 2, width(), 16), Qt::AlignLeft, data_.yTitle);
}

void ScatterChart::paintLines(QPainter& painter) const {
  const Theme theme(palette());
  const QRectF plot = plotRect();
  for (const ScatterLine& line : data_.lines) {
    painter.setPen(QPen(theme.text, 1.4));
    for (std::size_t at = 1; at < line.points.size(); ++at)
      painter.drawLine(positionOf(line.points[at - 1].x(), line.points[at - 1].y()),
                       positionOf(line.points[at].x(), line.points[at].y()));
    if (line.points.empty())
      continue;
    const QPointF end = positionOf(line.points.back().x(), line.points.back().y());
    painter.setPen(theme.dimText);
    painter.drawText(QRectF(plot.left(), end.y() - 17, end.x() - plot.left() - 4, 16),
                     Qt::AlignRight | Qt::AlignVCenter,
                     line.name);
  }
}

void ScatterChart::paintPoint(QPainter& painter, std::size_t at) const {
  const ScatterPoint& point = data_.points.at(at);
  if (!isDrawn(point.x, point.y))
    return;
  const Theme theme(palette());
  const bool isSelected = selected_ == at;
  QColor fill = point.color;
  fill.setAlphaF(isSelected ? 1.0F : 0.6F);
  painter.setBrush(fill);
  painter.setPen(isSelected ? QPen(theme.text, 2) : QPen(theme.background, 0.8));
  const double radius = radiusOf(point);
  painter.drawEllipse(positionOf(point.x, point.y), radius, radius);
}

}  // namespace sonde::gui
