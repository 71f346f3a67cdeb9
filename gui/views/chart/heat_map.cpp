#include "gui/views/chart/heat_map.h"

#include "gui/views/theme.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace sonde::gui {
namespace {

constexpr int kHeatMargin = 8;
constexpr int kScaleWidth = 14;
constexpr int kScaleRoom = 110;
constexpr int kAxisHeight = 22;

// Five colours of "viridis" (Smith and van der Walt, CC0): even steps of lightness, and distinct
// with the common colour-vision deficiencies.
constexpr std::array<QRgb, 5> kViridis = {
    0xff440154, 0xff3b528b, 0xff21918c, 0xff5ec962, 0xfffde725};

QRgb viridis(double share) {
  const double at = std::clamp(share, 0.0, 1.0) * (kViridis.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(at), kViridis.size() - 2);
  const double rest = at - static_cast<double>(below);
  const auto mix = [&](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * rest)); };
  const QRgb from = kViridis.at(below);
  const QRgb to = kViridis.at(below + 1);
  return qRgb(
      mix(qRed(from), qRed(to)), mix(qGreen(from), qGreen(to)), mix(qBlue(from), qBlue(to)));
}

// The largest value of a cell range; NaN: none.
double largestIn(const HeatData& values,
                 std::size_t row,
                 std::size_t rowEnd,
                 std::size_t column,
                 std::size_t columnEnd) {
  double largest = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t r = row; r < rowEnd; ++r)
    for (std::size_t c = column; c < columnEnd; ++c)
      if (const double value = values.at(r, c); !(value <= largest) && std::isfinite(value))
        largest = value;
  return largest;
}

// The cells [first, second) that pixel `at` of `pixels` shows, out of `cells`.
std::pair<std::size_t, std::size_t> cellsAt(int at, int pixels, std::size_t cells) {
  const auto begin = static_cast<std::size_t>(at) * cells / static_cast<std::size_t>(pixels);
  const auto end = (static_cast<std::size_t>(at) + 1) * cells / static_cast<std::size_t>(pixels);
  return {begin, std::max(end, begin + 1)};
}

}  // namespace

HeatMap::HeatMap(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
}

void HeatMap::show(HeatData data) {
  data_ = std::move(data);
  low_ = std::numeric_limits<double>::infinity();
  high_ = -low_;
  for (const double value : data_.values)
    if (std::isfinite(value)) {
      low_ = std::min(low_, value);
      high_ = std::max(high_, value);
    }
  labelWidth_ = 0;
  for (const QString& label : data_.rows)
    labelWidth_ = std::max(labelWidth_, fontMetrics().horizontalAdvance(label) + 4);
  labelWidth_ = std::min(labelWidth_, 160);
  pressed_.reset();
  current_.reset();
  anchor_.reset();
  selection_.reset();
  update();
}

QRectF HeatMap::plotRect() const {
  return QRectF(rect()).adjusted(
      labelWidth_ + 2 * kHeatMargin, kHeatMargin, -kScaleRoom, -kAxisHeight - kHeatMargin);
}

QRectF HeatMap::rectOf(std::size_t row, std::size_t column) const {
  const QRectF plot = plotRect();
  const double width =
      plot.width() / static_cast<double>(std::max<std::size_t>(data_.columns.size(), 1));
  const double height =
      plot.height() / static_cast<double>(std::max<std::size_t>(data_.rows.size(), 1));
  return {plot.left() + static_cast<double>(column) * width,
          plot.top() + static_cast<double>(row) * height,
          width,
          height};
}

std::optional<HeatMap::Cell> HeatMap::hit(const QPointF& at) const {
  const QRectF plot = plotRect();
  if (data_.values.empty() || !plot.contains(at))
    return std::nullopt;
  const auto place = [](double part, double whole, std::size_t cells) {
    return std::min(static_cast<std::size_t>(part / whole * static_cast<double>(cells)), cells - 1);
  };
  return Cell{place(at.y() - plot.top(), plot.height(), data_.rows.size()),
              place(at.x() - plot.left(), plot.width(), data_.columns.size())};
}

QRgb HeatMap::colorOf(double value) const {
  if (!std::isfinite(value))
    return Theme(palette()).panel.rgb();
  return viridis(high_ > low_ ? (value - low_) / (high_ - low_) : 0.5);
}

HeatMap::Run HeatMap::runOf(const Cell& one, const Cell& other) {
  const bool isLater = std::pair(other.column, other.row) >= std::pair(one.column, one.row);
  return isLater ? Run{one, other} : Run{other, one};
}

void HeatMap::moveTo(Cell cell, bool selects) {
  if (!selects || !anchor_)
    anchor_ = cell;
  current_ = cell;
  setAccessibleDescription(textOf(cell));
  if (isSelectable_)
    setSelection(runOf(*anchor_, cell));
  update();
}

void HeatMap::keyPressEvent(QKeyEvent* event) {
  if (data_.values.empty()) {
    QWidget::keyPressEvent(event);
    return;
  }
  Cell cell = current_.value_or(Cell{0, 0});
  switch (event->key()) {
    case Qt::Key_Left:
      cell.column -= cell.column > 0 ? 1 : 0;
      break;
    case Qt::Key_Right:
      cell.column = std::min(cell.column + 1, data_.columns.size() - 1);
      break;
    case Qt::Key_Up:
      cell.row -= cell.row > 0 ? 1 : 0;
      break;
    case Qt::Key_Down:
      cell.row = std::min(cell.row + 1, data_.rows.size() - 1);
      break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      emit clicked(cell.row, cell.column);
      if (isSelectable_ && selection_)
        emit runSelected(Run(*selection_));
      return;
    default:
      QWidget::keyPressEvent(event);
      return;
  }
  moveTo(current_ ? cell : Cell{0, 0}, event->modifiers().testFlag(Qt::ShiftModifier));
}

void HeatMap::setSelection(const std::optional<Run>& run) {
  selection_ = run;
  update();
}

void HeatMap::mousePressEvent(QMouseEvent* event) {
  const auto cell = hit(event->position());
  if (!cell)
    return;
  if (isSelectable_) {
    pressed_ = cell;
    setSelection(Run{*cell, *cell});
  }
  emit clicked(cell->row, cell->column);
}

void HeatMap::mouseMoveEvent(QMouseEvent* event) {
  const auto cell = pressed_ ? hit(event->position()) : std::nullopt;
  if (!cell || !event->buttons().testFlag(Qt::LeftButton))
    return;
  setSelection(runOf(*pressed_, *cell));
}

void HeatMap::mouseReleaseEvent(QMouseEvent* /*event*/) {
  if (std::exchange(pressed_, std::nullopt) && selection_)
    emit runSelected(*selection_);
}

// The part of each column that the run has.
void HeatMap::paintSelection(QPainter& painter) const {
  if (!selection_)
    return;
  const Theme theme(palette());
  painter.setPen(QPen(theme.selection, 2));
  painter.setBrush(theme.selectionFill);
  const auto& [first, last] = *selection_;
  const auto frame =
      [&](std::size_t column, std::size_t endColumn, std::size_t row, std::size_t end) {
        painter.drawRect(
            rectOf(row, column).united(rectOf(end, endColumn)).adjusted(-0.5, -0.5, 0.5, 0.5));
      };
  const std::size_t bottom = data_.rows.size() - 1;
  if (first.column == last.column) {
    frame(first.column, first.column, first.row, last.row);
    return;
  }
  frame(first.column, first.column, first.row, bottom);
  if (first.column + 1 < last.column)
    frame(first.column + 1, last.column - 1, 0, bottom);
  frame(last.column, last.column, 0, last.row);
}

// Empty: the cell has no value.
QString HeatMap::textOf(const Cell& cell) const {
  const double value = data_.at(cell.row, cell.column);
  if (!std::isfinite(value))
    return {};
  return tr("%1, %2 %3: %4")
      .arg(data_.rows[cell.row],
           data_.columnTitle,
           data_.columns[cell.column],
           numberText(value, data_.unit));
}

void HeatMap::mouseDoubleClickEvent(QMouseEvent* event) {
  if (const auto cell = hit(event->position()))
    emit doubleClicked(cell->row, cell->column);
}

bool HeatMap::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip)
    return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const auto cell = hit(help->pos());
  const QString text = cell ? textOf(*cell) : QString();
  QToolTip::showText(help->globalPos(), text, this);
  return true;
}

void HeatMap::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.fillRect(rect(), Theme(palette()).background);
  if (data_.values.empty())
    return;
  paintCells(painter);
  paintLabels(painter);
  paintScale(painter);
  paintSelection(painter);
  if (!current_ || !hasFocus())
    return;
  painter.setPen(QPen(Theme(palette()).selection, 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(rectOf(current_->row, current_->column));
}

void HeatMap::paintCells(QPainter& painter) const {
  const QRect plot = plotRect().toRect();
  const int width = std::min(plot.width(), static_cast<int>(data_.columns.size()));
  const int height = std::min(plot.height(), static_cast<int>(data_.rows.size()));
  if (width <= 0 || height <= 0)
    return;
  QImage image(width, height, QImage::Format_RGB32);
  for (int y = 0; y < height; ++y) {
    const auto rows = cellsAt(y, height, data_.rows.size());
    for (int x = 0; x < width; ++x) {
      const auto columns = cellsAt(x, width, data_.columns.size());
      image.setPixel(
          x, y, colorOf(largestIn(data_, rows.first, rows.second, columns.first, columns.second)));
    }
  }
  painter.drawImage(plotRect(), image);
}

void HeatMap::paintLabels(QPainter& painter) const {
  painter.setPen(Theme(palette()).dimText);
  const QRectF plot = plotRect();
  const double rowHeight = rectOf(0, 0).height();
  const auto everyRow = static_cast<std::size_t>(std::ceil(fontMetrics().height() / rowHeight));
  for (std::size_t row = 0; row < data_.rows.size(); row += std::max<std::size_t>(everyRow, 1))
    painter.drawText(QRectF(kHeatMargin,
                            rectOf(row, 0).center().y() - fontMetrics().height() / 2.0,
                            labelWidth_,
                            fontMetrics().height()),
                     Qt::AlignRight | Qt::AlignVCenter,
                     data_.rows[row]);
  constexpr double kColumnRoom = 60;
  const auto everyColumn = static_cast<std::size_t>(std::ceil(kColumnRoom / rectOf(0, 0).width()));
  for (std::size_t column = 0; column < data_.columns.size();
       column += std::max<std::size_t>(everyColumn, 1))
    painter.drawText(QRectF(rectOf(0, column).center().x() - kColumnRoom / 2,
                            plot.bottom() + 2,
                            kColumnRoom,
                            fontMetrics().height()),
                     Qt::AlignCenter,
                     data_.columns[column]);
  painter.drawText(QRectF(plot.right() + 8, plot.bottom() + 2, kScaleRoom, fontMetrics().height()),
                   Qt::AlignLeft,
                   data_.columnTitle);
}

void HeatMap::paintScale(QPainter& painter) const {
  const QRectF plot = plotRect();
  const QRect scale(static_cast<int>(plot.right()) + 12,
                    static_cast<int>(plot.top()),
                    kScaleWidth,
                    static_cast<int>(plot.height()));
  for (int y = 0; y < scale.height(); ++y)
    painter.fillRect(scale.left(),
                     scale.top() + y,
                     scale.width(),
                     1,
                     QColor(viridis(1 - static_cast<double>(y) / scale.height())));
  painter.setPen(Theme(palette()).dimText);
  const auto write = [&](double value, double y) {
    painter.drawText(QRectF(scale.right() + 6, y, kScaleRoom, fontMetrics().height()),
                     Qt::AlignLeft | Qt::AlignVCenter,
                     numberText(value, data_.unit));
  };
  write(high_, plot.top());
  write(low_, plot.bottom() - fontMetrics().height());
}

}  // namespace sonde::gui
