#include "gui/views/chart/bar_chart.h"

#include "gui/views/theme.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>

#include <algorithm>
#include <numeric>

namespace sonde::gui {
namespace {

constexpr int kBarHeight = 20;
constexpr int kBarGap = 6;
constexpr int kChartMargin = 8;
constexpr int kMostLegendRows = 3;
constexpr int kSumWidth = 90;

double sumOf(const Bar& bar) {
  return std::accumulate(bar.values.begin(), bar.values.end(), 0.0);
}

}  // namespace

BarChart::BarChart(QWidget* parent) : QAbstractScrollArea(parent) {
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  viewport()->setMouseTracking(true);
}

void BarChart::show(BarData data) {
  data_ = std::move(data);
  largest_ = 0;
  labelWidth_ = 0;
  for (const Bar& bar : data_.bars) {
    largest_ = std::max({largest_, sumOf(bar), bar.high.value_or(0)});
    labelWidth_ = std::max(labelWidth_, fontMetrics().horizontalAdvance(bar.label) + 4);
  }
  labelWidth_ = std::min(labelWidth_, 260);
  legend_.clear();
  for (std::size_t part = 0; part < data_.parts.size(); ++part)
    if (std::any_of(data_.bars.begin(), data_.bars.end(), [&](const Bar& bar) {
          return part < bar.values.size() && bar.values[part] != 0;
        }))
      legend_.push_back(data_.parts[part]);
  layOut();
  updateGeometry();
  viewport()->update();
}

QSize BarChart::sizeHint() const {
  const int bars = static_cast<int>(std::min<std::size_t>(data_.bars.size(), 8));
  return {480, legendHeight() + bars * (kBarHeight + kBarGap) + kChartMargin};
}

double BarChart::legendWidth() const {
  return viewport()->width() - 2 * kChartMargin;
}

int BarChart::legendHeight() const {
  if (legend_.size() < 2)
    return kChartMargin;
  const QFontMetricsF font = QFontMetricsF(this->font());
  return static_cast<int>(legendRows(legend_, font, legendWidth(), kMostLegendRows) *
                          legendRowHeight(font)) +
         2 * kChartMargin;
}

void BarChart::layOut() {
  const int bars = static_cast<int>(data_.bars.size()) * (kBarHeight + kBarGap) + kChartMargin;
  const int room = viewport()->height() - legendHeight();
  verticalScrollBar()->setPageStep(std::max(room, 1));
  verticalScrollBar()->setSingleStep(kBarHeight + kBarGap);
  verticalScrollBar()->setRange(0, std::max(0, bars - room));
}

void BarChart::resizeEvent(QResizeEvent* /*event*/) {
  layOut();
}

int BarChart::barTop(std::size_t bar) const {
  return legendHeight() + static_cast<int>(bar) * (kBarHeight + kBarGap) -
         verticalScrollBar()->value();
}

double BarChart::xOf(double value) const {
  const int left = labelWidth_ + 2 * kChartMargin;
  const int width = std::max(viewport()->width() - left - kSumWidth - kChartMargin, 1);
  return left + (largest_ > 0 ? value / largest_ * width : 0);
}

QRectF BarChart::rectOf(std::size_t bar, std::size_t part) const {
  const std::vector<double>& values = data_.bars.at(bar).values;
  const auto begin = values.begin();
  const double before = std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(part), 0.0);
  const double left = xOf(before);
  return {left, double(barTop(bar)), xOf(before + values.at(part)) - left, double(kBarHeight)};
}

std::optional<BarChart::Hit> BarChart::hit(const QPointF& at) const {
  for (std::size_t bar = 0; bar < data_.bars.size(); ++bar) {
    if (at.y() < barTop(bar) || at.y() >= barTop(bar) + kBarHeight || at.y() < legendHeight())
      continue;
    for (std::size_t part = 0; part < data_.bars[bar].values.size(); ++part)
      if (rectOf(bar, part).contains(at))
        return Hit{bar, part};
    return Hit{bar, std::nullopt};
  }
  return std::nullopt;
}

QString BarChart::textOf(const Hit& hit) const {
  const Bar& bar = data_.bars[hit.bar];
  const double sum = sumOf(bar);
  if (!hit.part)
    return tr("%1: %2").arg(bar.label, numberText(sum, data_.unit));
  const double value = bar.values[*hit.part];
  return tr("%1, %2: %3 (%4)")
      .arg(bar.label,
           data_.parts[*hit.part].name,
           numberText(value, data_.unit),
           numberText(sum > 0 ? value / sum : 0, ValueKind::Share));
}

void BarChart::mousePressEvent(QMouseEvent* event) {
  if (const auto at = hit(event->position()))
    emit clicked(data_.bars[at->bar].place, at->part ? data_.parts[*at->part].name : QString());
}

bool BarChart::viewportEvent(QEvent* event) {
  if (event->type() != QEvent::ToolTip)
    return QAbstractScrollArea::viewportEvent(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const auto at = hit(help->pos());
  QToolTip::showText(help->globalPos(), at ? textOf(*at) : QString(), viewport());
  return true;
}

void BarChart::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), Theme(palette()).background);
  painter.setClipRect(0, legendHeight(), viewport()->width(), viewport()->height());
  for (std::size_t bar = 0; bar < data_.bars.size(); ++bar)
    if (barTop(bar) + kBarHeight > 0 && barTop(bar) < viewport()->height())
      paintBar(painter, bar);
  painter.setClipping(false);
  if (legend_.size() > 1)
    paintLegend(painter,
                QRectF(kChartMargin, kChartMargin, legendWidth(), legendHeight()),
                legend_,
                Theme(palette()).dimText);
}

void BarChart::paintBar(QPainter& painter, std::size_t bar) const {
  const Theme theme(palette());
  const Bar& shown = data_.bars[bar];
  const int top = barTop(bar);
  painter.setPen(theme.text);
  painter.drawText(QRect(kChartMargin, top, labelWidth_, kBarHeight),
                   Qt::AlignVCenter,
                   fontMetrics().elidedText(shown.label, Qt::ElideMiddle, labelWidth_));
  for (std::size_t part = 0; part < shown.values.size(); ++part)
    if (shown.values[part] > 0)
      painter.fillRect(rectOf(bar, part), data_.parts[part].color);
  const double sum = sumOf(shown);
  double end = xOf(sum);
  if (shown.low && shown.high) {
    const double middle = top + kBarHeight / 2.0;
    painter.drawLine(QPointF(xOf(*shown.low), middle), QPointF(xOf(*shown.high), middle));
    for (const double value : {*shown.low, *shown.high})
      painter.drawLine(QPointF(xOf(value), middle - 4), QPointF(xOf(value), middle + 4));
    end = std::max(end, xOf(*shown.high));
  }
  painter.setPen(theme.dimText);
  painter.drawText(
      QRectF(end + 6, top, kSumWidth, kBarHeight), Qt::AlignVCenter, numberText(sum, data_.unit));
}

}  // namespace sonde::gui
