#include "gui/views/chart/lane_chart.h"

#include "gui/trace/time_format.h"
#include "gui/views/theme.h"

#include <QHash>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <utility>

namespace sonde::gui {
namespace {

constexpr int kLaneHeight = 18;
constexpr int kLaneGap = 2;
constexpr int kLaneMargin = 8;
constexpr int kMostLabel = 240;
constexpr std::int64_t kLeastRangeNs = 100;
constexpr double kZoomStep = 1.25;
constexpr double kWheelStep = 120;  // of Qt's angle deltas
constexpr std::size_t kManyLanes = 12;

}  // namespace

std::vector<LaneGroup> aboveEachOther(LaneGroup first, LaneGroup second) {
  if (std::max(first.lanes.size(), second.lanes.size()) <= kManyLanes)
    return {std::move(first), std::move(second)};
  std::vector<LaneGroup> groups;
  QHash<QString, std::size_t> places;  // in `groups`
  const auto add = [&](const LaneGroup& from, std::size_t row) {
    for (const QString& lane : from.lanes) {
      if (places.contains(lane))
        continue;
      places.insert(lane, groups.size());
      groups.push_back(
          {lane, {first.title, second.title}, {}, std::max(first.endNs, second.endNs)});
    }
    for (LaneSpan span : from.spans) {
      std::vector<LaneSpan>& spans = groups[places.value(from.lanes[span.lane])].spans;
      span.lane = row;
      spans.push_back(std::move(span));
    }
  };
  add(first, 0);
  add(second, 1);
  return groups;
}

LaneChart::LaneChart(QWidget* parent) : QAbstractScrollArea(parent) {
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFocusPolicy(Qt::StrongFocus);
  viewport()->setMouseTracking(true);
}

void LaneChart::show(LaneData data, bool keepRange) {
  data_ = std::move(data);
  labelWidth_ = 0;
  wholeNs_ = 1;
  for (const LaneGroup& group : data_.groups) {
    wholeNs_ = std::max(wholeNs_, group.endNs);
    for (const LaneSpan& span : group.spans)
      wholeNs_ = std::max(wholeNs_, span.endNs);
    for (const QString& lane : group.lanes)
      labelWidth_ = std::max(labelWidth_, fontMetrics().horizontalAdvance(lane));
  }
  labelWidth_ = std::min(labelWidth_ + 4, kMostLabel) + 2 * kLaneMargin;
  if (!keepRange || endNs_ > wholeNs_ || endNs_ - beginNs_ <= 1)
    showRange(0, wholeNs_);
  layOut();
  viewport()->update();
}

void LaneChart::showRange(std::int64_t beginNs, std::int64_t endNs) {
  const std::int64_t length =
      std::clamp(endNs - beginNs, std::min(kLeastRangeNs, wholeNs_), wholeNs_);
  beginNs_ = std::clamp<std::int64_t>(beginNs, 0, wholeNs_ - length);
  endNs_ = beginNs_ + length;
  viewport()->update();
}

int LaneChart::headHeight() const {
  return 2 * fontMetrics().height() + kLaneMargin;
}

int LaneChart::groupTop(std::size_t group) const {
  return headHeight() - verticalScrollBar()->value() + tops_[group];
}

int LaneChart::contentHeight() const {
  return groupTop(data_.groups.size()) + verticalScrollBar()->value() + kLaneMargin;
}

void LaneChart::layOut() {
  tops_ = {0};
  for (const LaneGroup& group : data_.groups)
    tops_.push_back(tops_.back() + fontMetrics().height() + kLaneMargin +
                    static_cast<int>(group.lanes.size()) * (kLaneHeight + kLaneGap));
  verticalScrollBar()->setPageStep(viewport()->height());
  verticalScrollBar()->setSingleStep(kLaneHeight + kLaneGap);
  verticalScrollBar()->setRange(0, std::max(0, contentHeight() - viewport()->height()));
}

void LaneChart::resizeEvent(QResizeEvent* /*event*/) {
  layOut();
}

QRect LaneChart::plotRect() const {
  return {labelWidth_,
          headHeight(),
          std::max(viewport()->width() - labelWidth_ - kLaneMargin, 1),
          std::max(viewport()->height() - headHeight(), 1)};
}

double LaneChart::xOf(std::int64_t ns) const {
  const QRect plot = plotRect();
  return plot.left() + double(ns - beginNs_) / double(endNs_ - beginNs_) * plot.width();
}

std::int64_t LaneChart::timeAt(double x) const {
  const QRect plot = plotRect();
  return beginNs_ + std::llround((x - plot.left()) / plot.width() * double(endNs_ - beginNs_));
}

QRectF LaneChart::rectOf(std::size_t group, const LaneSpan& span) const {
  const int top = groupTop(group) + fontMetrics().height() + kLaneMargin / 2 +
                  static_cast<int>(span.lane) * (kLaneHeight + kLaneGap);
  const double left = xOf(span.beginNs);
  return {left, double(top), std::max(xOf(span.endNs) - left, 1.0), double(kLaneHeight)};
}

const LaneSpan* LaneChart::spanAt(const QPointF& at) const {
  if (!plotRect().contains(at.toPoint()))
    return nullptr;
  for (std::size_t group = 0; group < data_.groups.size(); ++group) {
    if (at.y() < groupTop(group) || at.y() >= groupTop(group + 1))
      continue;
    for (const LaneSpan& span : data_.groups[group].spans)
      if (rectOf(group, span).contains(at))
        return &span;
  }
  return nullptr;
}

void LaneChart::zoom(std::int64_t aroundNs, double factor) {
  const auto before = static_cast<double>(aroundNs - beginNs_);
  const auto length = static_cast<double>(endNs_ - beginNs_);
  const std::int64_t begin = aroundNs - std::llround(before * factor);
  showRange(begin, begin + std::llround(length * factor));
}

void LaneChart::wheelEvent(QWheelEvent* event) {
  if ((event->modifiers() & Qt::ControlModifier) == 0 && verticalScrollBar()->maximum() > 0) {
    QAbstractScrollArea::wheelEvent(event);
    return;
  }
  zoom(timeAt(event->position().x()),
       std::pow(kZoomStep, -double(event->angleDelta().y()) / kWheelStep));
  event->accept();
}

void LaneChart::mousePressEvent(QMouseEvent* event) {
  drag_ = {event->position().x(), beginNs_};
}

void LaneChart::mouseMoveEvent(QMouseEvent* event) {
  if ((event->buttons() & Qt::LeftButton) == 0 || !drag_)
    return;
  const double moved = (drag_->first - event->position().x()) / plotRect().width();
  const std::int64_t length = endNs_ - beginNs_;
  const std::int64_t begin = drag_->second + std::llround(moved * double(length));
  showRange(begin, begin + length);
}

void LaneChart::mouseDoubleClickEvent(QMouseEvent* /*event*/) {
  showRange(0, wholeNs_);
}

void LaneChart::keyPressEvent(QKeyEvent* event) {
  const std::int64_t length = endNs_ - beginNs_;
  const std::int64_t middle = beginNs_ + length / 2;
  switch (event->key()) {
    case Qt::Key_Plus:
      return zoom(middle, 1 / kZoomStep);
    case Qt::Key_Minus:
      return zoom(middle, kZoomStep);
    case Qt::Key_Left:
      return showRange(beginNs_ - length / 8, endNs_ - length / 8);
    case Qt::Key_Right:
      return showRange(beginNs_ + length / 8, endNs_ + length / 8);
    default:
      QAbstractScrollArea::keyPressEvent(event);
  }
}

bool LaneChart::viewportEvent(QEvent* event) {
  if (event->type() != QEvent::ToolTip)
    return QAbstractScrollArea::viewportEvent(event);
  auto* help = static_cast<QHelpEvent*>(event);
  if (const LaneSpan* span = spanAt(help->pos()))
    QToolTip::showText(
        help->globalPos(),
        QStringLiteral("%1\n%2").arg(span->text, formatDuration(span->endNs - span->beginNs)),
        viewport());
  else
    QToolTip::hideText();
  return true;
}

void LaneChart::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(viewport());
  const Theme theme(palette());
  painter.fillRect(viewport()->rect(), theme.background);
  for (std::size_t group = 0; group < data_.groups.size(); ++group)
    if (groupTop(group + 1) > 0 && groupTop(group) < viewport()->height())
      paintGroup(painter, group);
  if (!data_.groups.empty())
    paintAxis(painter);
}

void LaneChart::paintAxis(QPainter& painter) const {
  const Theme theme(palette());
  const QRect plot = plotRect();
  painter.fillRect(QRect(0, 0, viewport()->width(), headHeight()), theme.background);
  paintLegend(painter,
              QRectF(kLaneMargin, 0, viewport()->width() - 2 * kLaneMargin, fontMetrics().height()),
              data_.legend,
              theme.text);
  painter.setPen(theme.dimText);
  for (const Tick& tick : ticks(beginNs_, endNs_, plot.width(), 90)) {
    const int at = static_cast<int>(xOf(tick.ns));
    painter.drawLine(at, headHeight() - (tick.label.isEmpty() ? 3 : 6), at, headHeight());
    if (!tick.label.isEmpty())
      painter.drawText(at + 3, headHeight() - 6, tick.label);
  }
}

void LaneChart::paintGroup(QPainter& painter, std::size_t group) const {
  const Theme theme(palette());
  const LaneGroup& drawn = data_.groups[group];
  const QRect plot = plotRect();
  const int top = groupTop(group);
  QFont bold = font();
  bold.setBold(true);
  painter.setFont(bold);
  painter.setPen(theme.text);
  painter.drawText(kLaneMargin, top + fontMetrics().height(), drawn.title);
  painter.setFont(font());
  for (std::size_t lane = 0; lane < drawn.lanes.size(); ++lane) {
    const QRectF row = rectOf(group, {lane, beginNs_, endNs_, {}, {}});
    painter.fillRect(row, theme.panel);
    painter.setPen(theme.dimText);
    const QRect label(kLaneMargin, int(row.top()), labelWidth_ - 2 * kLaneMargin, kLaneHeight);
    painter.drawText(label,
                     Qt::AlignVCenter | Qt::AlignRight,
                     fontMetrics().elidedText(drawn.lanes[lane], Qt::ElideMiddle, label.width()));
  }
  painter.save();
  painter.setClipRect(plot);
  // Short spans in a pixel column that has been painted are skipped: a frame costs about its
  // pixels.
  std::vector<double> painted(drawn.lanes.size(), 0);
  const double first = rectOf(group, {}).top();
  const double scale = plot.width() / double(endNs_ - beginNs_);
  for (const LaneSpan& span : drawn.spans) {
    if (span.endNs < beginNs_ || span.beginNs > endNs_)
      continue;
    const QRectF rect(plot.left() + double(span.beginNs - beginNs_) * scale,
                      first + double(span.lane) * (kLaneHeight + kLaneGap),
                      std::max(double(span.endNs - span.beginNs) * scale, 1.0),
                      kLaneHeight);
    if (rect.width() <= 1.0 && std::ceil(rect.right()) <= painted[span.lane])
      continue;
    painted[span.lane] = std::max(painted[span.lane], std::ceil(rect.right()));
    painter.fillRect(rect, span.color);
    const QRectF inside = rect.intersected(plot).adjusted(3, 0, -3, 0);
    if (inside.width() < 24)
      continue;
    painter.setPen(Theme::textOn(span.color));
    painter.drawText(inside,
                     Qt::AlignVCenter | Qt::AlignLeft,
                     fontMetrics().elidedText(span.text, Qt::ElideRight, int(inside.width())));
  }
  painter.setPen(QPen(theme.mark, 2));
  const double end = xOf(drawn.endNs);
  painter.drawLine(QPointF(end, top + fontMetrics().height()),
                   QPointF(end, groupTop(group + 1) - kLaneMargin / 2.0));
  painter.restore();
}

}  // namespace sonde::gui
