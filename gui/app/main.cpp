// sonde-gui: shows traces in a window, or writes a picture of them.
#include "analysis/store/trace_file.h"
#include "gui/app/exit_status.h"
#include "gui/app/icon.h"
#include "gui/app/main_window.h"
#include "gui/app/options.h"
#include "gui/app/picture.h"
#include "gui/app/screenshot.h"
#include "gui/app/session.h"
#include "gui/trace/trace_import.h"

#include <QApplication>
#include <QRawFont>

#include <fmt/format.h>

#include <cstdlib>

namespace {

using sonde::gui::Look;
using sonde::gui::MainWindow;
using sonde::gui::Options;

constexpr int kNoFonts = 1;
constexpr int kUsage = 2;

bool hasDisplay() {
  return qEnvironmentVariableIsSet("DISPLAY") || qEnvironmentVariableIsSet("WAYLAND_DISPLAY");
}

// Reports a file that is not a trace first, before any problem of the display.
int refuseWindow(const QStringList& traces) {
  for (const QString& path : traces) {
    if (sonde::gui::isForeign(path) && !path.endsWith(QLatin1String(".sonde")))
      continue;  // it is imported first
    const auto trace = sonde::store::openTrace(path.toStdString());
    if (!trace) {
      fmt::print(stderr, "sonde-gui: {}\n", trace.error().message);
      return sonde::gui::kUnreadable;
    }
  }
  fmt::print(stderr,
             "sonde-gui: there is no display (DISPLAY and WAYLAND_DISPLAY are not set): "
             "use --screenshot out.png, or ssh -X\n");
  return kUsage;
}

// Without a display only a picture can be made. Returns an exit status if nothing can be. Requires:
// QApplication does not exist yet.
int choosePlatform(const Options& options) {
  if (!options.picture.isEmpty()) {  // a display may exist, but it is not used
    qputenv("QT_QPA_PLATFORM", "offscreen");
    return 0;
  }
  if (hasDisplay() || qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
    return 0;
  if (options.screenshot.isEmpty())
    return refuseWindow(options.traces);
  qputenv("QT_QPA_PLATFORM", "offscreen");
  return 0;
}

// Hides Qt's own remarks about a platform without a screen when a picture is made.
void onlyErrors(QtMsgType type, const QMessageLogContext& /*context*/, const QString& message) {
  if (type == QtCriticalMsg || type == QtFatalMsg)
    fmt::print(stderr, "sonde-gui: {}\n", message.toStdString());
}

// Fontconfig names families even if it has no font file. Qt then uses a font without a table of
// characters, and draws a box for each letter.
bool canDrawText() {
  return !QRawFont::fromFont(QApplication::font()).fontTable("cmap").isEmpty();
}

// Shows what the options name as soon as the trace is there.
void startAt(MainWindow& window, const Options& options) {
  if (!options.at && options.select.isEmpty())
    return;
  QObject::connect(
      &window.models().document,
      &sonde::gui::TraceDocument::opened,
      &window,
      [&window, at = options.at, select = options.select] {
        if (at)
          window.showTime(*at);
        if (!select.isEmpty())
          window.models().search.find(select, true, window.models().view.viewport().beginNs());
      },
      Qt::SingleShotConnection);
}

int run(QApplication& application, const Options& options) {
  if (!canDrawText()) {
    fmt::print(stderr,
               "sonde-gui: no fonts are installed, so no text can be drawn: "
               "install a font package, e.g. apt-get install fonts-dejavu-core\n");
    return kNoFonts;
  }
  if (!options.picture.isEmpty())
    return sonde::gui::drawPicture(options.picture, options.screenshot);
  QApplication::setWindowIcon(sonde::gui::programIcon());
  MainWindow window;
  window.resize(1440, 900);
  const bool isPicture = !options.screenshot.isEmpty();
  if (!isPicture)
    window.session().start();
  // Pictures are the same on every machine.
  sonde::gui::applyLook(options.look.value_or(isPicture ? Look::Light : window.session().look()));
  if (options.size)
    window.resize(*options.size);
  window.show();
  window.showView(options.view);
  startAt(window, options);
  if (!options.traces.isEmpty())
    window.open(options.traces);
  if (!options.screenshot.isEmpty())
    return sonde::gui::takeScreenshot(window, options.screenshot);
  if (options.traces.isEmpty())
    return application.exec();
  // A named trace that cannot be read ends the program, as it ends any verb.
  QObject::connect(
      &window.models().document,
      &sonde::gui::TraceDocument::failed,
      &window,
      [&](const QString& message) {
        if (window.models().document.state() != sonde::gui::TraceDocument::State::Failed ||
            window.models().document.paths() != options.traces || window.everOpened())
          return;
        fmt::print(stderr, "sonde-gui: {}\n", message.toStdString());
        QApplication::exit(sonde::gui::kUnreadable);
      });
  return application.exec();
}

}  // namespace

int main(int argc, char** argv) {
  const auto parsed = sonde::gui::parseOptions(argc, argv);
  if (!parsed.run)
    return parsed.exitCode;
  if (const int status = choosePlatform(parsed.options); status != 0)
    return status;
  if (!parsed.options.screenshot.isEmpty())
    qInstallMessageHandler(onlyErrors);
  QApplication application(argc, argv);
  QApplication::setOrganizationName(QStringLiteral("sonde"));
  QApplication::setApplicationName(QStringLiteral("sonde-gui"));
  return run(application, parsed.options);
}
