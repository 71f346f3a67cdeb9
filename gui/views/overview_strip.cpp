#include "gui/views/overview_strip.h"

#include "gui/trace/time_format.h"

#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace sonde::gui {
namespace {

constexpr int kBins = 1024;
constexpr int kRowHeight = 9;
constexpr int kMaxRows = 8;
constexpr int kTop = 4;

}  // namespace

OverviewStrip::OverviewStrip(TraceModels& models, QWidget* parent)
    : QWidget(parent), models_(models), theme_(palette()) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName(tr("Overview of the whole trace"));
  connect(&models_.document, &TraceDocument::opened, this, [this] {
    models_.timeline.askOverview(kBins);
  });
  connect(&models_.timeline, &TimelineModel::overviewChanged, this, [this] {
    updateGeometry();
    update();
  });
  connect(&models_.view, &ViewState::changed, this, [this] { update(); });
}

void OverviewStrip::setLabelWidth(int width) {
  labelWidth_ = width;
  update();
}

QSize OverviewStrip::sizeHint() const {
  const auto& rows = models_.timeline.overview();
  const auto busy = std::count_if(
      rows.begin(), rows.end(), [](const OverviewRow& row) { return !row.bins.empty(); });
  const int shown = std::clamp(static_cast<int>(busy), 4, kMaxRows);
  return {400, 2 * kTop + shown * kRowHeight};
}

QRect OverviewStrip::timeRect() const {
  return rect().adjusted(labelWidth_, kTop, -kTop, -kTop);
}

double OverviewStrip::xAt(std::int64_t ns) const {
  const Skeleton& skeleton = models_.document.skeleton();
  const auto span =
      static_cast<double>(std::max<std::int64_t>(skeleton.endNs - skeleton.beginNs, 1));
  const double share = static_cast<double>(ns - skeleton.beginNs) / span;
  return timeRect().left() + std::clamp(share, 0.0, 1.0) * timeRect().width();
}

void OverviewStrip::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.fillRect(rect(), theme_.panel);
  painter.setPen(theme_.border);
  painter.drawLine(rect().bottomLeft(), rect().bottomRight());
  if (!models_.document.ready())
    return;
  const Skeleton& skeleton = models_.document.skeleton();
  painter.setPen(theme_.text);
  painter.drawText(QRect(8, kTop, labelWidth_ - 16, 16),
                   Qt::AlignVCenter,
                   tr("whole trace %1").arg(formatDuration(skeleton.endNs - skeleton.beginNs)));
  painter.setPen(theme_.dimText);
  painter.drawText(QRect(8, kTop + 15, labelWidth_ - 16, 16),
                   Qt::AlignVCenter,
                   tr("%L1 events").arg(skeleton.events));
  painter.fillRect(timeRect(), theme_.background);
  paintRows(painter, timeRect());
  paintWindow(painter, timeRect());
}

void OverviewStrip::paintRows(QPainter& painter, const QRect& rect) {
  std::vector<const OverviewRow*> rows;
  for (const OverviewRow& row : models_.timeline.overview())
    if (!row.bins.empty() && rows.size() < kMaxRows)
      rows.push_back(&row);
  if (rows.empty())
    return;
  const double height = static_cast<double>(rect.height()) / static_cast<double>(rows.size());
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const auto& bins = rows[at]->bins;
    const double width = rect.width() / static_cast<double>(bins.size());
    for (std::size_t bin = 0; bin < bins.size(); ++bin) {
      if (bins[bin].busy <= 0)
        continue;
      QColor fill = theme_.fill(bins[bin].kind, bins[bin].name);
      fill.setAlphaF(std::min(0.25F + 0.75F * bins[bin].busy, 1.0F));
      const double x = rect.left() + std::floor(static_cast<double>(bin) * width);
      painter.fillRect(QRectF(x,
                              rect.top() + static_cast<double>(at) * height,
                              std::ceil(width),
                              std::max(height - 1, 1.0)),
                       fill);
    }
  }
}

void OverviewStrip::paintWindow(QPainter& painter, const QRect& rect) {
  const double left = std::floor(xAt(models_.view.viewport().beginNs()));
  const double right = std::max(std::ceil(xAt(models_.view.viewport().endNs())), left + 3);
  QColor veil = theme_.panel;
  veil.setAlpha(theme_.dark() ? 150 : 165);
  painter.fillRect(QRectF(rect.left(), rect.top(), left - rect.left(), rect.height()), veil);
  painter.fillRect(QRectF(right, rect.top(), rect.right() + 1 - right, rect.height()), veil);
  painter.setPen(QPen(QColor(0x33, 0x77, 0xdd), 1));
  painter.drawRect(QRectF(left, rect.top() - 1, right - left - 1, rect.height() + 1));
}

void OverviewStrip::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange)
    theme_ = Theme(palette());
  QWidget::changeEvent(event);
}

void OverviewStrip::moveTo(int x) {
  if (!models_.document.ready())
    return;
  const Skeleton& skeleton = models_.document.skeleton();
  const double share = std::clamp(
      static_cast<double>(x - timeRect().left()) / std::max(timeRect().width(), 1), 0.0, 1.0);
  const auto at =
      skeleton.beginNs +
      static_cast<std::int64_t>(share * static_cast<double>(skeleton.endNs - skeleton.beginNs));
  const Viewport& shown = models_.view.viewport();
  models_.view.change(&Viewport::panNs, at - (shown.beginNs() + shown.spanNs() / 2));
}

void OverviewStrip::mousePressEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton)
    moveTo(event->pos().x());
}

void OverviewStrip::mouseMoveEvent(QMouseEvent* event) {
  if (event->buttons() & Qt::LeftButton)
    moveTo(event->pos().x());
}

void OverviewStrip::wheelEvent(QWheelEvent* event) {
  models_.view.change(&Viewport::zoomAt,
                      models_.view.viewport().width() / 2.0,
                      std::pow(0.8, event->angleDelta().y() / 120.0));
  event->accept();
}

}  // namespace sonde::gui
