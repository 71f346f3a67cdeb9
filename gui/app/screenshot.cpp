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
  const bool before = window.model().settled();
  QApplication::processEvents();
  return before && window.model().settled();
}

}  // namespace

int takeScreenshot(MainWindow& window, const QString& path) {
  TimelineModel& model = window.model();
  while (!quiet(window)) {
    QEventLoop loop;
    QObject::connect(&model, &TimelineModel::settledDown, &loop, &QEventLoop::quit);
    if (!model.settled())
      loop.exec();
  }
  if (model.state() == TimelineModel::State::Failed) {
    fmt::print(stderr, "sonde-gui: {}\n", model.error().toStdString());
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
