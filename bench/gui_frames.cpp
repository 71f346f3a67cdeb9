// gui_frames TRACE [views]: measures how long the window, of 1920 x 1080, takes to show a trace,
// and each frame while zooming from the whole trace to microseconds and back, and while panning.
// With `views` also each view: until it has all its values, and the longest time for which it
// blocks the window. Prints medians and worst cases, and the memory that it needed; needs no
// display.
#include "gui/app/main_window.h"
#include "gui/app/view_list.h"
#include "gui/views/timeline_view.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QEventLoop>

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using sonde::gui::Analyses;
using sonde::gui::MainWindow;
using sonde::gui::TraceDocument;
using sonde::gui::Viewport;

// Measures the longest time that the window's thread takes for one event.
class Application : public QApplication {
 public:
  using QApplication::QApplication;

  bool notify(QObject* receiver, QEvent* event) override {
    if (isInside_)
      return QApplication::notify(receiver, event);
    isInside_ = true;
    QElapsedTimer timer;
    timer.start();
    const bool isHandled = QApplication::notify(receiver, event);
    longestMs_ = std::max(longestMs_, static_cast<double>(timer.nsecsElapsed()) / 1e6);
    isInside_ = false;
    return isHandled;
  }
  // Since the last call.
  [[nodiscard]] double takeLongestMs() { return std::exchange(longestMs_, 0); }

 private:
  double longestMs_ = 0;
  bool isInside_ = false;
};

struct Samples {
  std::vector<double> ms;

  void print(const char* what) {
    std::sort(ms.begin(), ms.end());
    std::printf("%-34s median %7.2f ms   99 %% %7.2f ms   worst %7.2f ms   n %zu\n",
                what,
                ms[ms.size() / 2],
                ms[ms.size() * 99 / 100],
                ms.back(),
                ms.size());
  }
};

// The blocks of the timeline, without what the engines still compute.
void settleBlocks(MainWindow& window) {
  QApplication::processEvents();
  while (!window.models().document.settled()) {
    QEventLoop loop;
    QObject::connect(
        &window.models().document, &TraceDocument::settledDown, &loop, &QEventLoop::quit);
    loop.exec();
    QApplication::processEvents();
  }
}

void settle(MainWindow& window) {
  QApplication::processEvents();
  while (!window.models().settled()) {
    QEventLoop loop;
    QObject::connect(
        &window.models().document, &TraceDocument::settledDown, &loop, &QEventLoop::quit);
    QObject::connect(&window.models().analyses, &Analyses::settledDown, &loop, &QEventLoop::quit);
    if (!window.models().settled())
      loop.exec();
    QApplication::processEvents();
  }
}

double peakMemoryMiB() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void showViews(MainWindow& window, Application& application) {
  std::printf("%-34s %12s %14s\n", "view", "complete", "longest block");
  for (const sonde::gui::ViewInfo& info : sonde::gui::views()) {
    QElapsedTimer timer;
    timer.start();
    (void)application.takeLongestMs();
    window.showView(QLatin1String(info.word));
    settle(window);
    std::printf("%-34s %9.1f ms %11.1f ms\n",
                info.word,
                static_cast<double>(timer.nsecsElapsed()) / 1e6,
                application.takeLongestMs());
    std::fflush(stdout);
  }
}

class Session {
 public:
  explicit Session(MainWindow& window) : window_(window) {}

  // Moves the window, paints the present blocks, then waits for the new window's blocks and paints
  // these.
  void frame(const Viewport& viewport) {
    QElapsedTimer timer;
    timer.start();
    window_.models().view.setViewport(viewport);
    window_.timeline().viewport()->repaint();
    stale_.ms.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
    settle(window_);
    full_.ms.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
    timer.restart();
    window_.timeline().viewport()->repaint();
    paint_.ms.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
  }

  void zoomAndPan() {
    window_.models().view.change(&sonde::gui::Viewport::fit);
    settle(window_);
    for (const double factor : {0.8, 1.25})
      for (int step = 0; step < 50; ++step) {
        Viewport viewport = window_.models().view.viewport();
        viewport.zoomAt(viewport.width() * 0.4, factor);
        frame(viewport);
      }
    for (int level = 0; level < 4; ++level) {
      Viewport viewport = window_.models().view.viewport();
      viewport.zoomAt(viewport.width() / 2.0, 0.1);
      frame(viewport);
      for (int step = 0; step < 25; ++step) {
        viewport.panPixels(viewport.width() * 0.15);
        frame(viewport);
      }
    }
  }

  void print() {
    stale_.print("input to frame");
    full_.print("input to frame with all its data");
    paint_.print("painting alone");
  }

 private:
  MainWindow& window_;
  Samples stale_;
  Samples full_;
  Samples paint_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: gui_frames TRACE [views]\n");
    return 2;
  }
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
    qputenv("QT_QPA_PLATFORM", "offscreen");
  QElapsedTimer timer;
  timer.start();
  Application application(argc, argv);
  MainWindow window;
  window.resize(1920, 1080);
  window.show();
  window.showView(QStringLiteral("timeline"));
  window.open({QString::fromLocal8Bit(argv[1])});
  settleBlocks(window);
  window.grab();
  std::printf("%-34s %7.1f ms\n",
              "start to first picture",
              static_cast<double>(timer.nsecsElapsed()) / 1e6);
  if (window.models().document.state() != TraceDocument::State::Ready)
    return 3;
  Session session(window);
  session.zoomAndPan();
  session.print();
  std::printf("%-34s %7.0f MiB\n", "peak of memory", peakMemoryMiB());
  std::printf("%-34s %7.1f ms\n", "longest block", application.takeLongestMs());
  if (argc > 2 && std::string_view(argv[2]) == "views") {
    showViews(window, application);
    std::printf("%-34s %7.0f MiB\n", "peak of memory", peakMemoryMiB());
  }
  return 0;
}
