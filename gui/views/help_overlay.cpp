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
constexpr int kMargin = 20;

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
  const int room = std::max(1, height() / kLine - 2);  // lines of a column
  const int count = static_cast<int>(lines_.size());
  const int columns = (count + room - 1) / room;
  const int perColumn = (count + columns - 1) / columns;
  const int columnWidth = std::min(kBoxWidth, width() / columns);
  QRect box(0, 0, columns * columnWidth, (perColumn + 1) * kLine);
  box.moveCenter(rect().center());
  painter.fillRect(box, theme.panel);
  painter.setPen(theme.border);
  painter.drawRect(box);
  for (int at = 0; at < count; ++at) {
    const QRect line(box.left() + at / perColumn * columnWidth + kMargin,
                     box.top() + kLine / 2 + at % perColumn * kLine,
                     columnWidth - 2 * kMargin,
                     kLine);
    paintLine(painter, line, lines_[static_cast<std::size_t>(at)]);
  }
}

void HelpOverlay::paintLine(QPainter& painter, const QRect& line, const HelpLine& help) const {
  const int keysWidth = std::min(kKeysWidth, line.width() * 2 / 5);
  const auto paint = [&](const QRect& at, const QString& text) {
    painter.drawText(
        at, Qt::AlignVCenter, painter.fontMetrics().elidedText(text, Qt::ElideRight, at.width()));
  };
  painter.setPen(Theme(palette()).text);
  QFont bold = font();
  bold.setBold(true);
  painter.setFont(bold);
  paint(QRect(line.topLeft(), QSize(keysWidth - kMargin / 2, line.height())), help.keys);
  painter.setFont(font());
  paint(line.adjusted(keysWidth, 0, 0, 0), help.what);
}

}  // namespace sonde::gui
