#include "gui/app/picture.h"

#include "gui/app/exit_status.h"

#include <QImage>
#include <QPainter>
#include <QSvgRenderer>

#include <fmt/format.h>

#include <algorithm>

namespace sonde::gui {
namespace {

constexpr int kMostPixels = 32'000;  // of a side; a painter's limit

int complain(const QString& file, const char* what) {
  fmt::print(stderr, "sonde-gui: {} {}\n", file.toStdString(), what);
  return kUnreadable;
}

}  // namespace

int drawPicture(const QString& svg, const QString& png) {
  QSvgRenderer renderer(svg);
  if (!renderer.isValid())
    return complain(svg, "is not an SVG picture: give one that sonde wrote");
  const QSize size = renderer.defaultSize();
  const int scale = 2 * std::max(size.width(), size.height()) <= kMostPixels ? 2 : 1;
  QImage image(size * scale, QImage::Format_RGB32);
  if (image.isNull() || std::max(image.width(), image.height()) > kMostPixels)
    return complain(svg, "is too large to draw");
  image.fill(Qt::white);
  QPainter painter(&image);
  renderer.render(&painter);
  painter.end();
  if (!image.save(png, "PNG"))
    return complain(png, "cannot be written: choose a writable folder");
  return 0;
}

}  // namespace sonde::gui
