// tour TRACE DIR [NAME]: drives the window through its states and writes a picture of each, for
// inspection. With NAME it also shows the first slice or kernel whose name contains it, the other
// end of its arrow, and both in the dark theme. Uses the given display, or none with
// QT_QPA_PLATFORM=offscreen.
#include "gui/app/main_window.h"
#include "gui/views/theme.h"
#include "gui/views/timeline_view.h"

#include <QApplication>
#include <QDir>
#include <QHelpEvent>
#include <QLineEdit>
#include <QScrollBar>
#include <QTest>
#include <QToolTip>

namespace {

class Tour {
 public:
  Tour(sonde::gui::MainWindow& window, const QString& folder) : window_(window), folder_(folder) {}

  void settle() {
    (void)QTest::qWaitFor(
        [&] {
          QApplication::processEvents();
          return window_.models().settled();
        },
        60'000);
  }
  void key(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::keyClick(&window_.timeline(), key, modifiers);
    settle();
  }
  void picture(const char* name) {
    settle();
    window_.grab().save(folder_.filePath(QString::fromLatin1(name)));
  }
  void drag(const QPoint& from, const QPoint& to) {
    QWidget* target = window_.timeline().viewport();
    QTest::mousePress(target, Qt::LeftButton, Qt::NoModifier, from);
    QTest::mouseMove(target, (from + to) / 2);
    QTest::mouseMove(target, to);
    QTest::mouseRelease(target, Qt::LeftButton, Qt::NoModifier, to);
    settle();
  }
  // The tooltip at this place, as a picture of its own.
  void toolTip(const QPoint& at, const char* name) {
    QWidget* target = window_.timeline().viewport();
    QTest::mouseMove(target, at);
    QHelpEvent event(QEvent::ToolTip, at, target->mapToGlobal(at));
    QApplication::sendEvent(target, &event);
    settle();
    QTest::qWait(200);  // for the scope, which is requested
    for (QWidget* widget : QApplication::topLevelWidgets())
      if (widget->inherits("QTipLabel"))
        widget->grab().save(folder_.filePath(QString::fromLatin1(name)));
  }
  void search(const QString& text) {
    key(Qt::Key_Slash);
    auto* edit = window_.findChild<QLineEdit*>(QStringLiteral("search"));
    edit->clear();
    QTest::keyClicks(edit, text);
    QTest::keyClick(edit, Qt::Key_Return);
    settle();
  }

 private:
  sonde::gui::MainWindow& window_;
  QDir folder_;
};

void showFound(Tour& tour, sonde::gui::MainWindow& window, const QString& name) {
  window.findChild<QWidget*>(QStringLiteral("help"))->hide();
  tour.key(Qt::Key_C);
  tour.search(name);
  tour.key(Qt::Key_F);
  for (int step = 0; step < 8; ++step)
    tour.key(Qt::Key_S);
  tour.picture("7-found.png");
  tour.key(Qt::Key_BracketLeft);
  for (int step = 0; step < 4; ++step)
    tour.key(Qt::Key_S);
  tour.picture("8-call.png");
  QApplication::setPalette(sonde::gui::plainPalette(true));
  tour.picture("9-dark.png");
}

// The counters of the first machine and of the first process.
void showCounters(Tour& tour, sonde::gui::MainWindow& window) {
  using Type = sonde::gui::LayoutEntry::Type;
  auto& timeline = window.models().timeline;
  for (int number = 0; number < 2; ++number)
    for (const sonde::gui::LayoutEntry& entry : timeline.layout().entries())
      if (entry.type == Type::Counters && entry.folded) {
        window.timeline().verticalScrollBar()->setValue(entry.y);
        timeline.toggle(sonde::gui::LayoutEntry(entry));
        break;
      }
  tour.toolTip({700, 300}, "11-value.png");
  tour.picture("10-counters.png");
}

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  if (argc < 3)
    return 2;
  sonde::gui::MainWindow window;
  window.resize(1440, 860);
  window.show();
  window.activateWindow();
  (void)QTest::qWaitForWindowActive(&window);
  Tour tour(window, QString::fromLocal8Bit(argv[2]));
  window.open({QString::fromLocal8Bit(argv[1])});
  tour.picture("1-start.png");
  for (int y = 100; y < 400 && !QToolTip::isVisible(); y += 6)
    tour.toolTip({700, y}, "6-tooltip.png");
  tour.search(QStringLiteral("backward"));
  tour.key(Qt::Key_F);
  for (int step = 0; step < 3; ++step)
    tour.key(Qt::Key_S);
  tour.key(Qt::Key_M);
  tour.picture("2-slice.png");
  tour.key(Qt::Key_Escape);
  tour.drag({500, 60}, {900, 300});
  tour.picture("3-span.png");
  tour.key(Qt::Key_C);
  tour.picture("4-by-name.png");
  tour.key(Qt::Key_Question, Qt::ShiftModifier);
  tour.picture("5-help.png");
  if (argc > 3)
    showFound(tour, window, QString::fromLocal8Bit(argv[3]));
  showCounters(tour, window);
  return 0;
}
