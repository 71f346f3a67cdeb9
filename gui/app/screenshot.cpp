#include "gui/app/screenshot.h"

#include "gui/app/exit_status.h"
#include "gui/app/main_window.h"

#include <QApplication>
#include <QEventLoop>
#include <QPixmap>
#include <QTimer>

#include <fmt/format.h>

namespace sonde::gui {
namespace {

// Layout changes of the docks and strips request more data. The window is done when it is quiet
// before and after a turn of the event loop.
bool quiet(MainWindow& window) {
  const bool before = window.models().settled();
  QApplication::processEvents();
  return before && window.models().settled();
}

}  // namespace

int takeScreenshot(MainWindow& window, const QString& path) {
  TraceDocument& document = window.models().document;
  while (!quiet(window)) {
    QEventLoop loop;
    QObject::connect(&document, &TraceDocument::settledDown, &loop, &QEventLoop::quit);
    QObject::connect(&window.models().analyses, &Analyses::settledDown, &loop, &QEventLoop::quit);
    if (!window.models().settled())
      loop.exec();
  }
  if (document.state() == TraceDocument::State::Failed) {
    fmt::print(stderr, "sonde-gui: {}\n", document.error().toStdString());
    return kUnreadable;
  }
  if (!window.grab().save(path, "PNG")) {
    fmt::print(
        stderr, "sonde-gui: cannot write {}: choose a writable folder\n", path.toStdString());
    return kUnreadable;
  }
  return 0;
}

}  // namespace sonde::gui
