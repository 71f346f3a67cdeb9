#include "gui/views/chart/flame_chart.h"

#include "analysis/engine/callpaths/call_views.h"
#include "gui/models/kernel_label.h"
#include "gui/trace/qtext.h"
#include "gui/views/theme.h"

#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>

#include <algorithm>
#include <cmath>
#include <utility>

namespace sonde::gui {
namespace {

using engine::callpaths::CallName;
using engine::callpaths::CallTree;
using engine::callpaths::Instance;
using engine::callpaths::kRoot;

constexpr int kFlameRow = 18;
constexpr double kTextRoom = 22;
constexpr double kFrameMargin = 4;

double shareOf(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

// The kind of a name's events.
std::optional<Kind> eventKind(const CallTree& tree, CallName name) {
  if (tree.tables[name] == Instance::Table::Copy)
    return Kind::Copy;
  if (tree.tables[name] == Instance::Table::Kernel)
    return tree.kinds[name] ? Kind::CollectiveKernel : Kind::Kernel;
  return kindOf(tree.kinds[name]);
}

// Half of a short name is better than an ellipsis.
QString fitting(const QString& text, double width, const QFontMetrics& metrics) {
  constexpr int kFewLetters = 6;
  if (width >= metrics.averageCharWidth() * kFewLetters)
    return metrics.elidedText(text, Qt::ElideRight, static_cast<int>(width));
  qsizetype letters = std::min<qsizetype>(text.size(), kFewLetters);
  while (letters > 0 && metrics.horizontalAdvance(text.left(letters)) > width)
    --letters;
  return text.left(letters);
}

}  // namespace

FlameChart::FlameChart(QWidget* parent) : QAbstractScrollArea(parent) {
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFocusPolicy(Qt::StrongFocus);
  viewport()->setMouseTracking(true);
}

void FlameChart::show(FlameData data) {
  const auto inNew = [&](Node node) {
    return data_.isEmpty() || data.isEmpty()
               ? kRoot
               : engine::callpaths::samePath(*data_.tree, node, *data.tree);
  };
  zoomed_ = inNew(zoomed_);
  current_ = inNew(current_);
  before_.clear();
  data_ = std::move(data);
  names_.clear();
  if (data_.tree != nullptr)
    for (const std::string& text : data_.tree->texts)
      names_.push_back(qtext(text));
  layout_.show(data_.tree);
  verticalScrollBar()->setValue(0);
  mark(markText_);
  layOut();
}

void FlameChart::mark(const QString& text) {
  markText_ = text;
  marked_.clear();
  markedShare_ = 0;
  if (!text.isEmpty() && !data_.isEmpty()) {
    for (const QString& name : names_)
      marked_.push_back(name.contains(text, Qt::CaseInsensitive));
    markedShare_ =
        shareOf(engine::callpaths::timeOf(*data_.tree, marked_), data_.tree->totalNs[kRoot]);
  }
  viewport()->update();
}

void FlameChart::zoomTo(Node node) {
  if (node == zoomed_)
    return;
  before_.push_back(zoomed_);
  if (node == kRoot)
    before_.clear();
  zoomed_ = node;
  layOut();
}

void FlameChart::back() {
  if (zoomed_ == kRoot)
    return;
  zoomed_ = before_.empty() ? kRoot : before_.back();
  if (!before_.empty())
    before_.pop_back();
  layOut();
}

void FlameChart::setCurrent(Node node) {
  if (node == current_)
    return;
  current_ = node;
  setAccessibleDescription(textOf(node));
  viewport()->update();
  emit currentChanged(node);
}

void FlameChart::layOut() {
  layout_.layOut(zoomed_, viewport()->width());
  const int height = static_cast<int>(layout_.rows()) * kFlameRow;
  verticalScrollBar()->setSingleStep(kFlameRow);
  verticalScrollBar()->setPageStep(viewport()->height());
  verticalScrollBar()->setRange(0, std::max(height - viewport()->height(), 0));
  viewport()->update();
}

void FlameChart::resizeEvent(QResizeEvent* /*event*/) {
  layOut();
}

// Whole pixels, so that neighbours meet; at least one.
QRectF FlameChart::rectOf(const Frame& frame, std::size_t row) const {
  const double most = std::max(viewport()->width() - 1, 0);
  const double left = std::min(std::floor(frame.left), most);
  const double right = std::floor(frame.left + frame.width);
  return {left,
          static_cast<double>(static_cast<int>(row) * kFlameRow - verticalScrollBar()->value()),
          std::max(right - left, 1.0),
          static_cast<double>(kFlameRow - 1)};
}

QRectF FlameChart::rectOf(Node node) const {
  const Frame* const frame = layout_.find(node);
  return frame != nullptr && frame->isOne() ? rectOf(*frame, data_.tree->depths[node]) : QRectF();
}

const FlameChart::Frame* FlameChart::hit(const QPointF& at) const {
  const double y = at.y() + verticalScrollBar()->value();
  const auto row = static_cast<std::size_t>(std::max(y, 0.0) / kFlameRow);
  if (y < 0 || row >= layout_.rows())
    return nullptr;
  // Where rectangles of a pixel overlap, the last one was painted over the others.
  for (const Frame* frame = layout_.end(row); frame-- != layout_.begin(row);)
    if (rectOf(*frame, row).contains(at))
      return frame;
  return nullptr;
}

QString FlameChart::nameOf(Node node) const {
  return node == kRoot ? data_.rootName : names_[data_.tree->names[node]];
}

QString FlameChart::textOf(Node node) const {
  if (data_.isEmpty())
    return {};
  const CallTree& tree = *data_.tree;
  const std::int64_t whole = tree.totalNs[kRoot];
  QString text = tr("%1: %2 (%3)")
                     .arg(nameOf(node),
                          numberText(static_cast<double>(tree.totalNs[node]), data_.unit),
                          numberText(shareOf(tree.totalNs[node], whole), ValueKind::Share));
  if (node != kRoot)
    text += tr(", %1 itself").arg(numberText(static_cast<double>(tree.selfNs[node]), data_.unit));
  return text + tr(", %1: %L2").arg(data_.eventName).arg(tree.counts[node]);
}

QString FlameChart::textOf(const Frame& frame) const {
  if (frame.isOne())
    return textOf(frame.node);
  std::int64_t ns = 0;
  for (Node node = frame.node; node <= frame.last; ++node)
    ns += data_.tree->totalNs[node];
  return tr("%L1 narrow frames: %2 (%3). A click shows them larger.")
      .arg(frame.last - frame.node + 1)
      .arg(numberText(static_cast<double>(ns), data_.unit),
           numberText(shareOf(ns, data_.tree->totalNs[kRoot]), ValueKind::Share));
}

// The root and the frame that fills the width lead back.
void FlameChart::choose(Node node) {
  setCurrent(node);
  if (node == zoomed_)
    back();
  else
    zoomTo(node);
}

void FlameChart::mousePressEvent(QMouseEvent* event) {
  const Frame* const frame = hit(event->position());
  if (frame == nullptr || event->button() != Qt::LeftButton)
    return;
  if (frame->isOne())
    choose(frame->node);
  else
    zoomTo(data_.tree->parents[frame->node]);
}

void FlameChart::contextMenuEvent(QContextMenuEvent* event) {
  if (data_.isEmpty())
    return;
  if (event->reason() == QContextMenuEvent::Mouse) {
    const Frame* const frame = hit(event->pos());
    if (frame == nullptr)
      return;
    setCurrent(frame->node);
  }
  emit menuWanted(current_, event->globalPos());
}

void FlameChart::keyPressEvent(QKeyEvent* event) {
  if (data_.isEmpty()) {
    QAbstractScrollArea::keyPressEvent(event);
    return;
  }
  switch (event->key()) {
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (current_ != zoomed_)
        choose(current_);
      return;
    case Qt::Key_Backspace:
    case Qt::Key_Escape:
      back();
      return;
    case Qt::Key_Home:
      zoomTo(kRoot);
      setCurrent(kRoot);
      return;
    default:
      if (!move(event->key()))
        QAbstractScrollArea::keyPressEvent(event);
  }
}

// To the frame around the current one, the widest one below it, or a neighbour. True: it was an
// arrow.
bool FlameChart::move(int key) {
  const CallTree& tree = *data_.tree;
  const Node parent = tree.parents[current_];
  Node to = current_;
  if (key == Qt::Key_Up)
    to = parent;
  else if (key == Qt::Key_Down && tree.childCount[current_] > 0)
    to = tree.firstChild[current_];
  else if (key == Qt::Key_Left && current_ > tree.firstChild[parent])
    to = current_ - 1;
  else if (key == Qt::Key_Right && current_ != kRoot && current_ + 1 < tree.endOfChildren(parent))
    to = current_ + 1;
  const Frame* const frame = layout_.find(to);
  if (frame != nullptr && frame->isOne()) {
    setCurrent(to);
    const int top = static_cast<int>(tree.depths[to]) * kFlameRow;
    if (top < verticalScrollBar()->value() ||
        top + kFlameRow > verticalScrollBar()->value() + viewport()->height())
      verticalScrollBar()->setValue(top - viewport()->height() / 2);
  }
  return key == Qt::Key_Up || key == Qt::Key_Down || key == Qt::Key_Left || key == Qt::Key_Right;
}

bool FlameChart::viewportEvent(QEvent* event) {
  if (event->type() != QEvent::ToolTip)
    return QAbstractScrollArea::viewportEvent(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const Frame* const frame = hit(help->pos());
  QToolTip::showText(help->globalPos(), frame == nullptr ? QString() : textOf(*frame), viewport());
  return true;
}

void FlameChart::setColorBy(ColorBy colorBy) {
  data_.colorBy = colorBy;
  viewport()->update();
}

void FlameChart::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), Theme(palette()).background);
  const int first = verticalScrollBar()->value() / kFlameRow;
  const int last = (verticalScrollBar()->value() + viewport()->height()) / kFlameRow;
  for (int row = first; row <= last && row < static_cast<int>(layout_.rows()); ++row) {
    const auto at = static_cast<std::size_t>(row);
    for (const Frame* frame = layout_.begin(at); frame != layout_.end(at); ++frame)
      paintFrame(painter, *frame, at);
  }
  const Frame* const current = layout_.find(current_);
  if (current == nullptr || !hasFocus())
    return;
  painter.setPen(QPen(Theme(palette()).selection, 2));
  painter.drawRect(rectOf(*current, data_.tree->depths[current_]).adjusted(1, 1, -1, -1));
}

void FlameChart::paintFrame(QPainter& painter, const Frame& frame, std::size_t row) const {
  constexpr double kFaded = 0.25;
  constexpr double kAround = 0.55;
  const Theme theme(palette());
  const QRectF rect = rectOf(frame, row);
  const bool isOne = frame.isOne();
  const CallTree& tree = *data_.tree;
  bool isMarked = marked_.empty();
  for (Node node = frame.node; node <= frame.last && !isMarked; ++node)
    isMarked = node != kRoot && marked_[tree.names[node]];
  QColor fill =
      frame.node == kRoot ? theme.panelStrong
      : isOne
          ? theme.fill(data_.colorBy, eventKind(tree, tree.names[frame.node]), nameOf(frame.node))
          : theme.border;
  if (!isMarked)
    fill = theme.faded(fill, kFaded);
  else if (tree.depths[frame.node] < tree.depths[zoomed_])
    fill = theme.faded(fill, kAround);
  const double gap = rect.width() > 3 ? 1 : 0;
  painter.fillRect(rect.adjusted(0, 0, -gap, 0), fill);
  if (!isOne || rect.width() < kTextRoom)
    return;
  const QRectF room = rect.adjusted(kFrameMargin, 0, -kFrameMargin, 0);
  painter.setPen(frame.node == kRoot ? theme.text : Theme::textOn(fill));
  const bool isKernel = tree.tables[tree.names[frame.node]] == Instance::Table::Kernel;
  const QString name = nameOf(frame.node);
  painter.drawText(room,
                   Qt::AlignVCenter,
                   fitting(isKernel ? kernelLabel(name) : name, room.width(), fontMetrics()));
}

}  // namespace sonde::gui
