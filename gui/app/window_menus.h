// The menus, the tool bar, the command palette and the help of the main window: each action once,
// with its key. Main thread; a part of the window.
#pragma once

#include <QKeySequence>
#include <QList>
#include <QObject>
#include <QString>

#include <functional>

class QAction;
class QMenu;
class QToolBar;

namespace sonde::gui {

class FileActions;
class FocusBar;
class HelpOverlay;
class MainWindow;
class TimelinePanel;

class WindowMenus : public QObject {
  Q_OBJECT

 public:
  // Requires: the views of `window` exist.
  WindowMenus(MainWindow& window, TimelinePanel& timeline, FileActions& files);

  // In the order of the menus.
  [[nodiscard]] QList<QAction*> actions() const { return actions_; }
  [[nodiscard]] FocusBar& focusBar() { return *focusBar_; }

 private:
  using Keys = QList<QKeySequence>;

  QAction* add(QMenu* menu,
               const QString& text,
               const Keys& keys,
               const std::function<void()>& run);
  // One-letter keys belong to the timeline: in a text they are letters.
  QAction* addToTimeline(QMenu* menu,
                         const QString& text,
                         const Keys& keys,
                         const std::function<void()>& run);
  void buildFile();
  void buildView();
  void buildThemes(QMenu* menu);
  void buildTimeline();
  void buildTimes(QMenu* menu);
  void buildGo();
  void buildHelp();
  void buildToolBar();
  void showPalette();
  void showRecent();
  void saveLayout();
  void showLayouts();
  void showHistory();
  void showTimes();
  void writeNote();
  void showNotes();

  MainWindow& window_;
  TimelinePanel& timeline_;
  FileActions& files_;
  QList<QAction*> actions_;
  QMenu* recent_ = nullptr;
  QMenu* layouts_ = nullptr;
  QMenu* notes_ = nullptr;
  QAction* open_ = nullptr;
  QAction* stop_ = nullptr;
  QAction* back_ = nullptr;
  QAction* forward_ = nullptr;
  QAction* palette_ = nullptr;
  QAction* times_ = nullptr;
  FocusBar* focusBar_ = nullptr;
  HelpOverlay* help_ = nullptr;
};

}  // namespace sonde::gui
