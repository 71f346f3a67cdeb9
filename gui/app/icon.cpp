#include "gui/app/icon.h"

#include <QPainter>
#include <QPixmap>
#include <QSvgRenderer>

namespace sonde::gui {

// Drawn here, since Qt's plugin for icons in SVG may be missing.
QIcon programIcon() {
  QSvgRenderer drawing(QStringLiteral(":/sonde.svg"));
  QIcon icon;
  for (const int side : {16, 24, 32, 48, 64, 128, 256}) {
    QPixmap pixels(side, side);
    pixels.fill(Qt::transparent);
    QPainter painter(&pixels);
    drawing.render(&painter);
    painter.end();
    icon.addPixmap(pixels);
  }
  return icon;
}

}  // namespace sonde::gui
