#include "gui/views/help_overlay.h"

#include "gui/views/theme.h"

#include <QEvent>
#include <QPainter>

#include <algorithm>
#include <utility>

namespace sonde::gui {
namespace {

constexpr int kLine = 22;
constexpr int kKeysWidth = 220;
constexpr int kBoxWidth = 640;

}  // namespace

HelpOverlay::HelpOverlay(std::vector<HelpLine> lines, QWidget* parent)
    : QWidget(parent), lines_(std::move(lines)) {
  setFocusPolicy(Qt::StrongFocus);
  setObjectName(QStringLiteral("help"));
  setAccessibleName(tr("Keys"));
  parent->installEventFilter(this);
  hide();
}

void HelpOverlay::showEvent(QShowEvent* /*event*/) {
  resize(parentWidget()->size());
  raise();
  setFocus();
}

bool HelpOverlay::eventFilter(QObject* watched, QEvent* event) {
  if (watched == parentWidget() && event->type() == QEvent::Resize)
    resize(parentWidget()->size());
  return QWidget::eventFilter(watched, event);
}

void HelpOverlay::keyPressEvent(QKeyEvent* /*event*/) {
  hide();
  parentWidget()->setFocus();
}

void HelpOverlay::mousePressEvent(QMouseEvent* /*event*/) {
  hide();
  parentWidget()->setFocus();
}

void HelpOverlay::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const Theme theme(palette());
  painter.fillRect(rect(), QColor(0, 0, 0, 120));
  const int height = (static_cast<int>(lines_.size()) + 2) * kLine;
  QRect box(0, 0, std::min(kBoxWidth, width()), std::min(height, this->height()));
  box.moveCenter(rect().center());
  painter.fillRect(box, theme.panel);
  painter.setPen(theme.border);
  painter.drawRect(box);
  int y = box.top() + kLine / 2;
  QFont bold = painter.font();
  bold.setBold(true);
  for (const HelpLine& help : lines_) {
    painter.save();
    painter.setFont(bold);
    painter.setPen(theme.text);
    painter.drawText(QRect(box.left() + 24, y, kKeysWidth, kLine), Qt::AlignVCenter, help.keys);
    painter.restore();
    painter.setPen(theme.text);
    painter.drawText(QRect(box.left() + 24 + kKeysWidth, y, box.width() - kKeysWidth - 40, kLine),
                     Qt::AlignVCenter,
                     help.what);
    y += kLine;
  }
}

}  // namespace sonde::gui
