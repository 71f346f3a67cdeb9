// The window of sonde-gui: views in docks, with the details of the selected event and the totals of
// the selected span. Owns them and the models; wires them to each other. Main thread.
#pragma once

#include "gui/models/details_model.h"
#include "gui/models/span_model.h"
#include "gui/models/table/value_table.h"
#include "gui/models/trace_models.h"

#include <QHash>
#include <QLabel>
#include <QMainWindow>
#include <QStringList>

class QDockWidget;
class QMenu;
class QTableView;
class QTreeView;

namespace sonde::gui {

class HelpOverlay;
class Panel;
class TimelinePanel;
class TimelineView;
struct ViewInfo;

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  MainWindow();

  void open(const QStringList& paths);
  // A trace has been shown since the window was created.
  [[nodiscard]] bool everOpened() const { return everOpened_; }
  [[nodiscard]] TraceModels& models() { return models_; }
  [[nodiscard]] TimelineView& timeline();
  // Brings a view to the front. Requires: `word` is one of view_list.h.
  void showView(const QString& word);
  // The widget of a view; nullptr: it is the timeline, or there is none.
  [[nodiscard]] Panel* view(const QString& word) const;
  // Shows a place in the timeline, and selects it.
  void showPlace(const Place& place);

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void buildViews();
  void buildStatusBar();
  QDockWidget* addView(const ViewInfo& info);
  void buildDetails();
  void buildSpan();
  void buildMenus();
  void buildTimelineActions(QMenu* view, QMenu* go);
  void buildHelp();
  void connectModel();
  void chooseFiles();
  void savePicture();
  void toggleDetails();
  void showTitle();
  void showDetails(bool moved);
  void showSpan();
  void showSelectionText();

  TraceModels models_;
  DetailsModel details_;
  SpanModel span_;
  QHash<QString, QDockWidget*> views_;  // by word
  TimelinePanel* timeline_ = nullptr;
  HelpOverlay* help_ = nullptr;
  QDockWidget* detailsDock_ = nullptr;
  QDockWidget* spanDock_ = nullptr;
  QTreeView* detailsTree_ = nullptr;
  QTableView* spanTable_ = nullptr;
  QLabel* hoverText_ = nullptr;
  QLabel* selectionText_ = nullptr;
  bool everOpened_ = false;
  bool detailsWanted_ = true;  // toggled with Q
};

}  // namespace sonde::gui
