#include "gui/views/help_overlay.h"

#include "gui/views/theme.h"

#include <QEvent>
#include <QPainter>

#include <algorithm>
#include <array>

namespace sonde::gui {
namespace {

struct Help {
  const char* keys;
  const char* what;
};
constexpr std::array kHelp = {
    Help{"W  S", "zoom in, out at the mouse"},
    Help{"A  D", "earlier, later (also ← →)"},
    Help{"Ctrl + wheel", "zoom at the mouse; over the ruler also without Ctrl"},
    Help{"Shift + wheel, Shift + drag", "move in time"},
    Help{"wheel", "scroll the tracks"},
    Help{"drag", "select a span: its duration, totals by name"},
    Help{"click, double click", "select a slice, zoom to it"},
    Help{"F", "zoom to the selection; again: to the whole trace"},
    Help{"0  Home", "the whole trace"},
    Help{".  ,", "next, previous slice in the row"},
    Help{"[  ]", "along an arrow: to the call, to what it launched"},
    Help{"M  Shift + M", "mark the selection or the mouse; keep the mark"},
    Help{"R", "make the selected slice the selected span"},
    Help{"/", "search by name; Enter next, Shift + Enter previous"},
    Help{"Ctrl + P", "find a process, stream, thread or channel"},
    Help{"C", "colour by kind or by name"},
    Help{"E", "show or hide tracks without events"},
    Help{"Q", "show or hide details"},
    Help{"Ctrl + O", "open traces"},
    Help{"Ctrl + 1  2  …", "the views, in the order of their tabs"},
    Help{"Ctrl + Shift + S", "save a picture of the window"},
    Help{"Esc", "clear the selection"},
    Help{"?", "this help"},
};
constexpr int kLine = 24;
constexpr int kKeysWidth = 220;
constexpr int kBoxWidth = 640;

}  // namespace

HelpOverlay::HelpOverlay(QWidget* parent) : QWidget(parent) {
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
  const int height = (static_cast<int>(kHelp.size()) + 2) * kLine;
  QRect box(0, 0, std::min(kBoxWidth, width()), std::min(height, this->height()));
  box.moveCenter(rect().center());
  painter.fillRect(box, theme.panel);
  painter.setPen(theme.border);
  painter.drawRect(box);
  int y = box.top() + kLine / 2;
  QFont bold = painter.font();
  bold.setBold(true);
  for (const Help& help : kHelp) {
    painter.save();
    painter.setFont(bold);
    painter.setPen(theme.text);
    painter.drawText(QRect(box.left() + 24, y, kKeysWidth, kLine),
                     Qt::AlignVCenter,
                     QString::fromUtf8(help.keys));
    painter.restore();
    painter.setPen(theme.text);
    painter.drawText(QRect(box.left() + 24 + kKeysWidth, y, box.width() - kKeysWidth - 40, kLine),
                     Qt::AlignVCenter,
                     QString::fromUtf8(help.what));
    y += kLine;
  }
}

}  // namespace sonde::gui
