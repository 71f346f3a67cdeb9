// The window of sonde-gui: views in docks, with the details of the selected event and the totals of
// the selected span. Owns them and the models; wires them to each other. Main thread.
#pragma once

#include "gui/models/table/value_table.h"
#include "gui/models/trace_models.h"

#include <QHash>
#include <QLabel>
#include <QMainWindow>
#include <QSet>
#include <QStringList>

class QDockWidget;

namespace sonde::gui {

class DetailsDocks;
class FileActions;
class Panel;
class TimelinePanel;
class Session;
class TimelineView;
class WindowMenus;
struct ViewInfo;

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  MainWindow();
  ~MainWindow() override;
  MainWindow(const MainWindow&) = delete;
  MainWindow& operator=(const MainWindow&) = delete;

  void open(const QStringList& paths);
  // A trace has been shown since the window was created.
  [[nodiscard]] bool everOpened() const { return everOpened_; }
  [[nodiscard]] TraceModels& models() { return models_; }
  [[nodiscard]] Session& session() { return *session_; }
  [[nodiscard]] FileActions& files() { return *files_; }
  [[nodiscard]] TimelineView& timeline();
  // Brings a view to the front. Requires: `word` is one of view_list.h.
  void showView(const QString& word);
  // The widget of a view; nullptr: it is the timeline, or there is none.
  [[nodiscard]] Panel* view(const QString& word) const;
  // The word and the widget of the view that the user sees; of several, the first one.
  [[nodiscard]] QString wordInFront() const;
  [[nodiscard]] QWidget& viewInFront();
  // All views in the same tabs.
  void resetLayout();
  [[nodiscard]] DetailsDocks& details() { return *details_; }
  // Shows a line in the status bar for a while.
  void tell(const QString& message);
  // Shows a span of time since the begin of the trace, and selects it; of a moment, the time
  // around, with a mark. Requires: a trace is open.
  void showTime(const Span& sinceBegin);
  // Shows this span of job time in the timeline, with the time around it.
  void showNote(const Span& span);
  // Shows a place in the timeline, and selects it. A rank or operation alone becomes the focus.
  void showPlace(const Place& place);

 protected:
  void childEvent(QChildEvent* event) override;
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void buildViews();
  void buildStatusBar();
  QDockWidget* addView(const ViewInfo& info);
  void connectModel();
  [[nodiscard]] std::int64_t aroundMoment() const;
  void scrollToRank(std::int64_t rank);
  void showTitle();
  void showSelectionText();

  TraceModels models_;
  QHash<QString, QDockWidget*> views_;  // by word
  QSet<QString> inFront_;               // words of views that the user sees
  TimelinePanel* timeline_ = nullptr;
  Session* session_ = nullptr;
  FileActions* files_ = nullptr;
  WindowMenus* menus_ = nullptr;
  DetailsDocks* details_ = nullptr;
  QLabel* hoverText_ = nullptr;
  QLabel* selectionText_ = nullptr;
  bool everOpened_ = false;
};

}  // namespace sonde::gui
