// The docks beside the views: the details of the selected event, and the totals of the selected
// span. They come with a selection while the timeline is in sight, unless the user has hidden them.
// Main thread; a part of the window.
#pragma once

#include "gui/models/details_model.h"
#include "gui/models/span_model.h"
#include "gui/models/trace_models.h"

#include <QObject>
#include <QSet>

class QDockWidget;
class QMainWindow;
class QTableView;
class QTreeView;

namespace sonde::gui {

class DetailsDocks : public QObject {
  Q_OBJECT

 public:
  // Requires: `models` outlive it.
  DetailsDocks(QMainWindow& window, TraceModels& models);

  // Shows or hides both.
  void toggle();
  void setTimelineShown(bool isShown);

 private:
  void buildDetails(QMainWindow& window);
  void buildTotals(QMainWindow& window);
  void showDetails();
  void fillDetails();
  void showTotals();
  void clear();
  void showDocks();
  void show(QDockWidget& dock, bool hasContent, int size, Qt::Orientation orientation);

  QMainWindow& window_;
  TraceModels& models_;
  DetailsModel details_;
  SpanModel totals_;
  QDockWidget* detailsDock_ = nullptr;
  QDockWidget* totalsDock_ = nullptr;
  QTreeView* detailsTree_ = nullptr;
  QTableView* totalsTable_ = nullptr;
  bool isWanted_ = true;
  bool isTimelineShown_ = true;
  QSet<const QDockWidget*> sized_;  // have been shown
};

}  // namespace sonde::gui
