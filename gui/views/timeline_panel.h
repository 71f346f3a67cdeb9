// The timeline with its search line, overview strip and legend. Main thread; the models must
// outlive it.
#pragma once

#include "gui/models/trace_models.h"

#include <QWidget>

namespace sonde::gui {

class LegendBar;
class OverviewStrip;
class SearchBar;
class TimelineView;

class TimelinePanel : public QWidget {
  Q_OBJECT

 public:
  explicit TimelinePanel(TraceModels& models, QWidget* parent = nullptr);

  [[nodiscard]] TimelineView& timeline() { return *timeline_; }
  [[nodiscard]] SearchBar& search() { return *search_; }
  void toggleColors();
  void toggleEmptyTracks();
  void findTrack();

 private:
  void connectSearch();
  void showMenu(const QPoint& at);

  TraceModels& models_;
  SearchBar* search_ = nullptr;
  OverviewStrip* overview_ = nullptr;
  TimelineView* timeline_ = nullptr;
  LegendBar* legend_ = nullptr;
};

}  // namespace sonde::gui
