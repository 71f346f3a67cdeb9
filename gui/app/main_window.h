// The window of sonde-gui: overview, timeline and legend, with details and totals beside and below.
// Owns all of them and the models; wires them to each other. Main thread.
#pragma once

#include "gui/models/details_model.h"
#include "gui/models/span_model.h"
#include "gui/models/trace_models.h"

#include <QLabel>
#include <QMainWindow>
#include <QStringList>

class QDockWidget;
class QTableView;
class QTreeView;

namespace sonde::gui {

class HelpOverlay;
class LegendBar;
class OverviewStrip;
class SearchBar;
class TimelineView;

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  MainWindow();

  void open(const QStringList& paths);
  // A trace has been shown since the window was created.
  [[nodiscard]] bool everOpened() const { return everOpened_; }
  [[nodiscard]] TraceModels& models() { return models_; }
  [[nodiscard]] TimelineView& timeline() { return *timeline_; }

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void buildLayout();
  void buildDocks();
  void buildActions();
  void connectModel();
  void connectViews();
  void chooseFiles();
  void findTrack();
  void toggleDetails();
  void toggleColors();
  void showTitle();
  void showDetails(bool moved);
  void showSpan();
  void showSelectionText();

  TraceModels models_;
  DetailsModel details_;
  SpanModel span_;
  OverviewStrip* overview_ = nullptr;
  TimelineView* timeline_ = nullptr;
  LegendBar* legend_ = nullptr;
  SearchBar* search_ = nullptr;
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
